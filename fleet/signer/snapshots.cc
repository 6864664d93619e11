#include "fleet/signer/snapshots.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/directory.h"
#include "fleet/common/log_line.h"
#include "fleet/model/signer/store_snapshots.h"

namespace fleet {
namespace {

constexpr const char* fresh_name = "cell.snapshot.new";

std::vector<std::string> files_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  return names;
}

}  // namespace

Snapshots::Snapshots(Timers& timers, EtcdLine& line, Settings settings,
                     std::function<void()> attempted)
    : timers_(timers),
      line_(line),
      settings_(std::move(settings)),
      attempted_(std::move(attempted)) {
  taken_ = last_snapshot(files_in(settings_.directory), std::time(nullptr));
  wait();
}

void Snapshots::wait() {
  const auto rest = until_snapshot(files_in(settings_.directory), std::time(nullptr));
  later_ = timers_.after(std::chrono::seconds(rest), [this] { begin(); });
}

void Snapshots::begin() {
  last_.clear();
  error_.clear();
  crypto_hash_sha256_init(&sum_);
  file_ = upgrader::OwnedFd(
      ::open(path(fresh_name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file_) return try_later(path(fresh_name) + ": " + std::strerror(errno));
  under_way_ = std::make_unique<EtcdSnapshot>(
      line_, EtcdSnapshot::Observer{
                 .part = [this](const std::string& bytes) { take(bytes); },
                 .ended = [this](const std::optional<Trouble>& trouble) { end(trouble); }});
}

// Writes a part of the snapshot to the file. If the write fails, end() will report the error.
void Snapshots::take(const std::string& bytes) {
  if (!error_.empty()) return;
  if (const int error = upgrader::write_all(file_.get(), bytes)) {
    error_ = path(fresh_name) + ": " + std::strerror(error);
    return;
  }
  last_ += bytes;
  const std::size_t sum = crypto_hash_sha256_BYTES;
  const std::size_t summed = last_.size() - std::min(last_.size(), sum);
  crypto_hash_sha256_update(&sum_, reinterpret_cast<const unsigned char*>(last_.data()), summed);
  last_.erase(0, summed);
}

void Snapshots::end(const std::optional<Trouble>& trouble) {
  // This keeps the EtcdSnapshot, which is the caller, alive until this function has returned.
  [[maybe_unused]] const auto ended = std::move(under_way_);
  std::string why = trouble ? trouble->reason : error_;
  if (why.empty()) why = put_in_place();
  file_ = upgrader::OwnedFd();
  if (why.empty()) {
    log_line("fleet-signer", "a snapshot of the store is taken: " + path(snapshot_name(taken_)));
    trouble_.clear();
    remove_old();
    wait();
    return attempted_();
  }
  ::unlink(path(fresh_name).c_str());
  try_later(why);
}

void Snapshots::try_later(const std::string& why) {
  log_line("fleet-signer", "no snapshot is taken: " + why);
  trouble_ = why;
  later_ = timers_.after(std::chrono::seconds(snapshot_retry_s), [this] { begin(); });
  attempted_();
}

// Compares the checksum at the end of the snapshot with the checksum of the received bytes. Then
// syncs the file and renames it to its final name. Returns the reason for a failure, or an empty
// string on success.
std::string Snapshots::put_in_place() {
  unsigned char sum[crypto_hash_sha256_BYTES];
  crypto_hash_sha256_final(&sum_, sum);
  if (last_ != std::string(reinterpret_cast<const char*>(sum), sizeof sum)) {
    return "what came is damaged";
  }
  const UnixSeconds now = std::time(nullptr);
  const std::string place = path(snapshot_name(now));
  const bool is_there =
      ::fsync(file_.get()) == 0 && std::rename(path(fresh_name).c_str(), place.c_str()) == 0;
  if (!is_there) return place + ": " + std::strerror(errno);
  // Without a sync of the directory, a loss of power could undo the rename.
  const upgrader::OwnedFd directory(
      ::open(settings_.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || ::fsync(directory.get()) != 0) {
    const std::string why = place + ": " + std::strerror(errno);
    ::unlink(place.c_str());
    return why;
  }
  taken_ = now;
  return "";
}

void Snapshots::remove_old() {
  const auto kept = static_cast<std::size_t>(settings_.kept);
  const auto files = files_in(settings_.directory);
  for (const std::string& name : outlived_snapshots(files, kept, std::time(nullptr))) {
    ::unlink(path(name).c_str());
  }
}

}  // namespace fleet

#include "sample-agent/releases.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sample-agent/durable_file.h"
#include "sample-agent/words.h"

namespace sample_agent {
namespace {

constexpr std::string_view name_prefix = "agent-v";
constexpr std::uint64_t nanoseconds_per_second = 1'000'000'000;

}  // namespace

Releases::Releases(std::string directory) : directory_(std::move(directory)) {}

std::vector<Release> Releases::list() const {
  std::vector<Release> releases;
  std::error_code error;
  auto entry = std::filesystem::directory_iterator(directory_, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (!name.starts_with(name_prefix)) continue;
    const auto version = parse_version(std::string_view(name).substr(name_prefix.size()));
    if (!version) continue;
    if (const auto release = find(*version)) releases.push_back(*release);
  }
  std::ranges::sort(releases, {}, &Release::version);
  return releases;
}

std::optional<Version> Releases::desired() const {
  const auto text = DurableFile(directory_, "desired").read();
  if (!text || !text.value()) return std::nullopt;
  std::string_view rest = *text.value();
  return parse_version(cut_off(rest, '\n'));
}

std::optional<Release> Releases::find(const Version& version) const {
  struct stat status;
  if (stat(path(version).c_str(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || (status.st_mode & 0111) == 0) return std::nullopt;
  const auto& modified = status.st_mtim;
  return Release{.version = version,
                 .identity = {.id = {.device = status.st_dev, .inode = status.st_ino},
                              .modified_ns = static_cast<std::uint64_t>(modified.tv_sec) *
                                                 nanoseconds_per_second +
                                             static_cast<std::uint64_t>(modified.tv_nsec),
                              .size = static_cast<std::uint64_t>(status.st_size)}};
}

std::string Releases::path(const Version& version) const {
  return directory_ + "/" + std::string(name_prefix) + to_string(version);
}

std::optional<Release> choose_release(const std::vector<Release>& releases,
                                      const std::optional<Version>& desired, const Version& present,
                                      const std::function<bool(const Release&)>& has_failed) {
  const auto is_due = [&](const Release& release) {
    const bool wanted =
        desired ? release.version == *desired && *desired != present : release.version > present;
    return wanted && !has_failed(release);
  };
  const auto newest = std::find_if(releases.rbegin(), releases.rend(), is_due);
  return newest == releases.rend() ? std::nullopt : std::optional(*newest);
}

}  // namespace sample_agent

#include "sample-agent/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace sample_agent {

Refusal refusal_from_errno(std::string_view deed, const std::string& path) {
  const char* reason = std::strerror(errno);
  return Refusal{"cannot " + std::string(deed) + " " + path + ": " + reason};
}

Outcome sync_directory(const std::string& path) {
  const Result<File> directory = File::open(path, O_RDONLY | O_DIRECTORY);
  if (!directory) return Refusal{directory.reason()};
  return directory.value().sync();
}

Result<File> File::open(const std::string& path, int flags) {
  Result<std::optional<File>> file = open_if_there(path, flags);
  if (!file) return Refusal{file.reason()};
  if (!file.value()) return Refusal{"cannot open " + path + ": " + std::strerror(ENOENT)};
  return std::move(*file.value());
}

Result<std::optional<File>> File::open_if_there(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  if (descriptor < 0 && errno == ENOENT) return std::optional<File>{};
  if (descriptor < 0) return refusal_from_errno("open", path);
  File file(descriptor, path, FileId{});
  struct stat status;
  if (fstat(descriptor, &status) != 0) return refusal_from_errno("look at", path);
  file.id_ = FileId{.device = status.st_dev, .inode = status.st_ino};
  return std::optional(std::move(file));
}

File::File(int descriptor, std::string path, FileId id)
    : descriptor_(descriptor), path_(std::move(path)), id_(id) {}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      id_(other.id_) {}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  std::swap(id_, other.id_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<std::uint64_t> File::size() const {
  const Result<FileAge> now = age();
  if (!now) return Refusal{now.reason()};
  return now.value().size;
}

Result<FileAge> File::age() const {
  constexpr std::int64_t microseconds_per_second = 1'000'000;
  constexpr std::int64_t nanoseconds_per_microsecond = 1'000;
  struct stat status;
  if (fstat(descriptor_, &status) != 0) return refusal_from_errno("look at", path_);
  const std::int64_t modified_us = status.st_mtim.tv_sec * microseconds_per_second +
                                   status.st_mtim.tv_nsec / nanoseconds_per_microsecond;
  return FileAge{.size = static_cast<std::uint64_t>(status.st_size),
                 .modified_us = static_cast<std::uint64_t>(std::max<std::int64_t>(modified_us, 0))};
}

Result<std::size_t> File::read_at(std::uint64_t offset, std::span<char> bytes) const {
  ssize_t count = 0;
  do {
    count = pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  } while (count < 0 && errno == EINTR);
  if (count < 0) return refusal_from_errno("read", path_);
  return static_cast<std::size_t>(count);
}

Outcome File::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refusal_from_errno("write", path_);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return std::monostate{};
}

Outcome File::sync() const {
  if (fsync(descriptor_) != 0) return refusal_from_errno("sync", path_);
  return std::monostate{};
}

Outcome File::cut(std::uint64_t size) const {
  if (ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
    return refusal_from_errno("cut", path_);
  }
  return std::monostate{};
}

// ---- DurableFile, a small file that is replaced atomically

namespace {

// The largest file that is read. The files that this program writes are far smaller.
constexpr std::size_t bytes_max = 1'048'576;

}  // namespace

DurableFile::DurableFile(std::string directory, const std::string& name)
    : directory_(std::move(directory)), path_(directory_ + "/" + name) {}

Result<std::optional<std::string>> DurableFile::read() const {
  const Result<std::optional<File>> file = File::open_if_there(path_, O_RDONLY);
  if (!file) return Refusal{file.reason()};
  if (!file.value()) return std::optional<std::string>{};
  std::string text;
  while (text.size() < bytes_max) {
    std::array<char, 4'096> bytes;
    const Result<std::size_t> count = file.value()->read_at(text.size(), bytes);
    if (!count) return Refusal{count.reason()};
    if (count.value() == 0) return std::optional(std::move(text));
    text.append(bytes.data(), count.value());
  }
  return Refusal{path_ + " is too long to be ours"};
}

Outcome DurableFile::replace(std::string_view text) const {
  const std::string temporary = path_ + ".tmp";
  const Result<File> file = File::open(temporary, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file) return Refusal{file.reason()};
  if (Outcome written = file.value().write(text); !written) return written;
  if (Outcome synced = file.value().sync(); !synced) return synced;
  if (rename(temporary.c_str(), path_.c_str()) != 0) return refusal_from_errno("replace", path_);
  return sync_directory(directory_);
}

}  // namespace sample_agent

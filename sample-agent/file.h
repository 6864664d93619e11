// Classes for the agent's files: an open file with its identity, and a small file that is replaced
// atomically.
#pragma once

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sample-agent/result.h"

namespace sample_agent {

// Returns the refusal "cannot DEED PATH: " with the message for errno. Must be called before
// anything changes errno.
[[nodiscard]] Refusal refusal_from_errno(std::string_view deed, const std::string& path);

// The identity of a file: its device and inode, which a rename does not change.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileId&) const = default;
};

// The size of a file and the time of its last write. They show whether somebody has written to the
// file.
struct FileAge {
  std::uint64_t size = 0;
  std::uint64_t modified_us = 0;  // microseconds since the epoch, by the file system's clock
  bool operator==(const FileAge&) const = default;
};

// Syncs the directory, so that the entries that it has now survive a power cut.
[[nodiscard]] Outcome sync_directory(const std::string& path);

class File {
 public:
  // Opens a file close-on-exec; `flags` are those of open(2). A new file gets mode 0644.
  [[nodiscard]] static Result<File> open(const std::string& path, int flags);

  // Opens a file like open(). If the file does not exist, succeeds and returns no file.
  [[nodiscard]] static Result<std::optional<File>> open_if_there(const std::string& path,
                                                                 int flags);

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  [[nodiscard]] FileId id() const { return id_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Result<std::uint64_t> size() const;
  [[nodiscard]] Result<FileAge> age() const;

  // Reads bytes, and returns how many were read: 0 at the end of the file.
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset, std::span<char> bytes) const;

  // Writes all bytes, at the end of the file if it was opened with O_APPEND.
  [[nodiscard]] Outcome write(std::string_view bytes) const;
  [[nodiscard]] Outcome sync() const;
  [[nodiscard]] Outcome cut(std::uint64_t size) const;

 private:
  File(int descriptor, std::string path, FileId id);

  int descriptor_;
  std::string path_;
  FileId id_;
};

// A small file that is replaced atomically: after a power cut the file has either the old or the
// new content, never a mixture.
class DurableFile {
 public:
  DurableFile(std::string directory, const std::string& name);

  // Returns the content of the file, or no content if the file does not exist.
  [[nodiscard]] Result<std::optional<std::string>> read() const;

  // Replaces the file: writes a new file, syncs it, renames it, and syncs the directory.
  [[nodiscard]] Outcome replace(std::string_view text) const;

 private:
  std::string directory_;
  std::string path_;
};

}  // namespace sample_agent

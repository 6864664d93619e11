// One open file and what identifies it, with the few calls that the others need.
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

// "cannot DEED PATH: " and what errno says. To be called before anything else changes errno.
[[nodiscard]] Refusal refusal_from_errno(std::string_view deed, const std::string& path);

// The identity of a file, which stays the same under any name.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileId&) const = default;
};

// The members of a file's status that change when somebody writes to it.
struct FileAge {
  std::uint64_t size = 0;
  std::uint64_t modified_us = 0;  // since the epoch, by the clock of the file system
  bool operator==(const FileAge&) const = default;
};

// Afterwards the entries of the directory, as they are now, survive a power cut.
[[nodiscard]] Outcome sync_directory(const std::string& path);

class File {
 public:
  // Opens close-on-exec; `flags` as in open(2). A file that is created has mode 0644.
  [[nodiscard]] static Result<File> open(const std::string& path, int flags);

  // The same, but a file that does not exist is an answer, not a failure.
  [[nodiscard]] static Result<std::optional<File>> open_if_there(const std::string& path,
                                                                 int flags);

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  [[nodiscard]] FileId id() const { return id_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Result<std::uint64_t> size() const;
  [[nodiscard]] Result<FileAge> age() const;

  // How many bytes there were: 0 at the end.
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset, std::span<char> bytes) const;

  // Writes all of it, at the end if the file was opened with O_APPEND.
  [[nodiscard]] Outcome write(std::string_view bytes) const;
  [[nodiscard]] Outcome sync() const;
  [[nodiscard]] Outcome cut(std::uint64_t size) const;

 private:
  File(int descriptor, std::string path, FileId id);

  int descriptor_;
  std::string path_;
  FileId id_;
};

}  // namespace sample_agent

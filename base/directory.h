// A directory that is kept open: whatever its path comes to name, all in it is reached from one
// descriptor. Reads small files and links, and replaces them in one step.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/owned_fd.h"

namespace upgrader {

[[nodiscard]] inline bool is_same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// The first bytes of an open file. Returns an empty text, with errno, if it cannot be read; for an
// empty file errno is 0.
[[nodiscard]] std::string read_start(int fd, std::size_t bytes_max);

// Returns 0 when all of the text has been written, or an errno value.
[[nodiscard]] int write_all(int fd, std::string_view text);

class Directory {
 public:
  // Returns 0 or an errno value; then it is not open.
  [[nodiscard]] int open(const std::string& path, bool follows_link = true);

  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  // As it was given, from the root.
  [[nodiscard]] const std::string& path() const { return path_; }

  // 0 while the path, as it was given, leads to this directory; otherwise ESTALE, or an errno
  // value.
  [[nodiscard]] int moved() const;
  // The magic number of its file system, as statfs() tells it; 0 if it cannot be told.
  [[nodiscard]] unsigned long file_system() const;
  // FAT, exFAT: there is neither a symbolic link nor a FIFO.
  [[nodiscard]] bool is_fat() const;
  // The relative path from here to `path`, which must be absolute and resolved; `path` itself if
  // this directory's own path cannot be resolved.
  [[nodiscard]] std::string way_to(const std::string& path) const;

  // Returns an empty text if the file does not exist or cannot be read. No link is followed.
  [[nodiscard]] std::string read_file(const std::string& name, std::size_t bytes_max) const;
  // Returns an empty text, with errno, if there is no link (EINVAL: there is another kind of file).
  [[nodiscard]] std::string read_link(const std::string& name) const;

  // Makes `name` a file of this text, durably if wanted. Returns 0 or an errno value; then the file
  // is as it was, unless only the last sync has failed.
  [[nodiscard]] int replace_file(const std::string& name, std::string_view text,
                                 bool durably) const;
  // Makes `name` a link of this text. Returns 0 or an errno value; then it is as it was.
  [[nodiscard]] int replace_link(const std::string& name, const std::string& target) const;

  // The two halves of replace_link(): the first makes the link under prepared_name(), the second
  // renames it to `name`, and removes it if that fails. The prepared name is always the same, so
  // that a link left behind by a killed upgrader is replaced.
  [[nodiscard]] int prepare_link(const std::string& name, const std::string& target) const;
  [[nodiscard]] int put(const std::string& name) const;
  [[nodiscard]] static std::string prepared_name(const std::string& name);

  void remove(const std::string& name) const;

 private:
  OwnedFd descriptor_;
  std::string path_;
};

// A name in a directory, of a link or a file that need not exist yet.
struct Entry {
  Directory directory;
  std::string name;

  // Returns 0 or an errno value; EINVAL: the path ends with a slash, or is empty.
  [[nodiscard]] int open(const std::string& path);
};

}  // namespace upgrader

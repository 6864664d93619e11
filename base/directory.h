// A directory that is kept open. All files in it are reached through its descriptor, even if the
// directory has been renamed and its path names another one. The class reads small files and links,
// and replaces them atomically.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/owned_fd.h"

namespace upgrader {

[[nodiscard]] inline bool is_same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// Returns the path as an absolute path. Does not resolve symbolic links in it. Returns a relative
// path unchanged if the working directory has no path.
[[nodiscard]] std::string absolute(const std::string& path);

// Returns the absolute path without links and dots. If the path names no existing file, returns
// nothing and sets errno.
[[nodiscard]] std::optional<std::string> resolve(const std::string& path);

// Returns the first bytes of an open file. If the file cannot be read, returns an empty text and
// sets errno; for an empty file errno is 0.
[[nodiscard]] std::string read_start(int fd, std::size_t bytes_max);

// Returns 0 when all of the text has been written. After a failure, returns an errno value.
[[nodiscard]] int write_all(int fd, std::string_view text);

class Directory {
 public:
  // Opens the directory. Returns 0, or an errno value if it cannot be opened. With O_PATH as
  // `access`, the directory need not be readable, but sync() fails.
  [[nodiscard]] int open(const std::string& path, bool follows_link = true, int access = O_RDONLY);

  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  // Returns the path that open() was given, made absolute.
  [[nodiscard]] const std::string& path() const { return path_; }

  // Returns 0 if the path given to open() still leads to this directory; otherwise ESTALE, or
  // another errno value.
  [[nodiscard]] int moved() const;
  // Returns the magic number of the file system, as statfs() reports it; 0 if it cannot be found
  // out.
  [[nodiscard]] unsigned long file_system() const;
  // Returns true on FAT and exFAT, which have neither symbolic links nor FIFOs.
  [[nodiscard]] bool is_fat() const;
  // Returns the relative path from this directory to `path`, which must be absolute and resolved.
  // Returns `path` itself if this directory's own path cannot be resolved.
  [[nodiscard]] std::string way_to(const std::string& path) const;

  // Returns the beginning of a file, or an empty text if the file does not exist or cannot be read.
  // Follows no link.
  [[nodiscard]] std::string read_file(const std::string& name, std::size_t bytes_max) const;
  // Returns the target of a link. If there is no such link, returns an empty text and sets errno:
  // EINVAL if the file of this name is not a link.
  [[nodiscard]] std::string read_link(const std::string& name) const;

  // Makes `name` a new file with this text and mode: writes the file under a temporary name, and
  // renames it. If `durably`, also syncs the file and the directory. Returns 0 or an errno value.
  // After an error the file `name` is unchanged, unless only the sync of the directory has failed.
  [[nodiscard]] int replace_file(const std::string& name, std::string_view text, bool durably,
                                 mode_t mode = 0644) const;
  // Writes the text into an existing file, from `offset` on; if `durably`, also syncs these bytes.
  // Returns 0 or an errno value. After a failure, any part of the text may have been written.
  // Follows no link.
  [[nodiscard]] int overwrite(const std::string& name, std::size_t offset, std::string_view text,
                              bool durably) const;
  // Syncs the entries of the directory. Returns 0 or an errno value.
  [[nodiscard]] int sync() const;
  // Makes `name` a link to `target`. Returns 0. After a failure, returns an errno value, and `name`
  // is unchanged.
  [[nodiscard]] int replace_link(const std::string& name, const std::string& target) const;

  // The two steps of replace_link(). prepare_link() makes a link with a temporary name; put()
  // renames it to `name`, or removes it if the rename fails. The temporary name is always the same:
  // a temporary link that a killed upgrader has left behind is replaced by the next call.
  [[nodiscard]] int prepare_link(const std::string& name, const std::string& target) const;
  [[nodiscard]] int put(const std::string& name) const;
  [[nodiscard]] static std::string prepared_name(const std::string& name);

  void remove(const std::string& name) const;

 private:
  OwnedFd descriptor_;
  std::string path_;
};

// The name of a link or file in a directory. The link or file need not exist yet.
struct Entry {
  Directory directory;
  std::string name;

  // Opens the directory that contains the file or link `path`, and sets `name` to the last part of
  // `path`. Returns 0 or an errno value; EINVAL if the path is empty or ends with a slash. For
  // `access` see Directory::open().
  [[nodiscard]] int open(const std::string& path, int access = O_RDONLY);
};

}  // namespace upgrader

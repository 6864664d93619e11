// A class for open directories, with functions for the files in them. Each file is opened by a
// single name, relative to the directory's descriptor, and without following symbolic links. So no
// function can reach a file outside of the directory.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent-releases/result.h"
#include "base/owned_fd.h"

namespace agent_releases {

// The modes of the files and directories in releases.
inline constexpr mode_t release_mode = 0555;
inline constexpr mode_t directory_mode = 0755;
inline constexpr mode_t executable_bits = 0111;
inline constexpr mode_t permission_bits = 07777;

// The unit of st_blocks in stat(2).
inline constexpr std::int64_t disk_block_bytes = 512;

class Directory;

// Returns the refusal "cannot DEED PATH: MESSAGE", such as "cannot open /a: Permission denied",
// with errno as its error_number. MESSAGE is the text for errno, so nothing may change errno before
// this call. Compute `path` before the system call that may fail, because allocating memory may
// change errno.
[[nodiscard]] Refusal refusal_from_errno(std::string_view deed, const std::string& path);
// Returns the refusal "cannot DEED PATH: MESSAGE", in which PATH is the path of the file `name` in
// the directory. MESSAGE is the text for errno, which is read before the path is computed.
[[nodiscard]] Refusal refusal_from_errno(std::string_view deed, const Directory& directory,
                                         const std::string& name);

// Reads the rest of an open file, and calls `take` with each piece of it. If `take` refuses a
// piece, stops and returns that refusal.
[[nodiscard]] Outcome read_pieces(int descriptor, const std::string& path,
                                  const std::function<Outcome(std::string_view)>& take);
// Reads the rest of an open file. Refuses if the rest has more than `bytes_max` bytes.
[[nodiscard]] Result<std::string> read_all(int descriptor, const std::string& path,
                                           std::size_t bytes_max);
[[nodiscard]] Outcome write_all(int descriptor, const std::string& path, std::string_view bytes);
[[nodiscard]] Outcome sync(int descriptor, const std::string& path);

// Returns the absolute path of a file, without links, `.` and `..`. If the file does not exist,
// returns nothing and sets errno.
[[nodiscard]] std::optional<std::string> real_path(const std::string& path);

// Makes a directory that every user can reach, whatever the umask is. Returns false if the path
// exists already; its mode then stays as it is.
[[nodiscard]] Result<bool> make_reachable(const std::string& path);

class Directory {
 public:
  // Opens a directory. Symbolic links in its path are followed.
  [[nodiscard]] static Result<Directory> open(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  [[nodiscard]] std::string path_of(std::string_view name) const;

  // Returns the names in the directory without `.` and `..`, in any order.
  [[nodiscard]] Result<std::vector<std::string>> names() const;

  // Returns the status of the entry `name`, or nothing if it does not exist. For a symbolic link
  // this is the status of the link, not of its target.
  [[nodiscard]] Result<std::optional<struct stat>> status(const std::string& name) const;
  [[nodiscard]] std::optional<std::string> link_target(const std::string& name) const;

  [[nodiscard]] Result<upgrader::OwnedFd> open_file(const std::string& name, int flags,
                                                    mode_t mode = 0644) const;
  [[nodiscard]] Result<Directory> subdirectory(const std::string& name) const;

  // Makes a directory, unless it exists already.
  [[nodiscard]] Outcome make_directory(const std::string& name, mode_t mode) const;

  // Reads a regular file completely. Returns nothing if the file does not exist. Refuses if the
  // file has more than `bytes_max` bytes.
  [[nodiscard]] Result<std::optional<std::string>> read(const std::string& name,
                                                        std::size_t bytes_max) const;

  // Writes a new file and syncs its content. Until sync() has synced the directory, a power cut may
  // remove the file.
  [[nodiscard]] Outcome write(const std::string& name, std::string_view text,
                              mode_t mode = 0644) const;

  enum class Existing { replace, keep };
  [[nodiscard]] Outcome rename(const std::string& name, const Directory& into,
                               const std::string& new_name,
                               Existing existing = Existing::replace) const;
  [[nodiscard]] Outcome link(const std::string& target, const std::string& name) const;

  // Removes a file, a link, or a directory with everything below it. Does nothing if the name does
  // not exist.
  [[nodiscard]] Outcome remove(const std::string& name) const;

  // Syncs the directory. The entries that it has at this time then survive a power cut.
  [[nodiscard]] Outcome sync() const;

 private:
  Directory(upgrader::OwnedFd descriptor, std::string path);

  upgrader::OwnedFd descriptor_;
  std::string path_;
};

// Returns how many bytes a directory and everything below it occupy on disk.
[[nodiscard]] std::int64_t bytes_on_disk(const Directory& directory);

// A new directory below TMPDIR. The destructor removes the directory and everything in it.
class Scratch {
 public:
  // Makes the directory. Only the caller can read it.
  [[nodiscard]] static Result<Scratch> make();
  Scratch(Scratch&&) noexcept = default;
  Scratch& operator=(Scratch&&) noexcept = default;
  ~Scratch();

  [[nodiscard]] const Directory& directory() const { return directory_; }

 private:
  Scratch(Directory parent, Directory directory, std::string name);

  Directory parent_;
  Directory directory_;
  std::string name_;
};

}  // namespace agent_releases

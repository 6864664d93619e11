// An open directory and the few deeds on what is in it. Everything is reached from its descriptor
// by one name, and no symbolic link is followed, so that nothing leads elsewhere.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent-releases/result.h"
#include "base/owned_fd.h"

namespace agent_releases {

// "cannot DEED PATH: " and what errno says. To be called before anything else changes errno.
[[nodiscard]] Refusal refusal_from_errno(std::string_view deed, const std::string& path);

// Reads what is left of an open file, at most so many bytes; more is an error.
[[nodiscard]] Result<std::string> read_all(int descriptor, const std::string& path,
                                           std::size_t bytes_max);
[[nodiscard]] Outcome write_all(int descriptor, const std::string& path, std::string_view bytes);
[[nodiscard]] Outcome sync(int descriptor, const std::string& path);

class Directory {
 public:
  // Follows links on the way to it.
  [[nodiscard]] static Result<Directory> open(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  [[nodiscard]] std::string path_of(std::string_view name) const;

  // Without . and .. , in no order.
  [[nodiscard]] Result<std::vector<std::string>> names() const;

  // Of the entry itself, not of what a link names; nothing if there is none.
  [[nodiscard]] Result<std::optional<struct stat>> status(const std::string& name) const;
  [[nodiscard]] std::optional<std::string> link_target(const std::string& name) const;

  [[nodiscard]] Result<upgrader::OwnedFd> open_file(const std::string& name, int flags,
                                                    mode_t mode = 0644) const;
  [[nodiscard]] Result<Directory> subdirectory(const std::string& name) const;

  // Does nothing if it is there already.
  [[nodiscard]] Outcome make_directory(const std::string& name, mode_t mode) const;

  // Reads a whole regular file. Gives nothing if it does not exist; refused if it has more than
  // `bytes_max` bytes.
  [[nodiscard]] Result<std::optional<std::string>> read(const std::string& name,
                                                        std::size_t bytes_max) const;

  // Writes a file anew and syncs it; its entry is not synced.
  [[nodiscard]] Outcome write(const std::string& name, std::string_view text,
                              mode_t mode = 0644) const;

  enum class Existing { replace, keep };
  [[nodiscard]] Outcome rename(const std::string& name, const Directory& into,
                               const std::string& new_name,
                               Existing existing = Existing::replace) const;
  [[nodiscard]] Outcome link(const std::string& target, const std::string& name) const;

  // A file, a link, or a directory with all that is in it. Does nothing if there is none.
  [[nodiscard]] Outcome remove(const std::string& name) const;

  // Afterwards the entries, as they are now, survive a power cut.
  [[nodiscard]] Outcome sync() const;

 private:
  Directory(upgrader::OwnedFd descriptor, std::string path);

  upgrader::OwnedFd descriptor_;
  std::string path_;
};

}  // namespace agent_releases

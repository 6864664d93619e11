// A program that has been checked and is kept open, so that exactly the checked file is executed,
// even if its path names another file at that time. executable.h checks the content.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/executable.h"
#include "base/owned_fd.h"
#include "base/result.h"

namespace upgrader {

// Made by check_program(); not changed afterwards. Can be moved, but not copied.
struct Program {
  std::string name;  // argv[0], as it was given
  std::vector<std::string> args;
  std::string path;       // the path of the file, without symbolic links
  OwnedFd descriptor{};   // the checked file; opened with O_PATH if it cannot be read
  struct stat status {};  // the file's type, size and times when it was checked
  ExecutableKind kind = ExecutableKind::unreadable;

  // Returns 0 while `path` still names the checked file. Otherwise returns an errno value (ESTALE:
  // `path` names another file). Async-signal-safe.
  [[nodiscard]] int path_changed() const;
};

// Resolves `path` now, opens the file and checks it. `name` becomes argv[0]. Opens nothing but
// regular files, so the call cannot block or disturb a device. A refusal names the path.
[[nodiscard]] Result<Program> check_program(const std::string& path, std::string name,
                                            std::vector<std::string> args);

// Checks AGENT of the command line like check_program(). A name without a slash is first looked up
// in the environment's PATH. argv[0] is `agent` as given.
[[nodiscard]] Result<Program> check_agent(const std::string& agent, std::vector<std::string> args);

// Returns the first executable regular file called `name` in the directories of `search_path`. If
// `search_path` is null, searches the system's default directories. An empty entry in `search_path`
// means the current directory. A name with a slash is returned unchanged.
[[nodiscard]] Result<std::string> find_in_path(std::string_view name, const char* search_path);

// Returns true if this program, which has been started before, can be started again when an upgrade
// fails. A script can be started again only if its path still names the same file. Any other
// program is started from its open descriptor, so its path does not matter.
[[nodiscard]] bool can_start_again(const Program& program);

}  // namespace upgrader

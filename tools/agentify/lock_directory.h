// Finds a directory for the daemon's lock if the upgrader has no lock of its own. Only this user
// can open the directory. So no other user can take the lock, or keep agentify from making the
// lock's file.
#pragma once

#include <string>
#include <variant>

namespace agentify {

// The reason in words why there is no directory.
struct NoDirectory {
  std::string why;
};

// Finds or makes the directory `agentify` for locks. It lies in the first of RUNTIME_DIRECTORY,
// XDG_RUNTIME_DIR and /run to which only this user or root may write. If there is no such
// directory, it lies in /tmp under another name. All agents of one upgrader find the same
// directory.
[[nodiscard]] std::variant<std::string, NoDirectory> find_lock_directory();

// Finds or makes the directory for locks in `base`, to which other users may write, too. Ignores
// directories of other users. If several belong to this user, returns the first by name.
[[nodiscard]] std::variant<std::string, NoDirectory> find_in_shared(const std::string& base);

// Returns the name of the lock's file for the daemons of an upgrader. The name contains the
// upgrader's pid and the time of its start, so that no two upgraders have the same name.
[[nodiscard]] std::string lock_file_name(int upgrader);

// Removes the locks of upgraders that have exited, except those that a process still holds.
void remove_stale_locks(const std::string& directory);

}  // namespace agentify

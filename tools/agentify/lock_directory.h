// Finds the directory for the daemon's lock if the upgrader has no lock. Only its owner can open
// the directory, so that no other user can take the lock, or prevent the lock's file from being
// made.
#pragma once

#include <string>
#include <variant>

namespace agentify {

// The reason why there is no directory, for people.
struct NoDirectory {
  std::string why;
};

// Finds or makes the directory `agentify`. It is in RUNTIME_DIRECTORY, in XDG_RUNTIME_DIR or in
// /run: in the first of these to which only this user or root may write. If there is none, a
// directory in /tmp is used. All agents of one upgrader find the same directory.
[[nodiscard]] std::variant<std::string, NoDirectory> find_lock_directory();

// Finds or makes the directory in `base`, a directory in which other users may write, too. If
// several directories there belong to this user, takes the first by name. Ignores directories of
// other users.
[[nodiscard]] std::variant<std::string, NoDirectory> find_in_shared(const std::string& base);

// Returns the name of the lock's file for the daemons of the upgrader with this pid. The name has
// the pid and the time of the process's start in it, so the files of no two upgraders have the same
// name.
[[nodiscard]] std::string lock_file_name(int upgrader);

// Removes the locks of upgraders that have exited, except those that a process still holds.
void remove_stale_locks(const std::string& directory);

}  // namespace agentify

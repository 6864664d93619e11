// The directory of the daemon's lock if the upgrader has none. Its user alone can open it, so that
// nobody else can take the lock, or keep the file from being made.
#pragma once

#include <string>
#include <variant>

namespace agentify {

// Why there is none, for people.
struct NoDirectory {
  std::string why;
};

// `agentify` in RUNTIME_DIRECTORY, in XDG_RUNTIME_DIR or in /run, whichever is the first that only
// this user or root may write to; else one in /tmp. It is made if it does not exist. All agents of
// one upgrader find the same one.
[[nodiscard]] std::variant<std::string, NoDirectory> find_lock_directory();

// In a directory where others may write, too: of those that are ours the first by name, whatever
// others have made there.
[[nodiscard]] std::variant<std::string, NoDirectory> find_in_shared(const std::string& base);

// A file of this name is the lock of the upgrader's daemons; no other process ever has the name.
[[nodiscard]] std::string lock_file_name(int upgrader);

// Removes the locks of upgraders that have gone, but for those that somebody still holds.
void remove_stale_locks(const std::string& directory);

}  // namespace agentify

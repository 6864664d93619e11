// A lock by which at most one daemon runs, whatever process dies at whatever time. A keeper takes
// the lock before it starts the daemon, and holds it until no process of the daemon is left. Its
// file lies beside the upgrader's lock or, if the upgrader has none, in a directory that only this
// user can open. So no other user can take the lock, or keep agentify from making the lock's file.
#pragma once

#include <sys/types.h>

#include <string>
#include <variant>

#include "base/owned_fd.h"

namespace agentify {

class DaemonLock {
 public:
  // Makes an object that locks nothing, so that any number of daemons may run.
  DaemonLock() = default;
  // Makes a lock with the file `path`. This is the path of the upgrader's lock with `.daemon`
  // appended, or a path in a directory of agentify's own.
  [[nodiscard]] static DaemonLock by_file(std::string path);

  // Tries to take the lock, without waiting. Returns 0 if this process holds the lock now,
  // EWOULDBLOCK if another process holds it, or else another errno value.
  [[nodiscard]] int try_take();
  void release() { held_.reset(); }

  // Returns the pid of a process that holds the lock, or 0 if /proc shows no such process.
  [[nodiscard]] pid_t holder() const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;  // the path of the lock's file; empty if there is no lock
  upgrader::OwnedFd held_;
};

// ---- the directory for the lock, if the upgrader has no lock of its own

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

// A lock that keeps a second daemon from running, even if agentify, the upgrader or the daemon is
// killed. A keeper (the daemon's parent process) takes the lock before it starts the daemon, and
// holds the lock until no process of the daemon is left. The lock file lies beside the upgrader's
// lock file. If the upgrader has no lock, the lock file lies in a directory that only this user can
// open: no other user can take the lock, or keep agentify from making the file.
#pragma once

#include <sys/types.h>

#include <string>
#include <variant>

#include "base/owned_fd.h"

namespace agentify {

class DaemonLock {
 public:
  // Makes an object without a lock, so that any number of daemons may run.
  DaemonLock() = default;
  // Makes a lock with the lock file `path`: the path of the upgrader's lock with `.daemon`
  // appended, or a path in the directory that find_lock_directory() returns.
  [[nodiscard]] static DaemonLock by_file(std::string path);

  // Makes the lock's file unless it exists, and does not take the lock. Returns 0, or the errno
  // value with which every try_take() would fail: for example, the name is too long.
  [[nodiscard]] int make_file() const;
  // Tries to take the lock, without blocking. Returns 0 if this process holds the lock now,
  // EWOULDBLOCK if some other process holds it, or the errno value of a failure.
  [[nodiscard]] int try_take();
  void release() { held_.reset(); }

  // Returns the pid of a process that holds the lock, or 0 if /proc shows no such process.
  [[nodiscard]] pid_t holder() const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;  // the path of the lock's file; empty if there is no lock
  upgrader::OwnedFd held_;
};

// ---- the directory for lock files, for an upgrader that has no lock of its own

// The reason, in words, why no directory for the lock can be used.
struct NoDirectory {
  std::string why;
};

// Finds or makes the directory for lock files. This is the directory `agentify` in the first of
// RUNTIME_DIRECTORY, XDG_RUNTIME_DIR and /run to which only this user or root may write. If none of
// the three qualifies, it is a directory with a longer name in /tmp. All agents of one upgrader
// find the same directory.
[[nodiscard]] std::variant<std::string, NoDirectory> find_lock_directory();

// Finds or makes the directory for lock files in `base`, a directory such as /tmp to which other
// users may write. Ignores lock directories of other users. If this user has several lock
// directories in `base`, returns the first in the order of their names.
[[nodiscard]] std::variant<std::string, NoDirectory> find_in_shared(const std::string& base);

// Returns the name of the lock file for the daemons of the upgrader with this pid. The name
// contains the pid and the upgrader's start time, so that the lock files of two upgraders never
// have equal names.
[[nodiscard]] std::string lock_file_name(int upgrader);

// Removes the lock files of upgraders that have exited, except lock files that a process still
// holds.
void remove_stale_locks(const std::string& directory);

}  // namespace agentify

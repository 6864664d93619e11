// The lock of --lock=FILE: only one upgrader runs at a time, and no agent of an earlier upgrader
// runs beside it. Agents inherit the lock's descriptor, and nobody unlocks FILE: the kernel
// releases the lock when the last process with the descriptor has exited. Until then, the next
// upgrader tries again and again to lock FILE.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"

namespace upgrader {

class Lock {
 public:
  // Reserves the descriptor number `number` for the lock's file `path` (called FILE below); closes
  // any other descriptor with this number. FILE is opened later, for reading only, so that agents,
  // which inherit the descriptor, cannot write to it.
  Lock(std::string path, int number);

  // Tries to lock FILE. Returns 0 if this process now has the lock; FILE is then empty. Returns
  // EWOULDBLOCK if another process has it. Any other errno value means that FILE cannot be opened
  // or locked. EINVAL: it is not a regular file. ELOOP: it is a symbolic link. EEXIST: it has a
  // text that is not from an upgrader.
  //
  // A new FILE is readable by its owner only, since anybody who can open it can lock it. On a
  // read-only file system an existing FILE can be locked, too, and keeps its text.
  [[nodiscard]] int try_lock();

  // Writes this process's pid and start time to FILE, once. Called after the first agent's start,
  // so as not to delay it: finding out the start time takes a twelfth of the time that an agent's
  // start takes.
  void write_holder();

  // Returns an errno value of try_lock() as a text for people.
  [[nodiscard]] static std::string refusal_in_words(int error);

  // Returns a sentence without a full stop about the holder of the lock, from the text in FILE and
  // from /proc. Examples: "process 4711 (upgrader) holds it"; "process 4711, which FILE names, is
  // gone: one of its agents still holds it: process 4712 (agent)".
  [[nodiscard]] std::string holder_in_words() const;

 private:
  [[nodiscard]] bool has_file() const;
  [[nodiscard]] int keep_at_number(OwnedFd fd);
  [[nodiscard]] int open_file();
  [[nodiscard]] OwnedFd open_for_text() const;
  [[nodiscard]] int empty_file() const;

  std::string path_;
  int number_;
  OwnedFd descriptor_;     // the descriptor of FILE; its number is number_
  int access_ = O_RDONLY;  // the access mode for opening FILE
  bool written_ = false;
};

// Returns when the process started, in clock ticks since boot (field 22 of /proc/PID/stat). Returns
// nothing if there is no such process, it is a zombie, or there is no /proc.
[[nodiscard]] std::optional<std::int64_t> process_start_time(pid_t pid);

// Returns the start time from the text of /proc/PID/stat, in which the program's name may contain
// spaces and parentheses.
[[nodiscard]] std::optional<std::int64_t> start_time_in_stat(std::string_view stat);

// Returns the pids of all processes that hold a flock(2) lock on the file that is open at `fd`, in
// the order of /proc. A process that has inherited the locked descriptor holds the lock, too.
// Leaves out processes that wait for the lock, and those that this process may not inspect.
[[nodiscard]] std::vector<pid_t> lock_holders(int fd);

// Returns a text for the log: "process 4711 (agent)", or without the name if it is unknown.
[[nodiscard]] std::string process_in_words(pid_t pid);

}  // namespace upgrader

// The lock of --lock=FILE. It makes sure that only one upgrader runs, and that no agent of an
// earlier upgrader runs beside it. Agents inherit the lock's descriptor. Nobody unlocks FILE: the
// kernel releases the lock when the last process with the descriptor has exited. Until then, the
// next upgrader tries again and again to lock FILE.
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
  // Reserves the descriptor number `number` for the lock file `path`, FILE in the comments below.
  // If another descriptor has this number, it is closed. FILE is opened later, for reading only, so
  // that no process that inherits the descriptor can write to it.
  Lock(std::string path, int number);

  // Tries to lock FILE. Returns 0 if this process now has the lock; FILE is then empty. Returns
  // EWOULDBLOCK if another process has the lock, so that the caller may try again later. Any other
  // errno value says why FILE cannot be opened or locked. EINVAL: FILE is not a regular file.
  // ELOOP: FILE is a symbolic link. EEXIST: FILE has a text that an upgrader cannot have written,
  // and is left as it is. A new FILE is readable by its owner only, since anybody who can open it
  // can lock it. On a read-only file system an existing FILE can be locked, too, and keeps its
  // text.
  [[nodiscard]] int try_lock();

  // Writes this process's pid and start time to FILE, once, as those of the lock's holder. Called
  // only after the first agent has been started, so as not to delay that agent: to find out the
  // start time takes a twelfth of the time in which an agent is started.
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

// Returns the pids of all processes that hold a lock of flock(2) on the file that is open at `fd`,
// in the order of /proc. These are all processes that have inherited the locked descriptor: agents,
// and the processes that they have started. Processes that wait for the lock are not included, nor
// are processes that the kernel does not let this process inspect.
[[nodiscard]] std::vector<pid_t> lock_holders(int fd);

// Returns a text for the log: "process 4711 (agent)", or without the name if it is unknown.
[[nodiscard]] std::string process_in_words(pid_t pid);

}  // namespace upgrader

// The lock of --lock: at most one upgrader runs, and no agent of an earlier one beside it, since
// agents inherit the descriptor. Nobody unlocks it: the kernel does when the last process that has
// the descriptor has gone. Waiting for it is the loop's task.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/owned_fd.h"

namespace upgrader {

class Lock {
 public:
  // Opened for reading only, so that no process that inherits the descriptor can write to FILE. The
  // lock will be at descriptor `number`, which is kept for it: whatever is there is closed.
  Lock(std::string path, int number);

  // Returns 0 if the lock is ours, and FILE is empty. EWOULDBLOCK: it is held; ask again later.
  // Otherwise why FILE cannot be opened or locked, as an errno value; EINVAL: not a regular file;
  // ELOOP: it is a symbolic link; EEXIST: it holds what no lock has written, which stays. A FILE
  // that is made is readable by its owner only: whoever can open it can lock it. One that is there
  // is locked on a read-only file system, too, and keeps what it says.
  [[nodiscard]] int try_lock();

  // Makes FILE say that it is ours, unless it says so already. Looking up our own start time takes
  // a twelfth of an agent's start, so this is called only after the first agent has been started.
  void write_holder();

  // Such a value in words.
  [[nodiscard]] static std::string refusal_in_words(int error);

  // Names the holder, by FILE and /proc, as a sentence without a full stop: "process 4711
  // (upgrader) holds it"; "process 4711, which FILE names, is gone: one of its agents still holds
  // it: process 4712 (agent)".
  [[nodiscard]] std::string holder_in_words() const;

  [[nodiscard]] int number() const { return number_; }

 private:
  [[nodiscard]] bool has_file() const;
  [[nodiscard]] int keep_at_number(OwnedFd fd);
  [[nodiscard]] int open_file();
  [[nodiscard]] OwnedFd open_for_text() const;
  [[nodiscard]] int empty_file() const;

  std::string path_;
  int number_;
  OwnedFd descriptor_;     // at number_
  int access_ = O_RDONLY;  // how that is opened
  bool written_ = false;
};

// When the process started, in clock ticks since boot (field 22 of /proc/PID/stat). Nothing if
// there is no such process, it is a zombie, or there is no /proc.
[[nodiscard]] std::optional<std::int64_t> process_start_time(pid_t pid);

// The same from the text of /proc/PID/stat, in which the command may hold spaces and parentheses.
[[nodiscard]] std::optional<std::int64_t> start_time_in_stat(std::string_view stat);

}  // namespace upgrader

// Puts descriptors and signals into the state that the upgrader needs, whatever init has left.
// Called once, by main, before anything else and before an event loop is made:
//
//   open_standard_descriptors(); mark_close_on_exec_from(first_passed_descriptor);
//   put_signals_right();
//
// then the lock (lock.h), which takes its number whatever is there, and only then all that opens
// descriptors of its own: the log (log.h), the event loop.
#pragma once

#include <signal.h>

#include <string>
#include <vector>

namespace upgrader {

// The first descriptor that init passes: its sockets, and the lock's descriptor behind them.
inline constexpr int first_passed_descriptor = 3;

// Opens /dev/null on each of 0, 1, 2 that is closed. Returns 0 or an errno value.
[[nodiscard]] int open_standard_descriptors();

// Marks every open descriptor from `first` on close-on-exec, by the first means that works.
void mark_close_on_exec_from(int first);

// The three means, the best first. The first two return false where the kernel or the absence of
// /proc forbids them; the last one always works and takes as long as the limit is high.
[[nodiscard]] bool mark_by_close_range(int first);
[[nodiscard]] bool mark_by_proc(int first);
void mark_one_by_one(int first);

// The numbers that are names in a directory.
[[nodiscard]] std::vector<int> numbers_in(const std::string& path);

// The signals that mean something to the upgrader: blocked always, and read from a descriptor.
inline constexpr int read_signals[] = {SIGCHLD, SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2};

// Blocks these and unblocks all others, whatever init has left. Gives SIGCHLD its default: an
// ignored one would make exits unknowable. Ignores those that a write may cause (SIGPIPE, SIGXFSZ,
// SIGTTOU), and SIGIO, which an agent can have the kernel send. Returns 0 or an errno value: a
// signal that is not blocked is never read.
[[nodiscard]] int put_signals_right();

}  // namespace upgrader

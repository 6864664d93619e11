// Puts descriptors and signals into the state that the upgrader needs, in whatever state init has
// left them. Called once, by main, before anything else and before an event loop is made:
//
//   open_standard_descriptors(); mark_close_on_exec_from(first_passed_descriptor);
//   put_signals_right();
//
// Then comes the lock (lock.h), which takes its descriptor number even if that is in use, and only
// then everything that opens descriptors of its own: the log (log.h), the event loop.
#pragma once

#include <signal.h>

#include <string>
#include <vector>

namespace upgrader {

// The first descriptor that init passes. The sockets come first, and the lock's descriptor after
// them.
inline constexpr int first_passed_descriptor = 3;

// Opens /dev/null on each of 0, 1, 2 that is closed. Returns 0 or an errno value.
[[nodiscard]] int open_standard_descriptors();

// Marks every open descriptor from `first` on close-on-exec, by the first of three ways that works.
void mark_close_on_exec_from(int first);

// The three ways, the best first. The first two return false if the kernel refuses, or /proc is
// missing. The third always works; its time grows with the limit on descriptors.
[[nodiscard]] bool mark_by_close_range(int first);
[[nodiscard]] bool mark_by_proc(int first);
void mark_one_by_one(int first);

// Returns the names in a directory that are numbers.
[[nodiscard]] std::vector<int> numbers_in(const std::string& path);

// The signals that the upgrader handles: always blocked, and read from a descriptor.
inline constexpr int read_signals[] = {SIGCHLD, SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2};

// Blocks read_signals and unblocks all other signals, whatever init has left. Gives SIGCHLD its
// default, since exits cannot be seen while it is ignored. Ignores the signals that a write may
// cause (SIGPIPE, SIGXFSZ, SIGTTOU), and SIGIO, which an agent can have the kernel send. Returns 0
// or an errno value: a signal that is not blocked is never read.
[[nodiscard]] int put_signals_right();

}  // namespace upgrader

// These functions put descriptors and signals into the state that the upgrader needs, whatever
// state init has left them in. `main` calls them once, before anything else and before it makes an
// event loop:
//
// open_standard_descriptors(); mark_close_on_exec_from(first_passed_descriptor);
// put_signals_right();
//
// After these calls, main makes the lock (lock.h), if the upgrader has one. The lock's descriptor
// gets the first number after the sockets that init has passed, since agents expect it there; a
// descriptor that has this number already is closed. So the log (log.h) and the event loop must not
// open descriptors before the lock is made: one of them might get this number.
#pragma once

#include <signal.h>

#include <string>
#include <vector>

namespace upgrader {

// The first descriptor after standard input, output and error that an agent inherits. The sockets
// that init has passed begin at this number, and the lock's descriptor follows them.
inline constexpr int first_passed_descriptor = 3;

// Opens /dev/null as each of the descriptors 0, 1 and 2 that is closed. Otherwise a file that is
// opened later could get such a number, and receive the text that is printed. With `output_fails`,
// opens /dev/null as descriptor 1 only for reading, so that printing fails as it would on a closed
// descriptor. Returns 0 or an errno value.
[[nodiscard]] int open_standard_descriptors(bool output_fails = false);

// Marks every open descriptor with a number of at least `first` as close-on-exec. Uses
// close_range(). If the kernel refuses that, uses the list in /proc. If there is no /proc, tries
// each number.
void mark_close_on_exec_from(int first);

// Returns, as numbers, those names in a directory that are numbers, such as the pids in /proc.
[[nodiscard]] std::vector<int> numbers_in(const std::string& path);

// The signals that the upgrader handles: they are always blocked, and are read from a descriptor.
inline constexpr int read_signals[] = {SIGCHLD, SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2};

// Blocks read_signals and unblocks all other signals, whatever init has set. Gives SIGCHLD its
// default, since an ignored SIGCHLD would hide exits. Ignores the signals that a write may cause
// (SIGPIPE, SIGXFSZ, SIGTTOU), and SIGIO, which an agent can make the kernel send. Returns 0, or an
// errno value if the signals could not be blocked, and so would not be read.
[[nodiscard]] int put_signals_right();

}  // namespace upgrader

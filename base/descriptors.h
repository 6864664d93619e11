// These functions put descriptors and signals into the state that the upgrader needs, whatever
// state init has left them in. `main` calls them first, in this order:
//   open_standard_descriptors();
//   mark_close_on_exec_from(first_passed_descriptor);
//   put_signals_right();
//
// Next, main makes the lock (lock.h), if there is one. Agents expect its descriptor at the first
// number after the sockets that init has passed. So the log and the event loop, which open
// descriptors, must be made after the lock.
#pragma once

#include <signal.h>

#include <string>
#include <vector>

namespace upgrader {

// The first descriptor after standard input, output and error that an agent inherits. The sockets
// that init has passed begin at this number, and the lock's descriptor follows them.
inline constexpr int first_passed_descriptor = 3;

// Opens /dev/null as each of the descriptors 0, 1 and 2 that is closed: otherwise a file that is
// opened later could get one of these numbers, and receive printed text. With `output_fails`, opens
// descriptor 1 only for reading, so that printing fails as it would on a closed descriptor. Returns
// 0 or an errno value.
[[nodiscard]] int open_standard_descriptors(bool output_fails = false);

// Marks every open descriptor with a number of at least `first` as close-on-exec. Uses
// close_range(). If the kernel refuses that, uses the list in /proc. If there is no /proc, tries
// each number.
void mark_close_on_exec_from(int first);

// Returns the names in a directory that are decimal numbers, such as the pids in /proc.
[[nodiscard]] std::vector<int> numbers_in(const std::string& path);

// The signals that the upgrader handles: they are always blocked, and are read from a descriptor.
inline constexpr int read_signals[] = {SIGCHLD, SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2};

// Blocks read_signals and unblocks all other signals. Gives SIGCHLD its default disposition, since
// an ignored SIGCHLD would hide exits. Ignores SIGIO, and the signals that a write may cause
// (SIGPIPE, SIGXFSZ, SIGTTOU). Returns 0, or an errno value if the signals could not be blocked.
[[nodiscard]] int put_signals_right();

}  // namespace upgrader

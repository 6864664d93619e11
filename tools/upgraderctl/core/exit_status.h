// The exit statuses of upgraderctl, as in the section EXIT STATUS of upgraderctl(1).
#pragma once

namespace upgraderctl {

inline constexpr int exit_done = 0;
inline constexpr int exit_usage = 1;
inline constexpr int exit_absent = 2;
inline constexpr int exit_refused = 3;
inline constexpr int exit_kept = 4;
inline constexpr int exit_fell_back = 5;
inline constexpr int exit_ended = 6;
inline constexpr int exit_unknown = 7;

// If a signal interrupts the program, its exit status is the signal's number plus this, as in a
// shell.
inline constexpr int exit_signal_base = 128;

}  // namespace upgraderctl

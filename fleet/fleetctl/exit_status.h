// fleetctl's exit statuses, as in the table in fleetctl(1).
#pragma once

namespace fleetctl {

inline constexpr int exit_done = 0;
inline constexpr int exit_usage = 1;
inline constexpr int exit_refused = 2;
inline constexpr int exit_unreachable = 3;
inline constexpr int exit_failed = 4;
inline constexpr int exit_unknown = 5;
inline constexpr int exit_differs = 10;

}  // namespace fleetctl

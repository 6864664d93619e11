// Names the files of snapshots in a directory, and decides when the next snapshot is taken and
// which old snapshots are erased. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/time.h"

namespace fleet {

inline constexpr UnixSeconds snapshot_interval_s = 3'600;
// The time until the next try after a snapshot has failed.
inline constexpr UnixSeconds snapshot_retry_s = 60;

// Returns `cell-SECONDS.snapshot`, with the seconds since 1970. The names sort by time.
[[nodiscard]] std::string snapshot_name(UnixSeconds taken);
// Returns when the snapshot with this name was taken, or no value if it is not a snapshot's name.
[[nodiscard]] std::optional<UnixSeconds> snapshot_time(std::string_view name);

// Returns the time of the latest snapshot among the files, or 0 if there is none.
[[nodiscard]] UnixSeconds last_snapshot(const std::vector<std::string>& files);
// Returns the number of seconds until the next snapshot. Returns 0 if the latest snapshot has a
// time in the future, which means that a clock was wrong.
[[nodiscard]] UnixSeconds until_snapshot(const std::vector<std::string>& files, UnixSeconds now);
// Returns the snapshots to erase: all snapshots among the files but the newest `kept` ones.
[[nodiscard]] std::vector<std::string> outlived_snapshots(const std::vector<std::string>& files,
                                                          std::size_t kept);

}  // namespace fleet

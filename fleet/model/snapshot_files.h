// Names the files of snapshots in a directory, and decides when the next snapshot is due and which
// ones are no longer kept. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/time_zone.h"

namespace fleet {

inline constexpr UnixSeconds snapshot_interval_s = 3'600;
// The time until the next try after a snapshot failed.
inline constexpr UnixSeconds snapshot_retry_s = 60;

// Returns `cell-SECONDS.snapshot`, with the time since 1970. The names sort in the order of the
// times.
[[nodiscard]] std::string snapshot_name(UnixSeconds taken);
// Returns when a snapshot was taken, or no value if this is not the name of a snapshot.
[[nodiscard]] std::optional<UnixSeconds> snapshot_time(std::string_view name);

// Returns the time of the last snapshot among the files, or 0 if there is none.
[[nodiscard]] UnixSeconds last_snapshot(const std::vector<std::string>& files);
// Returns how long until the next snapshot is due. A snapshot from the future, which a wrong clock
// has caused, does not delay the next.
[[nodiscard]] UnixSeconds until_snapshot(const std::vector<std::string>& files, UnixSeconds now);
// Returns all snapshots but the last `kept`. Other files are never among them.
[[nodiscard]] std::vector<std::string> outlived_snapshots(const std::vector<std::string>& files,
                                                          std::size_t kept);

}  // namespace fleet

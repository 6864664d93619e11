// The files of snapshots in a directory: what the next is called, when it is due, which are no
// longer kept. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/time_zone.h"

namespace fleet {

inline constexpr UnixSeconds snapshot_interval_s = 3'600;
// After one that failed.
inline constexpr UnixSeconds snapshot_retry_s = 60;

// `cell-SECONDS.snapshot`, with the time since 1970: in the order of the names is that of the
// times.
[[nodiscard]] std::string snapshot_name(UnixSeconds taken);
// When it was taken; none: it is no snapshot's name.
[[nodiscard]] std::optional<UnixSeconds> snapshot_time(std::string_view name);

// The last of those files; 0: there is none.
[[nodiscard]] UnixSeconds last_snapshot(const std::vector<std::string>& files);
// How long until the next is due. One of the future, by a clock that was wrong, does not keep it
// back.
[[nodiscard]] UnixSeconds until_snapshot(const std::vector<std::string>& files, UnixSeconds now);
// All but the last so many; what is no snapshot stays.
[[nodiscard]] std::vector<std::string> outlived_snapshots(const std::vector<std::string>& files,
                                                          std::size_t kept);

}  // namespace fleet

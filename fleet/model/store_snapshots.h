// Snapshots of the store. Names their files in a directory, and decides when the next snapshot is
// taken and which old ones are erased. Also decides whether a node still sees the store that it saw
// before. If not, the store may be an older copy, restored from a snapshot, which repeats orders
// that were valid only in the past. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/cell_records.h"
#include "fleet/model/time.h"
#include "fleet/model/transaction.h"

namespace fleet {

// ---- the files

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

// ---- a store that was restored

// The facts by which a node recognises its store. The node keeps them on its disk.
struct KnownStore {
  std::int64_t epoch = 0;
  Revision revision = 0;  // the highest revision seen; 0 if none

  bool operator==(const KnownStore&) const = default;
};

struct StoreVerdict {
  KnownStore known = {};   // the facts about the store to keep from now on
  std::string doubt = {};  // why the node must do nothing; empty if it may go on
};

// Decides whether the node may go on with this store. A node that has noted no store yet may go on.
// If the epoch in the store is the noted one, the node may go on unless the revision is lower than
// the noted one. If the epoch is another one, the node may go on only if a person has accepted that
// epoch; the revision does not matter then. If the record `epoch` is absent, the epoch is 0.
[[nodiscard]] StoreVerdict judge_store(const KnownStore& known, const Epoch& epoch,
                                       Revision revision);

}  // namespace fleet

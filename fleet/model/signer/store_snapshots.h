// Snapshots of the store. This file names the snapshot files, and decides when the next snapshot is
// taken and which old snapshots are erased. It also decides whether a node still trusts the store:
// a store that was restored from a snapshot has orders that are out of date. This file does no
// input or output.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/time.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// ---- the snapshot files

inline constexpr UnixSeconds snapshot_interval_s = 3'600;
// The time until the next try after a snapshot has failed.
inline constexpr UnixSeconds snapshot_retry_s = 60;

// Returns `cell-SECONDS.snapshot`, with the seconds since 1970. The names sort by time.
[[nodiscard]] std::string snapshot_name(UnixSeconds taken);
// Returns the time at which the snapshot with this file name was taken, or no value if no snapshot
// has such a name.
[[nodiscard]] std::optional<UnixSeconds> snapshot_time(std::string_view name);

// Returns the time of the latest snapshot among the files, or 0 if there is none. Ignores snapshots
// with a time in the future, which were taken while the clock was wrong.
[[nodiscard]] UnixSeconds last_snapshot(const std::vector<std::string>& files, UnixSeconds now);
// Returns the number of seconds until the next snapshot is due.
[[nodiscard]] UnixSeconds until_snapshot(const std::vector<std::string>& files, UnixSeconds now);
// Returns the snapshots to erase: all snapshots in `files` except the `kept` newest ones. Snapshots
// with a time in the future, which were taken while the clock was wrong, count as older than all
// others.
[[nodiscard]] std::vector<std::string> outlived_snapshots(const std::vector<std::string>& files,
                                                          std::size_t kept, UnixSeconds now);

// ---- how a node notices that the store was restored from a snapshot

// A node keeps this number in place of the highest revision that it has seen, once the store has
// gone back to a lower revision. The node must not keep the revision itself: a restored store soon
// reaches that revision again, since the nodes write their records anew.
inline constexpr Revision revision_before_loss = std::numeric_limits<Revision>::max();

// The facts by which a node recognizes the store. The node keeps them on its disk.
struct KnownStore {
  std::int64_t epoch = 0;
  // The highest revision that the node has seen; 0 if none. Or revision_before_loss.
  Revision revision = 0;

  bool operator==(const KnownStore&) const = default;
};

// The time since the last restore of the store from a snapshot, as the record `epoch` shows it.
struct StoreLife {
  // The last digits of the epoch's number, or an empty string if the store was never restored.
  // Names that contain a revision end with it, since a restored store gives out the same revisions
  // again.
  std::string name = {};
  // The revision at which this life began. An older record stood in the snapshot.
  Revision begins = 0;

  bool operator==(const StoreLife&) const = default;
};

// How many digits of an epoch's number a StoreLife has.
inline constexpr std::size_t life_digits = 8;

// `modified` is the revision of the record `epoch`.
[[nodiscard]] StoreLife life_of(const Epoch& epoch, Revision modified);

struct StoreVerdict {
  KnownStore known = {};   // the facts that the node has to keep from now on
  std::string doubt = {};  // why the node must not obey orders; empty if it may
};

// Returns the epoch that the store gets after a restore from a snapshot. `before` is the epoch that
// the restored store has. The number of the new epoch is `now`, or one more than the number of
// `before` if that is larger. A number that only counted restores would not be new if the snapshot
// was older than an earlier restore.
[[nodiscard]] Epoch next_epoch(const Epoch& before, UnixSeconds now, const std::string& why);

// Decides whether the node may obey orders from this store. `epoch` is the record `epoch`, which a
// person writes after a restore from a snapshot; without this record, the epoch's number is 0. A
// node that knows no store yet may obey. If the epoch's number is the one that the node knows, the
// node may obey unless the store's revision is lower than the known revision. It must not obey
// either if an earlier call has found such a lower revision: the returned facts say so. If the
// number is a different one, the node may obey only if a person has accepted this epoch; then the
// revision does not matter.
[[nodiscard]] StoreVerdict judge_store(const KnownStore& known, const Epoch& epoch,
                                       Revision revision);

}  // namespace fleet

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

// Once a node has seen the store go back to a lower revision, it stores this number in place of the
// highest revision that it has seen. With the highest revision itself, it would soon trust the
// store again: the revisions of a restored store grow, since the nodes write their records anew.
inline constexpr Revision revision_before_loss = std::numeric_limits<Revision>::max();

// The facts by which a node recognizes the store. The node keeps them on its disk.
struct KnownStore {
  std::int64_t epoch = 0;
  // The highest revision that the node has seen; 0 if it has seen none. It is revision_before_loss
  // if the store has gone back to a lower revision.
  Revision revision = 0;

  bool operator==(const KnownStore&) const = default;
};

// The time since the last restore of the store from a snapshot, as the record `epoch` shows it.
struct StoreLife {
  // The last digits of the epoch's number, or an empty string if the store was never restored. A
  // restored store gives out the same revisions again, so names that contain a revision end with
  // these digits.
  std::string name = {};
  // The revision at which the number of the current epoch was written, after the restore. Older
  // records come from the snapshot.
  Revision begins = 0;

  bool operator==(const StoreLife&) const = default;
};

// The length of StoreLife::name, in digits.
inline constexpr std::size_t life_digits = 8;

// Returns the store's life, from the record `epoch` and its revision `modified`.
[[nodiscard]] StoreLife life_of(const Epoch& epoch, Revision modified);

struct StoreVerdict {
  KnownStore known = {};   // the facts that the node has to keep from now on
  std::string doubt = {};  // why the node must not obey orders; empty if it may
};

// Returns the epoch that the store gets after a restore from a snapshot. `before` is the epoch in
// the restored store. The new number is `now`, the time in seconds, or one more than the number of
// `before` if that is larger. It cannot simply count restores: if the snapshot is older than an
// earlier restore, the same number would be used twice.
[[nodiscard]] Epoch next_epoch(const Epoch& before, UnixSeconds now, const std::string& why);

// Decides whether the node may obey orders from this store. The record `epoch` is written by a
// person after a restore from a snapshot; without the record, its number is 0.
//
// - A node that knows no store yet may obey.
// - If the node knows this epoch, it may obey, unless the store's revision is, or was at an earlier
//   call, lower than the highest revision that the node has seen. `known` in the result stores
//   that.
// - If the node knows another epoch, it may obey only if a person has accepted this one. The
//   revision does not matter then.
[[nodiscard]] StoreVerdict judge_store(const KnownStore& known, const Epoch& epoch,
                                       Revision revision);

}  // namespace fleet

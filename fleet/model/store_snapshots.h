// Snapshots of the store. This file names the snapshot files, and decides when the next snapshot is
// taken and which old snapshots are erased. It also decides whether a node still sees the store
// that it saw before. If not, the store may be an older copy, restored from a snapshot, with orders
// that were valid only in the past. This file does no input or output.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/cell_records.h"
#include "fleet/model/time.h"
#include "fleet/model/transaction.h"

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
// with a time in the future: a clock must have been wrong.
[[nodiscard]] UnixSeconds last_snapshot(const std::vector<std::string>& files, UnixSeconds now);
// Returns the number of seconds until the next snapshot is due.
[[nodiscard]] UnixSeconds until_snapshot(const std::vector<std::string>& files, UnixSeconds now);
// Returns the snapshots to erase: all snapshots in `files` except the `kept` newest ones. Snapshots
// with a time in the future count as older than all others: they were taken before the clock went
// back, and must not push out those that are taken now.
[[nodiscard]] std::vector<std::string> outlived_snapshots(const std::vector<std::string>& files,
                                                          std::size_t kept, UnixSeconds now);

// ---- how a node notices that the store was restored from a snapshot

// The facts by which a node recognizes its store. The node keeps these facts on its disk.
struct KnownStore {
  std::int64_t epoch = 0;
  Revision revision = 0;  // the highest revision that the node has seen; 0 if none

  bool operator==(const KnownStore&) const = default;
};

struct StoreVerdict {
  KnownStore known = {};   // the facts that the node has to keep from now on
  std::string doubt = {};  // why the node must do nothing; empty if it may go on
};

// Returns the epoch that the store gets after a restore from a snapshot, at the time `now`.
// `before` is the epoch in the restored store. The number of an epoch is usually the time in
// seconds since 1970. So it differs from that of an earlier restore, even if the snapshot is older
// than that restore. If the clock is behind, the number is one more than the number of `before`.
[[nodiscard]] Epoch next_epoch(const Epoch& before, UnixSeconds now, const std::string& why);

// Decides whether the node may go on with this store. A person increases the number in the record
// `epoch` after a restore from a snapshot; without this record, the epoch is 0. A node that knows
// no store yet may go on. If the store has the epoch that the node knows, the node may go on unless
// the store's revision is lower than the known revision. If the store has a different epoch, the
// node may go on only if a person has accepted that epoch; the revision does not matter then.
[[nodiscard]] StoreVerdict judge_store(const KnownStore& known, const Epoch& epoch,
                                       Revision revision);

}  // namespace fleet

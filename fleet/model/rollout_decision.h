// Decides the next step of a rollout's driver. The decision depends only on the records in the
// store and on how long the driver has waited. So every driver decides the same, and no step is
// repeated when another driver takes over.
//
//     nodes of the batch            what the driver does
//     some waiting                  orders them to `prepare`, all at once (`stop` must be absent)
//     some preparing                waits for them, at most prepare_ms
//     all prepared or ended         takes places of the cell's budgets (budgets.h) for all of them;
//                                   if some are not free, gives back the others, and waits. Then
//                                   asks the control group (nodes with the old version, for
//                                   comparison) for its health, and orders `apply` (`stop` must be
//                                   absent)
//     some applying                 waits until all report `soaked`; a node that has not soaked
//                                   when the first node must be confirmed has failed
//     all soaked or ended           asks the gates, and waits for them and for the judge, at most
//                                   judge_timeout_ms(). If all are well, orders `confirm`; if one
//                                   of them has no verdict by then, `rollback`
//     some rolling back             waits for them, at most rollback_ms
//     some confirming               waits for them, at most confirm_answer_ms; then they count as
//                                   unconfirmed
//     all confirmed or ended        records that. After the last batch, the rollout is completed,
//                                   or bakes first. If a node is unconfirmed or was ordered to
//                                   go back, the rollout is paused. Otherwise the next batch begins
//                                   after the time `pause`. When a paused rollout goes on, a batch
//                                   without a verdict is done again: its nodes that went back for
//                                   lack of a verdict begin anew
//
// A failure is recorded at once. The rollout becomes `aborting` at the max_failed-th failure, if a
// gate says worse, or by a person's order. Then the nodes that have begun and are not confirmed get
// the order to roll back, unless the person's order is to leave them. Nodes that have begun nothing
// stay as they are. When all have answered, or rollback_ms have passed, the rollout is `aborted`. A
// pause that a person orders begins between batches. `prepare` and `apply` are ordered only if the
// windows of all nodes of the batch are open, and stay open until the nodes would go back by
// themselves.
//
// A rollout with a bake is `baking` for bake_ms after its last batch: the judge and the gates may
// still abort it, and so may a person. The record notes ten times how much of the bake has passed,
// so a driver that takes over the rollout repeats at most a tenth. A pause of a baking rollout is
// refused, since nothing is left to begin. While a gate's verdict is not known, the bake does not
// end: not known is never well.
//
// An undo orders the same steps, without a soak, for each node that was ordered to apply and still
// runs the version: batch by batch from the newest, or all batches at once. It does not wait for
// windows, nor for the end of `stop`, since the version may do harm until it is undone. If a node
// cannot go back, it is recorded as `kept`, and the undo continues. When the first batch has gone
// back, the rollout is `undone`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fleet/model/budgets.h"
#include "fleet/model/driver_events.h"
#include "fleet/model/gates.h"
#include "fleet/model/rollout_view.h"
#include "fleet/model/time.h"
#include "fleet/model/windows.h"

namespace fleet {

// How long a node may take to fetch and verify a release. Links may be slow.
inline constexpr Ms prepare_ms = 600'000;
// The order to confirm is given at least this time before the first node would go back by itself.
inline constexpr Ms confirm_margin_ms = 30'000;
// How long a driver waits for the answer to `confirm`, which comes when the upgrade is committed.
inline constexpr Ms confirm_answer_ms = 60'000;
inline constexpr Ms rollback_ms = 300'000;
// How many times in a bake the rollout's record is updated with the part of the bake that has
// passed.
inline constexpr std::int64_t bake_notes = 10;
// The limit for a rollout's name. The id of a command, such as NAME.rollback.NUMBER, has at most 64
// bytes.
inline constexpr std::size_t rollout_id_bytes_max = 40;

enum class RolloutStep { prepare, apply, confirm, rollback };
[[nodiscard]] std::string_view text_of(RolloutStep step);

// The times at which this driver began to wait for nodes of the present batch, for each kind of
// wait. They are not in the store: if another driver takes over the rollout, it begins the waits
// anew.
struct RolloutMarks {
  std::int64_t batch = -1;
  std::optional<Ms> prepare = {};
  std::optional<Ms> apply = {};
  std::optional<Ms> judge = {};
  std::optional<Ms> confirm = {};
  std::optional<Ms> rollback = {};
  std::optional<Ms> pause = {};
  std::optional<Ms> bake = {};  // when the bake would have begun if no driver had interrupted it

  bool operator==(const RolloutMarks&) const = default;
};

// The lease for the commands of one step of a batch. When the lease ends, the commands vanish, so a
// command that no node has begun cannot be begun any more.
struct StepLease {
  std::int64_t batch = -1;
  RolloutStep step = RolloutStep::prepare;
  LeaseId lease = 0;

  bool operator==(const StepLease&) const = default;
};

// The facts that the driver itself knows.
struct DriverFacts {
  std::string controller = {};
  Revision fence = 0;  // the revision at which the driver's key was created
  RolloutMarks marks = {};
  std::optional<StepLease> lease = {};
  Opening window = {};  // whether the batch may begin a step now
  // Why the store denies the driver's writes; empty if it does not.
  std::string denied = {};
  std::optional<RolloutJudge> judge = {};  // the judge's findings, if they are not written yet
  bool is_worse = false;                   // the findings show that the new version is worse
  // Why the batch must still wait for the judge; empty if it need not wait.
  std::string unjudged = {};
  // The nodes of the control group that have to be asked for their health before the batch begins.
  std::vector<std::string> controls = {};
  std::optional<GateRound> gates = {};  // the last round of questions to the gates
  const Budgets* budgets = nullptr;     // the cell's budgets; null: the rollout takes no places
};

struct WantLease {
  RolloutStep step = RolloutStep::prepare;
  Ms ttl_ms = 0;

  bool operator==(const WantLease&) const = default;
};

// Begin a round of questions to the gates.
struct WantGates {
  bool operator==(const WantGates&) const = default;
};

struct RolloutDecision {
  std::variant<Wait, WantLease, WantGates, Write, Over> what = {};
  RolloutMarks marks = {};
};

[[nodiscard]] RolloutDecision decide(const RolloutView& view, const DriverFacts& facts, Ms now);

}  // namespace fleet

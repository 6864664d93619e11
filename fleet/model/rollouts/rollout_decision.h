// This file decides the next step of a rollout's driver, the controller that steers the rollout.
// The decision depends only on the records in the store, on how long the driver has waited, on
// whether windows are open, and on the answers of the gates. So another controller that becomes the
// driver decides as the first one would, and repeats no step.
//
//     nodes of the batch            what the driver does
//     some wait for an order        orders all of them to `prepare`, if the record `stop` is absent
//     some are preparing            waits for them, at most prepare_ms. If the record `stop` was
//                                   present meanwhile, orders those that are late once more
//     all have prepared or ended    takes places of the cell's budgets (budgets.h) for all of them.
//                                   If some places are not free, gives back all places, and waits.
//                                   Then asks the control group (nodes with the old version, for
//                                   comparison) for its health, and orders `apply`, if the record
//                                   `stop` is absent
//     some are applying             waits until all report `soaked`. The wait ends shortly before
//                                   the first node would go back by itself. A node that has not
//                                   soaked by then has failed
//     all have soaked or ended      asks the gates, and waits for their answers and the judge's
//                                   verdict, at most judge_timeout_ms(). If all say `well`, orders
//                                   `confirm`. If one of them has given no verdict by then, orders
//                                   `rollback`
//     some are rolling back         waits for them, at most rollback_ms
//     some are confirming           waits for them, at most confirm_answer_ms. Nodes that have not
//                                   answered by then count as unconfirmed
//     all are confirmed or ended    records that. After the last batch, the rollout is completed,
//                                   or bakes first. If a node is unconfirmed or was ordered to
//                                   go back, the rollout is paused, and also if no node has tried
//                                   the version (why_untried()). Otherwise the next batch begins
//                                   after the time `pause`. If a batch got no verdict, it is done
//                                   again when a person resumes the rollout: the nodes that went
//                                   back for lack of a verdict begin anew
//
// - Failure: it is recorded at once. A node that could not begin because of the record `stop` has
//   not failed, nor has one that had not begun when a driver took over, if it is not silent. If its
//   batch cannot wait for it any more, the rollout leaves it as it is.
// - Abort: too many nodes have failed (why_too_many()), the judge or a gate says "worse", or a
//   person orders the abort. The rollout is `aborting`: nodes that were ordered to `apply` and are
//   not confirmed must roll back, unless the person wants to leave them. All other nodes stay as
//   they are. When all have answered, or rollback_ms have passed, the rollout is `aborted`.
// - Pause: if a person orders it, the rollout pauses when the batch under way is done.
// - Windows: `prepare` and `apply` are ordered only if the maintenance windows of all nodes of the
//   batch are open, and stay open until the nodes would go back by themselves.
// - Bake: the rollout is `baking` for bake_ms after its last batch. The judge, a gate or a person
//   may still abort it, but it cannot be paused. The driver records ten times how much of the bake
//   has passed, so its successor repeats at most a tenth. The bake ends only when each gate has
//   given a verdict.
// - Undo: it brings the old version back to each node that was ordered to `apply` and still runs
//   the new version. The nodes get the same orders again, for the old version, and without a soak.
//   The batches go back from the last one that has begun to the first one, or all at the same time.
//   The new version may do harm meanwhile, so closed windows and the record `stop` do not delay the
//   undo. It waits at most silent_undo_ms for silent nodes. A node that cannot go back is recorded
//   as `kept`. At the end, the rollout is `undone`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fleet/model/drivers/budgets.h"
#include "fleet/model/drivers/driver_events.h"
#include "fleet/model/drivers/windows.h"
#include "fleet/model/records/time.h"
#include "fleet/model/rollouts/gates.h"
#include "fleet/model/rollouts/rollout_view.h"

namespace fleet {

// How long a node may take to fetch and verify a release. The limit is long, since network links
// may be slow.
inline constexpr Ms prepare_ms = 600'000;
// How long the nodes of an undo, and of the abort before it, wait for a silent node (a node without
// a fleet-agent that is connected to the store). An undo has to be fast, since the new version may
// do harm meanwhile.
inline constexpr Ms silent_undo_ms = 60'000;
// The order to confirm is given at least this time before the first node would go back by itself.
inline constexpr Ms confirm_margin_ms = 30'000;
// How long a driver waits for the answer to `confirm`, which comes when the upgrade is committed.
inline constexpr Ms confirm_answer_ms = 60'000;
inline constexpr Ms rollback_ms = 300'000;
// The bake is the time after the last batch in which the rollout is still judged. During the bake,
// the driver writes this many times into the rollout's record how much of the bake has passed.
inline constexpr std::int64_t bake_notes = 10;
// The limit for a rollout's name. The ids of commands, such as NAME.rollback.NUMBER, begin with
// this name, and may have at most 64 bytes.
inline constexpr std::size_t rollout_id_bytes_max = 40;

enum class RolloutStep { prepare, apply, confirm, rollback };
[[nodiscard]] std::string_view text_of(RolloutStep step);

// The times at which this driver began to wait for nodes of the batch under way: one time for each
// kind of wait. These times are not in the store: a controller that takes over the rollout begins
// the waits anew.
struct RolloutMarks {
  std::int64_t batch = -1;
  std::optional<Ms> prepare = {};
  std::optional<Ms> apply = {};
  std::optional<Ms> judge = {};
  std::optional<Ms> confirm = {};
  std::optional<Ms> rollback = {};
  std::optional<Ms> pause = {};
  // The time at which the bake (the judging after the last batch) began, by the clock of this
  // driver. If this driver took over during the bake, it subtracts the time that has passed
  // according to the record.
  std::optional<Ms> bake = {};
  // The nodes that the record `stop` has kept from beginning for some time, or may have kept before
  // this driver took over, with the reason. A node gets the whole time again with its next order,
  // unless other nodes of the batch are on trial meanwhile.
  std::map<std::string, std::string_view> held = {};

  bool operator==(const RolloutMarks&) const = default;
};

// The lease for the commands of one step of a batch. When the lease ends, the store erases these
// commands, so no node can begin one of them later.
struct StepLease {
  std::int64_t batch = -1;
  RolloutStep step = RolloutStep::prepare;
  LeaseId lease = 0;

  bool operator==(const StepLease&) const = default;
};

// The facts on which a decision depends, but which are not in the view of the rollout's records.
struct DriverFacts {
  std::string controller = {};
  Revision fence = 0;  // the revision at which the driver's key was created
  RolloutMarks marks = {};
  std::optional<StepLease> lease = {};
  Opening window = {};  // whether the batch may begin a step now
  // Why the store has denied a write of the driver; empty if no write was denied.
  std::string denied = {};
  std::optional<RolloutJudge> judge = {};  // findings of the judge that are not in the store yet
  bool is_worse = false;                   // the findings show that the new version is worse
  // Why the batch must still wait for the judge; empty if it need not wait.
  std::string unjudged = {};
  // The nodes of the control group that have to be asked for their health before the batch begins.
  std::vector<std::string> controls = {};
  std::optional<GateRound> gates = {};  // the last round of questions to the gates
  const Budgets* budgets = nullptr;     // null: the rollout takes no places of budgets
};

struct WantLease {
  RolloutStep step = RolloutStep::prepare;
  Ms ttl_ms = 0;

  bool operator==(const WantLease&) const = default;
};

// The decision to ask all gates of the rollout (sources of measurements outside the fleet) once.
struct WantGates {
  bool operator==(const WantGates&) const = default;
};

struct RolloutDecision {
  std::variant<Wait, WantLease, WantGates, Write, Over> what = {};
  RolloutMarks marks = {};
};

[[nodiscard]] RolloutDecision decide(const RolloutView& view, const DriverFacts& facts, Ms now);

}  // namespace fleet

// Decides the next step of a rollout's driver from the records of the store and from the time that
// the driver has waited, and from nothing else. So every driver decides the same, and repeats
// nothing.
//
//     nodes of the batch            what the driver does
//     some waiting                  orders `prepare` of them, all at once (`stop` must be absent)
//     some preparing                waits for them, at most prepare_ms
//     all prepared or ended         orders `apply` (`stop` must be absent)
//     some applying                 waits until all report `soaked`; a node that has not soaked at
//                                   the time to confirm the first node has failed
//     all soaked or ended           asks the gates, and waits for them and for the judge, at most
//                                   judge_timeout_ms(); then orders `confirm`, or `rollback` if one
//                                   of them does not know yet
//     some rolling back             waits for them, at most rollback_ms
//     some confirming               waits for them, at most confirm_answer_ms; then they count as
//                                   unconfirmed
//     all confirmed or ended        records that, and moves on: after the last batch the rollout is
//                                   completed; it is paused if a node is unconfirmed or was told to
//                                   go back; otherwise the next batch begins after the pause. A
//                                   batch that was not judged is done again after the pause: those
//                                   of its nodes that have gone back for that begin anew
//
// A failure is recorded at once. The max_failed-th failure of the whole rollout makes the rollout
// `aborting`, and so do a gate that says worse and a person's order. Then the nodes that have begun
// and are not confirmed are told to roll back, unless the order says to leave them; nodes that have
// begun nothing stay as they are. When all have answered, or rollback_ms have passed, the rollout
// is `aborted`. A pause that a person orders begins between batches. `prepare` and `apply` are
// ordered only if the windows of all nodes of the batch are open, and stay open for the time after
// which a node goes back by itself.
//
// An undo orders the same steps, without a soak, of each node that was ordered to apply and still
// runs the version: batch by batch from the newest, or all at once. `stop` and windows do not hold
// it back, since it ends what harms. If a node cannot go back, it is recorded as `kept`, and the
// undo continues. After the first batch the rollout is `undone`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "fleet/model/driver_events.h"
#include "fleet/model/rollout_gates.h"
#include "fleet/model/rollout_view.h"
#include "fleet/model/time.h"
#include "fleet/model/window_view.h"

namespace fleet {

// The longest wait for a node to fetch and verify a release; links may be slow.
inline constexpr Ms prepare_ms = 600'000;
// The time between the order to confirm and the moment at which the first node would go back by
// itself.
inline constexpr Ms confirm_margin_ms = 30'000;
// The longest wait for the answer to `confirm`, which comes when the upgrade is committed.
inline constexpr Ms confirm_answer_ms = 60'000;
inline constexpr Ms rollback_ms = 300'000;
// The limit for a rollout's name: RID.rollback.NUMBER is the id of a command, which has at most 64
// bytes.
inline constexpr std::size_t rollout_id_bytes_max = 40;

enum class RolloutStep { prepare, apply, confirm, rollback };
[[nodiscard]] std::string_view text_of(RolloutStep step);

// The times at which this driver began each wait for the present batch. They are not in the store:
// a driver that adopts the rollout begins them anew.
struct RolloutMarks {
  std::int64_t batch = -1;
  std::optional<Ms> prepare = {};
  std::optional<Ms> apply = {};
  std::optional<Ms> judge = {};
  std::optional<Ms> confirm = {};
  std::optional<Ms> rollback = {};
  std::optional<Ms> pause = {};

  bool operator==(const RolloutMarks&) const = default;
};

// The lease for one step of a batch; its end is the not-after of the step's commands.
struct StepLease {
  std::int64_t batch = -1;
  RolloutStep step = RolloutStep::prepare;
  LeaseId lease = 0;

  bool operator==(const StepLease&) const = default;
};

// The facts that the driver itself knows.
struct DriverFacts {
  std::string controller = {};
  Revision fence = 0;  // the create revision of its key
  RolloutMarks marks = {};
  std::optional<StepLease> lease = {};
  Opening window = {};      // whether the batch under way may begin a step now
  std::string denied = {};  // why the store refuses its writes for good; empty if it does not
  std::optional<RolloutJudge> judge = {};  // the judge's findings that are not written yet
  bool is_worse = false;                   // by these findings the new version is worse
  // why the judge does not let the batch be confirmed yet; empty if it does
  std::string unjudged = {};
  std::optional<GateRound> gates = {};  // the last round of questions
};

struct WantLease {
  RolloutStep step = RolloutStep::prepare;
  Ms ttl_ms = 0;

  bool operator==(const WantLease&) const = default;
};

// A round of questions to the gates is to begin.
struct WantGates {
  bool operator==(const WantGates&) const = default;
};

struct RolloutDecision {
  std::variant<Wait, WantLease, WantGates, Write, Over> what = {};
  RolloutMarks marks = {};
};

[[nodiscard]] RolloutDecision decide(const RolloutView& view, const DriverFacts& facts, Ms now);

}  // namespace fleet

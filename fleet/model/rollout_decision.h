// The next step of a rollout's driver, decided from the records of the store alone, and from how
// long it has waited. So whoever drives decides the same, and repeats nothing.
//
//     nodes of the batch            what is done
//     some waiting                  `prepare` is ordered of them, all at once (stop must be absent)
//     some preparing                waited for, prepare_ms long
//     all prepared or ended         `apply` is ordered (stop must be absent)
//     some applying                 waited for, until all say `soaked`; who is not there by the
//     time
//                                   that the first would have to be confirmed has failed
//     all soaked or ended           waited for the judge, for a soak or five minutes, whichever is
//                                   longer; then `confirm` is ordered, or `rollback` if the judge
//                                   does not know yet
//     some rolling back             waited for, rollback_ms long
//     some confirming               waited for, confirm_answer_ms long; then unconfirmed
//     all confirmed or ended        recorded, and the rollout moves on: completed behind the last
//                                   batch, paused where a node is unconfirmed or has been told to
//                                   go back, else after the pause
//
// A failure is recorded at once; the max_failed-th of the whole rollout makes it `aborting`, and so
// does a person. Then nodes that have begun and are not confirmed are told to roll back, unless
// they are to be left; those that have begun nothing are left as they are; and when all have
// answered, or rollback_ms have passed, it is `aborted`. A pause that a person asks for begins
// between batches. `prepare` and `apply` are ordered only while the windows of all nodes of the
// batch are open, and for as long as a node has until it goes back by itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "fleet/model/driver_events.h"
#include "fleet/model/rollout_view.h"
#include "fleet/model/time.h"
#include "fleet/model/window_view.h"

namespace fleet {

// Longest waits for a node's answer. `prepare` fetches a release, and links are slow.
inline constexpr Ms prepare_ms = 600'000;
// A confirmation is ordered this long before the first node would go back by itself,
inline constexpr Ms confirm_margin_ms = 30'000;
// and its answer comes when the upgrade is committed.
inline constexpr Ms confirm_answer_ms = 60'000;
inline constexpr Ms rollback_ms = 300'000;
// A batch waits so long for its judge, or as long as a soak if that is longer; but no longer than
// its first node waits for `confirm`.
inline constexpr Ms judge_timeout_ms_min = 300'000;
// An order whose outcome nobody knows is given this often.
inline constexpr std::int64_t attempts_max = 3;
// RID.rollback.NUMBER is the id of a command, which has at most 64 bytes.
inline constexpr std::size_t rollout_id_bytes_max = 40;

enum class RolloutStep { prepare, apply, confirm, rollback };
[[nodiscard]] std::string_view text_of(RolloutStep step);

// When this driver began to wait for what, in this batch. Not in the store: a driver that adopts
// the rollout begins anew.
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

// The lease that serves one step of a batch, and is the not-after of its commands.
struct StepLease {
  std::int64_t batch = -1;
  RolloutStep step = RolloutStep::prepare;
  LeaseId lease = 0;

  bool operator==(const StepLease&) const = default;
};

// The facts that the driver itself knows.
struct DriverFacts {
  std::string controller = {};
  Revision fence = 0;  // what its key was created at
  RolloutMarks marks = {};
  std::optional<StepLease> lease = {};
  Opening window = {};                     // whether the batch under way may begin something now
  std::string denied = {};                 // why the store refuses it for good; empty: it does not
  std::optional<RolloutJudge> judge = {};  // the judge's findings that are not written yet
  bool is_worse = false;                   // by that, the new version is
  std::string unjudged =
      {};  // why the judge does not let the batch be confirmed yet; empty: it does
};

struct WantLease {
  RolloutStep step = RolloutStep::prepare;
  Ms ttl_ms = 0;

  bool operator==(const WantLease&) const = default;
};

struct RolloutDecision {
  std::variant<Wait, WantLease, Write, Over> what = {};
  RolloutMarks marks = {};
};

[[nodiscard]] RolloutDecision decide(const RolloutView& view, const DriverFacts& facts, Ms now);

}  // namespace fleet

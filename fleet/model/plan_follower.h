// A member's part in a plan: what it does next, decided from the plan, from its own record, and
// from the hooks that it has run for this step since it was started.
//
//     at            while the plan runs, when the plan's step is its own
//     nothing       records that it takes part, by which version; again after its own upgrade
//     waiting       any: `check`, then it acts; one-at-a-time and once: the same, when it has the
//                   lock; together: `stop`, and it is stopped
//     stopped       acts when the plan says so, or migrates when it has the lock
//     acting        `act` (together: then `start`), `post`, and it waits at the next step;
//                   migrating: `migrate`, and it has migrated
//
// It records that it acts before it acts, in a transaction that compares the plan, and that this
// instance acts for the node: who has been stopped in that moment does not begin. A fleet-agent
// that is killed while it acts says `interrupted`; everything else it does again. A check that says
// no (1 to 125) skips the step; one that cannot be run, or is killed, fails it.
//
// An `act` that ends with 76 asks for a reboot. That is recorded with the boot that it was before,
// and ordered once, by the process that has recorded it: who finds the record in the same boot
// waits for the boot, and never orders another. In a later boot `start` and `post` follow.
//
// When the plan stops, a member that acts ends that first. A member that has stopped for a step in
// which no `act` has begun runs `start` and has resumed; each other stays as it is, halted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "fleet/model/plan_records.h"
#include "fleet/model/time.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The one exit status by which a migration says that it has failed and changed nothing.
inline constexpr int exit_nothing_changed = 75;
// The one by which an `act` asks for a reboot; `post` runs after the boot.
inline constexpr int exit_reboot_required = 76;
// As shells have it: from here on a hook could not be run, or was killed.
inline constexpr int exit_not_run = 126;

enum class HookVerb { check, stop, act, start, post, migrate, reboot };
[[nodiscard]] std::string_view text_of(HookVerb verb);

// The facts that a member knows.
struct FollowerFacts {
  std::string node = {};
  std::string plan = {};
  std::string version = {};  // of its fleet-agent
  std::string boot = {};     // which boot of the machine this is
  Revision active = 0;       // the record by which this instance acts for the node
  // Of the step and phase that its record says, by this process.
  std::map<HookVerb, int> done = {};
  bool began_to_act = false;  // this process has written that it acts
  std::string output = {};    // the last words of the last hook
};

struct RunHook {
  std::string hook = {};
  HookVerb verb = HookVerb::check;
  std::string step = {};     // its name
  std::string version = {};  // that the plan brings
  Ms timeout_ms = 0;         // it is killed then

  bool operator==(const RunHook&) const = default;
};
struct WriteMember {
  Transaction transaction = {};
  PlanMember member = {};

  bool operator==(const WriteMember&) const = default;
};
struct NothingToDo {
  bool operator==(const NothingToDo&) const = default;
};
using FollowerStep = std::variant<NothingToDo, RunHook, WriteMember>;

struct PlanSight {
  bool takes_part = false;
  Plan plan = {};
  Revision revision = 0;
  PlanMember own = {};  // as it was read
  Revision own_revision = 0;
};

// Called when a hook has ended, a transaction is known, or a record has changed; never while a hook
// runs. When its own record has another step or phase than before, `done` begins anew, but for
// `began_to_act`, which is set when its own transaction to act is committed.
[[nodiscard]] FollowerStep follow(const PlanSight& sight, const FollowerFacts& facts);

}  // namespace fleet

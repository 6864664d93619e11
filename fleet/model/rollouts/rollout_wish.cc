#include "fleet/model/rollouts/rollout_wish.h"

#include <algorithm>

#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

using agent_protocol::Refusal;
using agent_protocol::Result;

constexpr std::string_view not_begun = ", before it began";

bool is_told_to_abort(const Rollout& rollout) {
  return rollout.order == RolloutOrder::abort || rollout.order == RolloutOrder::abort_and_leave;
}

Result<WishedRollout> refuse(const Rollout& rollout) {
  return Refusal{"it is " + std::string(text_of(rollout.state))};
}

Result<WishedRollout> pause(Rollout rollout) {
  if (rollout.state == RolloutState::paused) return WishedRollout{.words = "is paused, as before"};
  if (rollout.state != RolloutState::rolling) return refuse(rollout);
  rollout.order = RolloutOrder::pause;
  return WishedRollout{rollout, false, "begins no other batch"};
}

Result<WishedRollout> resume(Rollout rollout) {
  const bool is_to_pause = rollout.order == RolloutOrder::pause;
  if (rollout.state == RolloutState::rolling && !is_to_pause)
    return WishedRollout{.words = "is rolling, as before"};
  if (rollout.state != RolloutState::rolling && rollout.state != RolloutState::paused)
    return refuse(rollout);
  if (is_to_pause) rollout.order = RolloutOrder::none;
  rollout.state = RolloutState::rolling;
  rollout.reason.clear();
  return WishedRollout{rollout, true, "goes on"};
}

// Returns the rollout's record with the order to abort the rollout, which the driver will carry
// out. A rollout in the state `created` has no driver, so this function sets its state to `aborted`
// directly. The order is refused if the rollout is completed, or if its undo has begun.
Result<WishedRollout> abort(Rollout rollout, bool leave) {
  const RolloutOrder order = leave ? RolloutOrder::abort_and_leave : RolloutOrder::abort;
  const bool is_too_late = rollout.state == RolloutState::completed ||
                           rollout.state == RolloutState::undoing ||
                           rollout.state == RolloutState::undone;
  if (is_too_late || rollout.state == RolloutState::unknown) return refuse(rollout);
  if (rollout.state == RolloutState::aborted || rollout.order == order)
    return WishedRollout{.words = "is aborted, as before"};
  if (rollout.state == RolloutState::created) {
    rollout.state = RolloutState::aborted;
    rollout.reason = asked_for(rollout).append(not_begun);
    return WishedRollout{rollout, false, "will not begin"};
  }
  rollout.order = order;
  return WishedRollout{rollout, false, "will be aborted"};
}

// Returns the rollout's record with a person's order to undo the rollout. A rollout that is under
// way is aborted first.
Result<WishedRollout> undo(Rollout rollout, bool at_once) {
  if (rollout.terms.no_undo) {
    return Refusal{rollout.terms.version + " says that nothing can take it back (\"undo\": false)"};
  }
  const bool is_told = rollout.undo && (rollout.undo_now || !at_once);
  rollout.undo = true;
  rollout.undo_now = rollout.undo_now || at_once;
  switch (rollout.state) {
    case RolloutState::unknown:
    case RolloutState::created:
    case RolloutState::undone:
      return refuse(rollout);
    case RolloutState::rolling:
    case RolloutState::paused:
    case RolloutState::baking:
      rollout.order = RolloutOrder::abort;
      [[fallthrough]];
    case RolloutState::aborting:
      if (is_told) return WishedRollout{.words = "will be undone, as ordered before"};
      return WishedRollout{rollout, false, "will be aborted and undone"};
    case RolloutState::undoing:
      if (is_told) return WishedRollout{.words = "is being undone, as before"};
      return WishedRollout{rollout, false, "is being undone, now with all batches at once"};
    case RolloutState::completed:
    case RolloutState::aborted:
      if (rollout.batches == 0) return refuse(rollout);
      begin_undo(rollout);
      return WishedRollout{rollout, false, "will be undone"};
  }
  return refuse(rollout);
}

}  // namespace

void begin_undo(Rollout& rollout) {
  rollout.state = RolloutState::undoing;
  rollout.phase = BatchPhase::unknown;
  rollout.batch = std::min(rollout.batch, rollout.batches - 1);
  rollout.wish_refused = false;
}

std::string asked_for(const Rollout& rollout) {
  return "asked for" + (rollout.ordered_by.empty() ? "" : " by " + rollout.ordered_by);
}

Result<WishedRollout> wished(const Rollout& rollout, RolloutWish wish, bool leave) {
  const bool goes_on = wish == RolloutWish::pause || wish == RolloutWish::resume;
  if (goes_on && is_told_to_abort(rollout)) {
    return Refusal{"it is told to abort"};
  }
  switch (wish) {
    case RolloutWish::pause:
      return pause(rollout);
    case RolloutWish::resume:
      return resume(rollout);
    case RolloutWish::abort:
      return abort(rollout, leave);
    case RolloutWish::undo:
    case RolloutWish::undo_now:
      return undo(rollout, wish == RolloutWish::undo_now);
  }
  return refuse(rollout);
}

Result<OrderedRollout> ordered(std::string_view id, const KeyValue& found, RolloutWish wish,
                               bool leave, const std::string& who) {
  const auto record = read_record<Rollout>(found.value);
  if (!record) return record.refusal();
  auto wanted = wished(record.value(), wish, leave);
  if (!wanted) return wanted.refusal();
  OrderedRollout all{.words = wanted.value().words};
  if (!wanted.value().rollout) return all;
  Rollout& rollout = *wanted.value().rollout;
  rollout.ordered_by = who;
  if (rollout.state == RolloutState::aborted) rollout.reason = asked_for(rollout).append(not_begun);
  if (rollout.state == RolloutState::undoing) rollout.reason = "undo " + asked_for(rollout);
  const std::string key = key_of(KeyKind::rollout, {id});
  all.transaction = {.compares = {{.key = key, .revision = found.modified}},
                     .puts = {{key, write_record(rollout)}}};
  if (wanted.value().begins) all.transaction->compares.push_back({.key = key_of(KeyKind::stop)});
  return all;
}

}  // namespace fleet

// A step of the supervisor: what an operator asks by the control directory.
#include <utility>

#include "upgrader/core/step.h"
#include "upgrader/core/words.h"

namespace upgrader {

using agent_protocol::Stage;

void Step::take(const ControlRequested& event) {
  const ControlRequest& request = event.request;
  if (request.deed == Deed::upgrade) return upgrade_by_control(request);
  const std::string refusal = why_not(request);
  answer(request.name, request.deed, refusal);
  if (refusal.empty()) obey(request);
}

void Step::upgrade_by_control(const ControlRequest& request) {
  ++state_.control_reloads;
  if (const std::optional<std::string> busy = why_busy()) {
    answer(request.name, Deed::upgrade, *busy);
    if (request.upgrade.executable.empty()) restore_link_unless_waiting();
    return;
  }
  begin_upgrade(request.upgrade, Origin::control, request.name);
}

// Returns why the request cannot be obeyed, or an empty text.
std::string Step::why_not(const ControlRequest& request) const {
  if (request.deed == Deed::shutdown) return "";
  if (shutting_down()) return *why_busy();
  if (!state_.upgrade || state_.upgrade->id != request.upgrade.id) {
    return "no upgrade of this id is under way";
  }
  const Phase phase = phase_of(state_);
  const bool at_the_gate = phase == Phase::confirming;
  switch (request.deed) {
    case Deed::confirm:
      return at_the_gate ? "" : "it does not wait to be confirmed";
    case Deed::cancel:
      return why_not_cancel(phase);
    case Deed::commit:
    case Deed::rollback:
      return phase == Phase::trial ? "" : "no agent of it is on trial";
    case Deed::upgrade:
    case Deed::shutdown:
      break;
  }
  return "";
}

std::string Step::why_not_cancel(Phase phase) const {
  if (state_.upgrade->failure) return "it has failed already";
  if (state_.upgrade->boot)
    return "it goes back to the previous version: there is no other to keep";
  if (phase == Phase::preparing || phase == Phase::confirming) return "";
  if (phase == Phase::trial) return "its agent is on trial: ask for a rollback instead";
  if (phase == Phase::replacing) return "the old agent has stopped: it cannot be kept any more";
  return "the active agent has been told to stop: only that agent can cancel it now";
}

void Step::obey(const ControlRequest& request) {
  const std::string why = words::behind_colon(request.reason);
  switch (request.deed) {
    case Deed::confirm:
      return open_gate();
    case Deed::cancel:
      return fail_upgrade(Stage::cancel, "cancelled by the control directory{}"_with(why));
    case Deed::commit:
      return commit();
    case Deed::rollback:
      return fail_upgrade(Stage::trial, "rolled back by the control directory{}"_with(why));
    case Deed::shutdown:
      return take(StopRequested{});
    case Deed::upgrade:
      return;
  }
}

// An empty refusal: what was asked for has been begun.
void Step::answer(const std::string& name, Deed deed, std::string_view refusal) {
  actions_.emplace_back(Answer{name, deed, std::string(refusal)});
  if (refusal.empty()) return;
  notice(0, NoticeKind::request, words::request_refused(name, name_of(deed), refusal));
}

// Answers the operator's request for the upgrade under way, unless it has been answered.
void Step::answer_upgrade(std::string_view refusal) {
  const std::string name = std::exchange(state_.upgrade->unanswered_name, {});
  if (!name.empty()) answer(name, Deed::upgrade, refusal);
}

}  // namespace upgrader

// A step of the supervisor: the way of an upgrade.
#include <utility>

#include "agent-protocol/cpp/wire/names.h"
#include "upgrader/core/step.h"
#include "upgrader/core/terms.h"
#include "upgrader/core/words.h"

namespace upgrader {

using agent_protocol::Mode;
using agent_protocol::Role;
using agent_protocol::Stage;
using agent_protocol::StopReason;

void Step::take(const Checked& event) {
  if (!expect(Pending::check)) return;
  UpgradeUnderWay& upgrade = *state_.upgrade;
  if (!event.way_back) {
    refuse_upgrade({"",
                    "nothing to go back to: the path of the running script no longer names "
                    "the file that runs"});
    return;
  }
  upgrade.program = event.program;
  if (policy_.relink && upgrade.names_agent) return order(Pending::link_back, PutLinkBack{});
  start_upgrade();
}

void Step::take(const LinkPutBack&) {
  if (!expect(Pending::link_back)) return;
  start_upgrade();
}

void Step::take(const LinkNotPutBack& event) {
  if (!expect(Pending::link_back)) return;
  refuse_upgrade(event.trouble);
}

// The executable is fit, and the link, if it names it, has been put back: only a commit moves it.
void Step::start_upgrade() {
  UpgradeUnderWay& upgrade = *state_.upgrade;
  if (upgrade.terms.mode == Mode::parallel) {
    order_spawn(Role::candidate, *upgrade.program, state_.last_generation + 1);
    return;
  }
  upgrade.generation = ++state_.last_generation;
  tell_accepted();
  pass_gate();
}

void Step::take(const CheckFailed& event) {
  if (!expect(Pending::check)) return;
  refuse_upgrade(event.trouble);
}

void Step::take(const RelinkProved&) {
  if (!expect(Pending::relink_proof)) return;
  tell_stop_for_upgrade();
}

void Step::take(const RelinkProofFailed& event) {
  if (!expect(Pending::relink_proof)) return;
  fail_upgrade(Stage::commit, event.trouble.reason, event.trouble.errno_name);
}

void Step::take(const Relinked&) {
  if (!expect(Pending::relink)) return;
  tell_committed();
}

void Step::take(const RelinkFailed& event) {
  if (!expect(Pending::relink)) return;
  fail_upgrade(Stage::commit, event.trouble.reason, event.trouble.errno_name);
}

void Step::take(const UpgradeRequested&) {
  agent_protocol::Upgrade request;
  request.id = "sigusr2-{}"_with(++state_.upgrade_signals);
  if (const std::optional<std::string> busy = why_busy()) {
    log(LogLevel::warning, "upgrade {} refused: {}"_with(request.id, *busy));
    restore_link_unless_waiting();
    return;
  }
  begin_upgrade(request, Origin::signal);
}

std::optional<std::string> Step::why_busy() const {
  if (shutting_down()) return "busy: the upgrader is stopping";
  if (state_.upgrade) return "busy: upgrade {} is under way"_with(state_.upgrade->id);
  if (state_.candidate) return "busy: the standby of the last upgrade has not ended yet";
  if (!state_.incumbent || !state_.incumbent->activated) return "busy: no agent is active yet";
  return std::nullopt;
}

void Step::begin_upgrade(const agent_protocol::Upgrade& request, Origin origin,
                         std::string_view name) {
  const Agent& active = *state_.incumbent;
  state_.last_failure.reset();
  state_.upgrade = UpgradeUnderWay{};
  UpgradeUnderWay& upgrade = *state_.upgrade;
  upgrade.id = request.id;
  upgrade.origin = origin;
  upgrade.names_agent = request.executable.empty();
  upgrade.unanswered_name = name;
  upgrade.terms = terms_of(request, policy_.defaults, origin == Origin::agent);
  upgrade.previous = active.program;
  upgrade.previous_version = active.version;
  upgrade.known_to_agent = origin == Origin::agent;
  if (const std::optional<std::string> contradiction = contradiction_in(upgrade.terms)) {
    refuse_upgrade({"", *contradiction});
    return;
  }
  Check check{std::nullopt, request.args, active.program};
  if (!upgrade.names_agent) check.executable = request.executable;
  order(Pending::check, std::move(check));
}

void Step::tell_accepted() {
  const UpgradeUnderWay& upgrade = *state_.upgrade;
  log(LogLevel::info,
      "upgrade {} accepted, {}, to generation {}"_with(
          upgrade.id, agent_protocol::name_of(upgrade.terms.mode), *upgrade.generation));
  answer_upgrade("");
  if (upgrade.origin != Origin::agent) return;
  send(*state_.incumbent, agent_protocol::Accepted{upgrade.id, *upgrade.generation});
}

void Step::wait_for_confirm() {
  UpgradeUnderWay& upgrade = *state_.upgrade;
  upgrade.waits_for_confirm = true;
  upgrade.deadline = deadline_after(now_, upgrade.terms.confirm_timeout);
  log(LogLevel::info,
      "{} is ready; upgrade {} waits to be confirmed"_with(*state_.candidate, upgrade.id));
  // The operator who has requested the upgrade confirms it.
  if (upgrade.origin == Origin::control) return;
  upgrade.known_to_agent = true;
  send(*state_.incumbent,
       agent_protocol::CandidateReady{upgrade.id, *upgrade.generation, upgrade.version});
}

void Step::open_gate() {
  state_.upgrade->waits_for_confirm = false;
  state_.upgrade->deadline.reset();
  if (has_closed(*state_.candidate)) return;  // it fails as soon as its close grace is over
  pass_gate();
}

void Step::pass_gate() {
  if (policy_.relink) {
    order(Pending::relink_proof, ProveRelink{*state_.upgrade->program});
    return;
  }
  tell_stop_for_upgrade();
}

void Step::tell_stop_for_upgrade() {
  state_.upgrade->known_to_agent = true;
  tell_stop(*state_.incumbent, StopReason::upgrade, state_.upgrade->terms.stop_timeout);
}

void Step::commit() {
  state_.upgrade->deadline.reset();
  if (policy_.relink) {
    order(Pending::relink, Relink{*state_.upgrade->program, !state_.upgrade->boot});
    return;
  }
  tell_committed();
}

void Step::tell_committed() {
  const UpgradeUnderWay& upgrade = *state_.upgrade;
  log(LogLevel::info, "{} has passed; upgrade {} is committed"_with(*state_.incumbent, upgrade.id));
  send(*state_.incumbent, agent_protocol::Committed{upgrade.id, *upgrade.generation});
  record_ending(Outcome::committed);
  state_.lasted = true;
  if (upgrade.boot) {
    state_.last_failure = upgrade.boot->failure;
  } else {
    forget_attempts();  // the link names another executable now, which may be one that had failed
  }
  state_.upgrade.reset();
  if (state_.candidate && !state_.candidate->killed) kill(*state_.candidate);
}

}  // namespace upgrader

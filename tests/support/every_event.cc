#include "tests/support/every_event.h"

#include <cerrno>
#include <csignal>
#include <utility>

namespace upgrader::test {
namespace {

using namespace agent_protocol;

// Returns requests for an upgrade: one for each combination of members that the supervisor treats
// differently.
std::vector<std::pair<std::string, Upgrade>> every_upgrade() {
  std::vector<std::pair<std::string, Upgrade>> requests;
  const auto add = [&](const std::string& name, auto change) {
    Upgrade upgrade{.id = "u1", .executable = "/opt/agent-v2"};
    change(upgrade);
    requests.emplace_back("upgrade u1" + name, upgrade);
  };
  add("", [](Upgrade&) {});
  add(" continue trial=0", [](Upgrade& upgrade) {
    upgrade.on_unclean_stop = UncleanStop::carry_on;
    upgrade.trial_ms = 0;
  });
  add(" confirm gate=5000", [](Upgrade& upgrade) {
    upgrade.gate = Gate::confirm;
    upgrade.confirm_timeout_ms = 5000;
  });
  add(" confirm start=0", [](Upgrade& upgrade) {
    upgrade.gate = Gate::confirm;
    upgrade.start_timeout_ms = 0;
  });
  add(" healthy", [](Upgrade& upgrade) { upgrade.commit = CommitRule::healthy; });
  add(" healthy trial=0", [](Upgrade& upgrade) {
    upgrade.commit = CommitRule::healthy;
    upgrade.trial_ms = 0;
  });
  add(" sequential", [](Upgrade& upgrade) { upgrade.mode = Mode::sequential; });
  add(" sequential continue", [](Upgrade& upgrade) {
    upgrade.mode = Mode::sequential;
    upgrade.on_unclean_stop = UncleanStop::carry_on;
  });
  return requests;
}

std::vector<std::pair<std::string, AgentMessage>> every_message() {
  std::vector<std::pair<std::string, AgentMessage>> messages{
      {"hello", Hello{}},
      {"hello-readiness", Hello{.version = std::nullopt, .features = {"readiness"}}},
      {"ready", Ready{}},
      {"unfit broken", Unfit{"broken"}},
      {"confirm u1", Confirm{"u1"}},
      {"confirm sigusr2-1", Confirm{"sigusr2-1"}},
      {"confirm u0", Confirm{"u0"}},
      {"cancel u1", Cancel{"u1", std::nullopt}},
      {"cancel sigusr2-1", Cancel{"sigusr2-1", std::nullopt}},
      {"cancel u0", Cancel{"u0", "why not"}},
      {"stopped left", Stopped{"left"}},
      {"healthy", Healthy{}},
      {"extend 60000", Extend{60'000}},
      {"heartbeat", Heartbeat{}},
      {"status fine", Status{"fine"}},
  };
  for (auto& [name, upgrade] : every_upgrade())
    messages.emplace_back(name, upgrade);
  return messages;
}

void add_events_of(Generation generation, std::vector<NamedEvent>& events) {
  const std::string who = std::to_string(generation) + " ";
  for (const auto& [name, message] : every_message()) {
    events.push_back({who + name, MessageReceived{generation, message, false}});
  }
  for (const auto& [name, message] :
       {std::pair<std::string, AgentMessage>{"stopped", Stopped{"left"}},
        {"unfit broken", Unfit{"broken"}},
        {"ready", Ready{}}}) {
    events.push_back({who + "last-word " + name + "\n" + who + "exits 0",
                      MessageReceived{generation, message, true},
                      ProcessExited{generation, {Ending::How::exited, 0}}});
  }
  events.push_back({who + "unknown hullo", MessageRefused{generation, Unknown{"hullo"}}});
  events.push_back({who + "malformed upgrade u2",
                    MessageRefused{generation, Malformed{"upgrade", "bad", "u2"}}});
  events.push_back({who + "malformed extend",
                    MessageRefused{generation, Malformed{"extend", "bad", std::nullopt}}});
  events.push_back({who + "stray oops", StrayReceived{generation, "oops"}});
  events.push_back({who + "closes output", OutputClosed{generation}});
  events.push_back({who + "closes input", InputClosed{generation}});
  events.push_back({who + "takes activate", ActivateWritten{generation}});
  events.push_back({who + "exits 0", ProcessExited{generation, {Ending::How::exited, 0}}});
  events.push_back(
      {who + "exits signal 9", ProcessExited{generation, {Ending::How::signalled, 9}}});
}

}  // namespace

std::vector<NamedEvent> every_event(const State& state, bool of_one_gone) {
  std::vector<NamedEvent> events;
  if (state.last_generation == 0) events.push_back({"start", StartRequested{1, std::nullopt}});
  if (state.incumbent) add_events_of(state.incumbent->generation, events);
  if (state.candidate) add_events_of(state.candidate->generation, events);
  // Adds late events about an agent that has exited. The events name a generation that never
  // existed. The supervisor cannot tell the difference, since it forgets every agent that has
  // exited.
  if (of_one_gone) add_events_of(state.last_generation + 7, events);
  events.push_back({"sigterm", StopRequested{}});
  events.push_back({"sigquit", QuitRequested{}});
  events.push_back({"sigusr2", UpgradeRequested{}});
  events.push_back({"sighup", SignalReceived{SIGHUP}});
  return events;
}

std::vector<NamedEvent> every_control_event(const State& state) {
  const std::string id = state.upgrade ? state.upgrade->id : "u1";
  std::vector<NamedEvent> events;
  const auto add = [&](const std::string& name, Deed deed, const std::string& of, auto change) {
    ControlRequest request{.deed = deed, .name = "r1", .upgrade = {}, .reason = {}};
    request.upgrade.id = of;
    change(request.upgrade);
    events.push_back({"control " + name, ControlRequested{std::move(request)}});
  };
  const auto as_it_is = [](Upgrade&) {};
  add("upgrade u1 agent", Deed::upgrade, "u1", as_it_is);
  add("upgrade u1", Deed::upgrade, "u1",
      [](Upgrade& upgrade) { upgrade.executable = "/opt/agent-v2"; });
  add("upgrade u1 confirm", Deed::upgrade, "u1", [](Upgrade& upgrade) {
    upgrade.executable = "/opt/agent-v2";
    upgrade.gate = Gate::confirm;
  });
  for (const Deed deed : {Deed::confirm, Deed::cancel, Deed::commit, Deed::rollback}) {
    const std::string name(name_of(deed));
    add(name + " " + id, deed, id, as_it_is);
    add(name + " u0", deed, "u0", as_it_is);
  }
  add("shutdown", Deed::shutdown, "", as_it_is);
  return events;
}

std::vector<NamedEvent> every_start_at_boot() {
  return {{"start exhausted", StartRequested{1, "it did not last"}},
          {"start refused 127", StartRefused{{"it is not there", ENOENT}, 127}}};
}

std::vector<NamedEvent> every_outcome(const State& state) {
  const Outcome refused{.refused = Refusal{"the test wants it so", EIO}};
  Outcome not_executable = refused;
  not_executable.not_executable = true;
  switch (state.pending) {
    case Pending::nothing:
      return {};
    case Pending::check:
      return {{"", Outcome{.program = 2}},
              {"next way back is gone", Outcome{.program = 2, .way_back = false}},
              {"next check fails EIO", refused}};
    case Pending::way_back:
      return {{"", Outcome{.program = 3}}, {"next boot has no way back", refused}};
    case Pending::link_back:
      return {{"", Outcome{}}, {"next link back fails EIO", refused}};
    case Pending::spawn:
      return {{"", Outcome{}},
              {"next spawn fails EIO", not_executable},
              {"next spawn fails EAGAIN", refused}};
    case Pending::relink_proof:
      return {{"", Outcome{}}, {"next proof fails EIO", refused}};
    case Pending::relink:
      return {{"", Outcome{}}, {"next relink fails EIO", refused}};
    case Pending::activate:
      return {{"", Outcome{}},
              {"next activate waits", Outcome{.sent = Sent::waits}},
              {"next activate is lost", Outcome{.sent = Sent::lost}}};
  }
  return {};
}

}  // namespace upgrader::test

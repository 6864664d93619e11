// Every state that the supervisor can reach, by every event in every order, under the policies that
// change what it does; and canaries: faults that the exploration must find.
#include <catch2/catch.hpp>
#include <iostream>

#include "tests/explore/explorer.h"

namespace {

using namespace upgrader;
using namespace upgrader::test;

template <class Kind>
std::size_t kind() {
  return Event(Kind{}).index();
}

// Whether something in this phase can make an event of this kind happen.
bool may_happen(Phase phase, std::size_t event) {
  const bool nothing_is_due = phase == Phase::running || phase == Phase::ended;
  if (event == kind<DeadlinePassed>()) return !nothing_is_due;
  if (event == kind<StartRequested>()) return phase == Phase::starting;
  return event < kind<Checked>() || event > kind<RelinkFailed>();
}

// Explores a supervisor whose steps go wrong as told, and returns the first violation.
std::string first_violation(const StepFunction& faulty) {
  const Exploration walk = explore(explored_policy(1), faulty, 1);
  return walk.violations.empty() ? "" : walk.violations.front();
}

}  // namespace

TEST_CASE("no order of events breaks an invariant") {
  const int which = GENERATE(range(0, policies));

  const Exploration walk = explore(explored_policy(which));

  for (const std::string& violation : walk.violations)
    FAIL_CHECK(violation);
  CHECK(walk.running_states > 0);
  std::cout << "report: explored " << walk.states << " states, " << walk.edges << " edges, "
            << walk.cells.size() << " cells of phase and event" << name_of_policy(which) << "\n";
}

TEST_CASE("every event that may happen in a phase is explored in it") {
  const Exploration walk = explore(explored_policy(1));

  for (int phase = 0; phase <= static_cast<int>(Phase::ended); ++phase) {
    for (std::size_t event = 0; event < std::variant_size_v<Event>; ++event) {
      const Phase its = static_cast<Phase>(phase);
      if (!may_happen(its, event)) continue;
      INFO("phase " << name_of(its) << ", event kind " << event);
      CHECK(walk.cells.contains({its, event}));
    }
  }
}

TEST_CASE("canary: an activation before the other agent has gone is found") {
  const std::string violation =
      first_violation([](Supervisor& supervisor, const Event& event, Time now) {
        Actions actions = supervisor.step(event, now);
        const auto* message = std::get_if<MessageReceived>(&event);
        const bool stopped = message != nullptr && !message->posthumous &&
                             std::holds_alternative<agent_protocol::Stopped>(message->message) &&
                             supervisor.phase() == Phase::switching &&
                             supervisor.state().candidate && supervisor.state().incumbent->stopped;
        if (!stopped) return actions;
        const Generation active = supervisor.state().incumbent->generation;
        const Actions more = supervisor.step(ProcessExited{active, {Ending::How::exited, 0}}, now);
        actions.insert(actions.end(), more.begin(), more.end());
        return actions;
      });

  CHECK(violation.find("S1: two agents are active") != std::string::npos);
}

TEST_CASE("canary: a start after SIGTERM is found") {
  const std::string violation =
      first_violation([](Supervisor& supervisor, const Event& event, Time now) {
        State state = supervisor.state();
        const bool rolling_back = phase_of(state) == Phase::shutting_down && state.incumbent &&
                                  state.incumbent->activated && !state.candidate;
        Actions actions = supervisor.step(event, now);
        if (!rolling_back || !state.shutdown || !std::holds_alternative<ProcessExited>(event)) {
          return actions;
        }
        actions.insert(actions.begin(), Spawn{99, 1});
        return actions;
      });

  CHECK(violation.find("S8") != std::string::npos);
}

TEST_CASE("canary: an answer that is not given is found") {
  const std::string violation =
      first_violation([](Supervisor& supervisor, const Event& event, Time now) {
        Actions actions = supervisor.step(event, now);
        std::erase_if(actions, [](const Action& action) {
          const auto* send = std::get_if<Send>(&action);
          return send != nullptr &&
                 std::holds_alternative<agent_protocol::UpgradeFailed>(send->message);
        });
        return actions;
      });

  CHECK(violation.find("Answers") != std::string::npos);
}

TEST_CASE("canary: a kill of the agent that serves is found") {
  const std::string violation =
      first_violation([](Supervisor& supervisor, const Event& event, Time now) {
        Actions actions = supervisor.step(event, now);
        for (Action& action : actions) {
          auto* kill = std::get_if<Kill>(&action);
          if (kill != nullptr && supervisor.state().incumbent) {
            kill->generation = supervisor.state().incumbent->generation;
          }
        }
        return actions;
      });

  CHECK(violation.find("S5") != std::string::npos);
}

// Explores every state that the supervisor can reach, by every event in every order, under each set
// of options that changes its decisions. Then runs canaries: bugs that are injected into the
// supervisor, and that the exploration must find.
#include <catch2/catch.hpp>
#include <functional>
#include <iostream>

#include "tests/decisions/explore/explorer.h"
#include "tests/decisions/explore/walks.h"
#include "tests/support/scenario.h"
#include "tests/support/source_directory.h"
#include "tests/support/temporary_directory.h"

namespace explore_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;

// Prints a line for the table of results. The line says whether the exploration has found a bug
// that this test has injected. If the bug was not found, the test fails.
void tell_canary(const char* what, bool caught) {
  std::cout << "canary: V1 | " << what << " | " << (caught ? "caught" : "MISSED") << "\n";
  CHECK(caught);
}

// Explores a supervisor whose steps are made by the function `faulty`. Returns the first violation
// that the exploration finds.
std::string first_violation(const StepFunction& faulty, int policy = 1) {
  const Exploration walk = explore(explored_policy(policy), faulty, 1);
  return walk.violations.empty() ? "" : walk.violations.front();
}

}  // namespace

// `make check` leaves this test out, since second_table_test.cc explores the same states and makes
// the same checks, and an exploration takes long. second_table_test.cc also compares every step
// with the second table (an independent second description of the supervisor, in
// tests/decisions/explore/second_*).
TEST_CASE("no order of events breaks an invariant, and every event is met in every phase",
          "[.walk]") {
  check_walks(walk_all(), "V1");
}

TEST_CASE("canary: a table of phases that is wrong is found") {
  const std::string header = content_of(source_directory() + "/upgrader/core/supervisor.h");
  const std::set<PhaseStep> table = steps_of_table(header);
  const auto told_of = [&](const std::string& row, const std::string& sound,
                           const std::string& wrong) {
    std::string spoilt = header;
    const std::size_t at = spoilt.find(sound, spoilt.find("\n//   " + row + " "));
    REQUIRE(at != std::string::npos);
    return differences(steps_of_table(spoilt.replace(at, sound.size(), wrong)), table);
  };

  tell_canary(
      "a row of the table of phases that lacks a step",
      told_of("trial", "rolling_back", "something") ==
          std::vector<std::string>{"trial goes on to rolling_back, which the table does not have"});
  tell_canary(
      "a row of the table of phases with a step that is never taken",
      told_of("ended", "nothing", "running") ==
          std::vector<std::string>{"the table has ended go on to running, which it never does"});
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

  INFO(violation);
  tell_canary("an activation before the other agent has gone",
              violation.find("S1: two agents are active") != std::string::npos);
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

  INFO(violation);
  tell_canary("a start after SIGTERM", violation.find("S8") != std::string::npos);
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

  INFO(violation);
  tell_canary("an answer that is not given", violation.find("Answers") != std::string::npos);
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

  INFO(violation);
  tell_canary("a kill of the agent that serves", violation.find("S5") != std::string::npos);
}

TEST_CASE("canary: an agent that has not got its activate, and counts as active, is found") {
  struct Fault {
    const char* what;
    Sent mistaken;
    const char* found;
  };
  const Fault faults[]{
      {"an agent that was not reached counts as active", Sent::lost,
       "S1b: init is told that an agent is active that is not"},
      {"an activate that waits counts as read", Sent::waits,
       "S1b: init is told that an agent is active that is not"},
  };
  for (const Fault& fault : faults) {
    const std::string violation =
        first_violation([&fault](Supervisor& supervisor, const Event& event, Time now) {
          const auto* outcome = std::get_if<Outcome>(&event);
          const bool mistaken = outcome != nullptr && outcome->sent == fault.mistaken;
          return supervisor.step(mistaken ? Outcome{} : event, now);
        });

    INFO(violation);
    tell_canary(fault.what, violation.find(fault.found) != std::string::npos);
  }
}

TEST_CASE("canary: a state that is lost with an activate is found") {
  const std::string violation =
      first_violation([](Supervisor& supervisor, const Event& event, Time now) {
        Actions actions = supervisor.step(event, now);
        const auto* outcome = std::get_if<Outcome>(&event);
        if (outcome == nullptr || outcome->sent != Sent::lost) return actions;
        State state = supervisor.state();
        if (state.left_behind) state.left_behind->state.reset();
        supervisor = Supervisor(explored_policy(1), state);
        return actions;
      });

  INFO(violation);
  tell_canary("a state that is lost with an activate",
              violation.find("S1b: what the agent that was active last left") != std::string::npos);
}

TEST_CASE("canary: a deadline that is judged too early after a freeze, or never, is found") {
  struct Fault {
    const char* what;
    // Injects the bug into the supervisor's state. Returns false if this has not changed the state.
    bool (*fault)(State&);
  };
  const Fault faults[]{
      {"a deadline that is judged however late it comes",
       [](State& state) {
         for (const NamedDeadline& named : deadlines_of(state)) {
           if (*named.deadline) state.put_off.push_back(**named.deadline);
         }
         return true;
       }},
      {"a deadline that is put off again and again",
       [](State& state) { return !std::exchange(state.put_off, {}).empty(); }},
  };
  for (const Fault& fault : faults) {
    const std::string violation =
        first_violation([&fault](Supervisor& supervisor, const Event& event, Time now) {
          State state = supervisor.state();
          const bool passes = std::holds_alternative<DeadlinePassed>(event);
          if (passes && fault.fault(state)) supervisor = Supervisor(explored_policy(1), state);
          return supervisor.step(event, now);
        });

    INFO(violation);
    tell_canary(fault.what, violation.find("is not put off once") != std::string::npos);
  }
}

TEST_CASE("canary: a gate that is never shut for being late is found") {
  const std::string violation =
      first_violation([](Supervisor& supervisor, const Event& event, Time now) {
        Actions actions = supervisor.step(event, now);
        if (supervisor.phase() != Phase::confirming) return actions;
        State state = supervisor.state();
        state.upgrade->deadline.reset();
        supervisor = Supervisor(explored_policy(1), state);
        return actions;
      });

  INFO(violation);
  tell_canary("a gate that is never shut for being late",
              violation.find("Time: nothing limits") != std::string::npos);
}

TEST_CASE("canary: heartbeats that are judged wrongly are found") {
  struct Fault {
    const char* what;
    std::function<void(State&)> fault;
    const char* found;
  };
  const Fault faults[]{
      {"a silence that is forgotten", [](State& state) { state.incumbent->silent = false; },
       "an agent that has fallen silent is vouched for"},
      {"a heartbeat that is waited for after the end of all work",
       [](State& state) {
         if (state.incumbent->told) state.incumbent->heartbeat_deadline = later;
       },
       "of one that is held, has stopped or is given up"},
  };
  for (const Fault& fault : faults) {
    const std::string violation = first_violation(
        [&fault](Supervisor& supervisor, const Event& event, Time now) {
          const Actions actions = supervisor.step(event, now);
          State state = supervisor.state();
          if (!std::holds_alternative<DeadlinePassed>(event) || !state.incumbent) return actions;
          fault.fault(state);
          supervisor = Supervisor(explored_policy(watchdog_policy), state);
          return actions;
        },
        watchdog_policy);

    INFO(violation);
    tell_canary(fault.what, violation.find(fault.found) != std::string::npos);
  }
}

TEST_CASE("canary: an agent that is silent on trial and is let be is found") {
  const std::string violation = first_violation(
      [](Supervisor& supervisor, const Event& event, Time now) {
        State state = supervisor.state();
        const bool missed = std::holds_alternative<DeadlinePassed>(event) &&
                            phase_of(state) == Phase::trial && state.incumbent &&
                            state.incumbent->heartbeat_deadline == Time(0);
        if (!missed) return supervisor.step(event, now);
        state.incumbent->heartbeat_deadline.reset();
        state.incumbent->silent = true;
        supervisor = Supervisor(explored_policy(watchdog_policy), state);
        return Actions{};
      },
      watchdog_policy);

  INFO(violation);
  tell_canary("an agent that is silent on trial and is let be",
              violation.find("silence on trial does not roll back") != std::string::npos);
}

TEST_CASE("canary: a violation is told as a scenario that leads to it again") {
  // The injected bug: when a deadline passes, the supervisor kills a wrong agent instead of the
  // late agent, and then waits forever for the late agent's exit.
  const StepFunction faulty = [](Supervisor& supervisor, const Event& event, Time now) {
    Actions actions = supervisor.step(event, now);
    for (Action& action : actions) {
      const auto* kill = std::get_if<Kill>(&action);
      const bool late = std::holds_alternative<DeadlinePassed>(event);
      if (kill != nullptr && late) action = Kill{kill->generation + 1};
    }
    return actions;
  };

  const Exploration walk = explore(explored_policy(1), faulty, 1);
  REQUIRE(walk.violations.size() == 1);
  const Story again = tell(explored_policy(1), walk.ways.front(), faulty);
  const ScenarioOutcome played = play(walk.violations.front());

  INFO(walk.violations.front());
  CHECK(played.mistakes.empty());
  REQUIRE(again.violations.size() == 1);
  CHECK(walk.violations.front() == "# " + again.violations.front() + "\n" + again.text);
  // The violation is a scenario with the answers of the faulty supervisor, such as the wrong
  // `kill`. `played.text` has the answers of the real supervisor to the same events. So the two
  // texts are equal up to the wrong `kill`, and differ there.
  CHECK(played.text != walk.violations.front());
  const std::size_t fault = walk.violations.front().rfind("> kill 2");
  REQUIRE(fault != std::string::npos);
  CHECK(played.text.substr(0, fault) == walk.violations.front().substr(0, fault));
  tell_canary("a violation whose story, played again, shows the fault",
              played.text.substr(fault, 8) == "> kill 1");
}

TEST_CASE("the ways of the exploration can be played as scenarios, and end where it says") {
  const int policy = GENERATE(3, watchdog_policy);
  Map map;
  (void)explore(explored_policy(policy), plain_step, 1, nullptr, &map);
  std::size_t told = 0;
  for (std::size_t at = 0; at < map.moves.size(); at += 997) {
    if (!map.moves[at].whole) continue;
    std::vector<Move> moves = way_to(map, map.moves[at].from);
    moves.push_back(map.moves[at]);

    const Story story = tell(explored_policy(policy), moves, plain_step);
    const ScenarioOutcome played = play(story.text);

    INFO(story.text);
    CHECK(played.mistakes.empty());
    CHECK(played.text == story.text);
    CHECK(story.violations.empty());
    if (story.text.find("# the rest") == std::string::npos) ++told;
  }
  CHECK(told > 300);
}

}  // namespace explore_test

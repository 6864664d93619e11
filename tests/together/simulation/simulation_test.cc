// Runs a small fixed set of seeds, and checks that a seed always gives the same run. As canaries,
// this test runs supervisors with a bug, which random runs must find. The long run, with more
// canaries, is `make simulate`: it also leads runs along the exploration's maps of the supervisor's
// states.
#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/decisions/explore/explorer.h"
#include "tests/together/simulation/rehearsal.h"
#include "tests/together/simulation/run.h"

namespace simulation_test {

namespace {

using namespace upgrader;
using namespace upgrader::simulation;

std::string trace_of(std::uint64_t seed) {
  std::string trace;
  (void)run_seed(seed, {.trace = &trace});
  return trace;
}

// Runs the seeds from 1 to `seeds` until a run breaks a rule. Returns that rule, or "" if no run
// breaks a rule.
std::string verdict_of(const StepFunction& faulty, std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const RunOutcome outcome = run_seed(seed, {.step = &faulty});
    if (!outcome.verdict.empty()) return outcome.verdict;
  }
  return "";
}

template <class Message>
bool says(const Event& event) {
  const auto* received = std::get_if<MessageReceived>(&event);
  return received != nullptr && !received->posthumous &&
         std::holds_alternative<Message>(received->message);
}

}  // namespace

TEST_CASE("no seed of a fixed set breaks a rule, and upgrades of every kind of ending occur") {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    const RunOutcome outcome = run_seed(seed);
    INFO("make simulate SEED=" << seed << " TRACE=1");
    CHECK(outcome.verdict == "");
    tally.add(outcome.tally);
  }

  CHECK(tally.committed > tally.runs);
  CHECK(tally.failed > 0);
  CHECK(tally.rolled_back > 0);
  CHECK(tally.stood_by > 0);
  CHECK(tally.cut_short > 0);
  CHECK(tally.requests > tally.granted);
  CHECK(tally.granted > 0);
  CHECK(tally.useful > tally.runs / 4);
}

TEST_CASE("a seed is the same run each time, byte for byte") {
  for (const std::uint64_t seed : {1U, 2U, 3U, 77U, 1'234U}) {
    const std::string trace = trace_of(seed);

    CHECK(trace.size() > 100);
    CHECK(trace_of(seed) == trace);
  }
  CHECK(trace_of(1) != trace_of(2));
}

TEST_CASE("canary: an `activate` that comes an event too early is found") {
  const std::string verdict = verdict_of(
      [](Supervisor& supervisor, const Event& event, Time now) {
        Actions actions = supervisor.step(event, now);
        const State& state = supervisor.state();
        if (!says<agent_protocol::Stopped>(event) || phase_of(state) != Phase::switching ||
            !state.candidate) {
          return actions;
        }
        const Actions more = supervisor.step(ProcessExited{state.incumbent->generation, {}}, now);
        actions.insert(actions.end(), more.begin(), more.end());
        return actions;
      },
      200);

  CHECK(verdict.find("S1") != std::string::npos);
}

TEST_CASE("guided seeds are counted without a gap, whatever number of goals there is") {
  std::uint64_t counted = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    if (!is_guided(seed)) continue;
    ++counted;
    CHECK(guided_up_to(seed) == counted);
  }
  CHECK(counted == 75);
}

TEST_CASE("a way can be gone with limits that let its deadlines pass in its order") {
  const auto step = [](test::Speaker who, test::EventKind what) {
    return test::class_for(who, what);
  };
  Sheet sheet;
  sheet.first_move = {0, 1, 2, 2};
  test::Move start{.from = 0, .to = 1, .whole = true, .length = 2};
  start.steps[0] = step(test::Speaker::nobody, test::EventKind::start);
  start.steps[1] = step(test::Speaker::nobody, test::EventKind::spawned);
  test::Move says_nothing{.from = 1, .to = 2, .whole = true, .length = 1};
  says_nothing.steps[0] = step(test::Speaker::incumbent, test::EventKind::hello_limit);
  sheet.map.moves = {start, says_nothing};
  const auto can_be_gone = [&](Duration start_timeout) {
    Policy policy;
    policy.defaults.start_timeout = start_timeout;
    const SaidTimes said;
    Random random(1);
    return Rehearsal(sheet, policy, said, random).run({0, 1});
  };

  // This map has two moves: the start of an agent, and then the event that the five seconds for its
  // `hello` have passed. If the start timeout is shorter than five seconds, the upgrader ends the
  // agent before that. So a run can make both moves only with a longer start timeout.
  CHECK(can_be_gone(Duration(60'000)));
  CHECK_FALSE(can_be_gone(Duration(1'000)));
}

TEST_CASE("canary: an upgrade that never ends is found") {
  const std::string verdict = verdict_of(
      [](Supervisor& supervisor, const Event& event, Time now) {
        if (says<agent_protocol::Healthy>(event)) return Actions{};
        if (std::holds_alternative<DeadlinePassed>(event) && supervisor.phase() == Phase::trial) {
          return Actions{};
        }
        return supervisor.step(event, now);
      },
      200);

  CHECK(verdict != "");
}

TEST_CASE("canary: a standby that is not told why it gets the work is found") {
  const std::string verdict = verdict_of(
      [](Supervisor& supervisor, const Event& event, Time now) {
        Actions actions = supervisor.step(event, now);
        for (Action& action : actions) {
          auto* send = std::get_if<Send>(&action);
          auto* activate = send ? std::get_if<agent_protocol::Activate>(&send->message) : nullptr;
          if (activate != nullptr) activate->failure.reset();
        }
        return actions;
      },
      2'000);

  CHECK(verdict.find("a fallback gets the work and is not told why") != std::string::npos);
}

TEST_CASE("canary: an operator who is answered twice is found") {
  const std::string verdict = verdict_of(
      [](Supervisor& supervisor, const Event& event, Time now) {
        Actions actions = supervisor.step(event, now);
        for (const Action& action : Actions(actions)) {
          if (std::holds_alternative<Answer>(action)) actions.push_back(action);
        }
        return actions;
      },
      200);

  CHECK(verdict.find("Control: an answer to nobody, or a second") != std::string::npos);
}

TEST_CASE("canary: a standby that outlives the commit is found") {
  const std::string verdict = verdict_of(
      [](Supervisor& supervisor, const Event& event, Time now) {
        Actions actions = supervisor.step(event, now);
        const bool commits = std::any_of(actions.begin(), actions.end(), [](const Action& action) {
          const auto* send = std::get_if<Send>(&action);
          return send && std::holds_alternative<agent_protocol::Committed>(send->message);
        });
        if (commits) {
          std::erase_if(actions,
                        [](const Action& action) { return std::holds_alternative<Kill>(action); });
        }
        return actions;
      },
      2'000);

  CHECK(verdict.find("S9: a standby outlives the commit") != std::string::npos);
}

TEST_CASE("canary: a supervisor that gives an agent the state of another is found") {
  const std::string verdict = verdict_of(
      [](Supervisor& supervisor, const Event& event, Time now) {
        Actions actions = supervisor.step(event, now);
        for (Action& action : actions) {
          auto* send = std::get_if<Send>(&action);
          auto* activate = send ? std::get_if<agent_protocol::Activate>(&send->message) : nullptr;
          if (activate != nullptr && activate->state) activate->state = "another's";
        }
        return actions;
      },
      200);

  CHECK(verdict.find("a state is handed on") != std::string::npos);
}

}  // namespace simulation_test

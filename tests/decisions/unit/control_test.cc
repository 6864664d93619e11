// Tests how an operator's requests are obeyed and answered. The chronicle sees each request before
// the supervisor.
#include <catch2/catch.hpp>

#include "tests/decisions/unit/status_bench.h"
#include "upgrader/core/init_news.h"

namespace control_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;

ControlRequest request(Deed deed, const std::string& name, const std::string& id = "") {
  ControlRequest made{.deed = deed, .name = name, .upgrade = {}, .reason = {}};
  made.upgrade.id = id;
  return made;
}

// Passes an operator's requests to the chronicle, which judges them, and then to the supervisor.
// Both belong to a StatusBench.
class Office {
 public:
  Actions ask(ControlRequest asked) {
    const auto event = bench->chronicle().judge(std::move(asked));
    return event ? (*bench).take(*event) : Actions{};
  }
  PastRequest latest() { return bench->chronicle().requests().front(); }

  struct Benched {
    StatusBench bench;
    Bench& operator*() { return *bench; }
    StatusBench* operator->() { return &bench; }
  } bench;
};

}  // namespace

TEST_CASE("an upgrade without an id gets one, which leaves out those that are known") {
  Office office;
  (*office.bench).reach(Phase::running);
  (*office.bench).upgrade("control-1");
  (*office.bench).exit(2, 1);

  office.ask(request(Deed::upgrade, "r1"));

  CHECK((*office.bench).state().upgrade->id == "control-2");
  CHECK(office.latest().ok);

  Office fresh;
  (*fresh.bench).reach(Phase::running);
  fresh.ask(request(Deed::upgrade, "r1"));
  CHECK((*fresh.bench).state().upgrade->id == "control-1");
}

TEST_CASE("a request whose name has its answer is not obeyed again") {
  Office office;
  (*office.bench).reach(Phase::running);
  office.ask(request(Deed::upgrade, "r1"));
  (*office.bench).exit(2, 1);

  CHECK(office.ask(request(Deed::upgrade, "r1")).empty());
  CHECK((*office.bench).phase() == Phase::running);
  CHECK(office.bench->chronicle().requests().size() == 1);
}

TEST_CASE("an upgrade whose id is known is not begun again, and what became of it is told") {
  Office office;
  (*office.bench).reach(Phase::running);
  office.ask(request(Deed::upgrade, "r1", "u1"));

  office.ask(request(Deed::upgrade, "r2", "u1"));
  CHECK(office.latest().ok);
  CHECK(office.latest().reason == "under way");

  (*office.bench).exit(2, 3);
  office.ask(request(Deed::upgrade, "r3", "u1"));
  CHECK(office.latest().ok);
  CHECK(office.latest().reason.find("kept: exited with status 3") == 0);
  CHECK((*office.bench).phase() == Phase::running);
}

TEST_CASE("an id that was refused may be used again") {
  Office office;
  (*office.bench).reach(Phase::running);
  (*office.bench).next_check_fails("ENOENT");
  office.ask(request(Deed::upgrade, "r1", "u1"));
  CHECK_FALSE(office.latest().ok);

  office.ask(request(Deed::upgrade, "r2", "u1"));
  CHECK(office.latest().ok);
  CHECK(office.latest().reason.empty());
  CHECK((*office.bench).phase() == Phase::preparing);
}

TEST_CASE("status.json has the last sixteen requests, the newest first") {
  Office office;
  (*office.bench).reach(Phase::running);
  for (int i = 1; i <= 20; ++i)
    office.ask(request(Deed::commit, "r" + std::to_string(i), "u1"));

  const auto& requests = office.bench->chronicle().requests();
  CHECK(requests.size() == 16);
  CHECK(requests.front().name == "r20");
  CHECK(requests.back().name == "r5");
  CHECK(office.bench->news().find(
            R"("requests":[{"request":"r20","type":"commit","ok":false,"reason":"no upgrade)") !=
        std::string::npos);
}

TEST_CASE("the gate of an operator's upgrade is his alone") {
  Office office;
  (*office.bench).reach(Phase::running);
  ControlRequest gated = request(Deed::upgrade, "r1", "u1");
  gated.upgrade.gate = agent_protocol::Gate::confirm;
  office.ask(gated);
  const Actions ready = (*office.bench).ready(2);
  CHECK(messages_to(ready, 1).empty());

  const Actions by_agent = (*office.bench).say(1, agent_protocol::Confirm{"u1"});
  CHECK(messages_to(by_agent, 1) == std::vector<std::string>{"error"});
  CHECK((*office.bench).phase() == Phase::confirming);

  const Actions by_operator = office.ask(request(Deed::confirm, "r2", "u1"));
  CHECK(messages_to(by_operator, 1) == std::vector<std::string>{"stop"});
  CHECK((*office.bench).violations().empty());
}

TEST_CASE("an operator opens the gate of an agent's upgrade, too") {
  Office office;
  (*office.bench).reach(Phase::confirming);

  const Actions actions = office.ask(request(Deed::confirm, "r1", "u1"));

  CHECK(messages_to(actions, 1) == std::vector<std::string>{"stop"});
}

TEST_CASE("a cancel that comes too late is refused with what is so at that moment") {
  const auto [phase, reason] = GENERATE(table<Phase, const char*>(
      {{Phase::switching,
        "the active agent has been told to stop: only that agent can cancel it now"},
       {Phase::replacing, "the old agent has stopped: it cannot be kept any more"},
       {Phase::trial, "its agent is on trial: ask for a rollback instead"},
       {Phase::abandoning, "it has failed already"},
       {Phase::rolling_back, "it has failed already"},
       {Phase::falling_back, "it has failed already"}}));
  Office office;
  (*office.bench).reach(phase);

  office.ask(request(Deed::cancel, "r1", "u1"));

  CHECK_FALSE(office.latest().ok);
  CHECK(office.latest().reason == reason);
  CHECK((*office.bench).phase() == phase);
}

TEST_CASE("the way back at boot cannot be cancelled") {
  Policy policy = Bench::default_policy();
  policy.previous = true;
  Bench bench(policy);
  bench.start();
  bench.exit(1, 1);

  const Actions actions = bench.take(ControlRequested{request(Deed::cancel, "r1", "boot")});

  REQUIRE(actions.size() == 2);
  CHECK(std::get<Answer>(actions.front()).refusal ==
        "it goes back to the previous version: there is no other to keep");
  CHECK(bench.phase() == Phase::falling_back);
}

TEST_CASE("a roll-back that an operator asks for says why, and is told to the fallback") {
  Office office;
  (*office.bench).reach(Phase::trial);
  ControlRequest asked = request(Deed::rollback, "r1", "u1");
  asked.reason = "too slow";

  const Actions actions = office.ask(asked);

  CHECK(messages_to(actions, 2) == std::vector<std::string>{"stop"});
  CHECK((*office.bench).state().upgrade->failure->stage == agent_protocol::Stage::trial);
  CHECK((*office.bench).state().upgrade->failure->reason ==
        "rolled back by the control directory: too slow");
}

TEST_CASE("init is told of an operator's upgrade as of SIGUSR2") {
  Office office;
  (*office.bench).reach(Phase::running);
  CHECK_FALSE(init_news((*office.bench).state()).reloading);

  office.ask(request(Deed::upgrade, "r1"));

  CHECK(init_news((*office.bench).state()).reloading);
  CHECK(init_news((*office.bench).state()).reloads == 1);
}

// The fleet's agents rely on the refusal `busy`, and on the name of the phase `running`: see
// fleet/agent/pending_request.h.
TEST_CASE("an upgrade is refused as busy in each phase but `running`") {
  for (const Phase phase : every_phase()) {
    if (phase == Phase::ended) continue;  // an upgrader that has ended answers nobody
    INFO(name_of(phase));
    Office office;
    (*office.bench).reach(phase);

    office.ask(request(Deed::upgrade, "r1", "u2"));

    CHECK(office.latest().ok == (name_of(phase) == "running"));
    CHECK(office.latest().reason.starts_with("busy") == !office.latest().ok);
  }
}

TEST_CASE("a shutdown is a SIGTERM, and everything else is refused afterwards") {
  Office office;
  (*office.bench).reach(Phase::trial);
  office.ask(request(Deed::shutdown, "r1"));
  CHECK(office.latest().ok);
  CHECK((*office.bench).phase() == Phase::shutting_down);

  for (const Deed deed :
       {Deed::upgrade, Deed::confirm, Deed::cancel, Deed::commit, Deed::rollback}) {
    office.ask(request(deed, "r2-" + std::string(name_of(deed)), "u2"));
    CHECK_FALSE(office.latest().ok);
    CHECK(office.latest().reason == "busy: the upgrader is stopping");
  }
  office.ask(request(Deed::shutdown, "r3"));
  CHECK(office.latest().ok);
}

}  // namespace control_test

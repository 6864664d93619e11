// Tests the agent's C++ interface. The C++ interface is a thin layer over the C interface. So this
// file tests only the additions of the C++ interface, and the calls that no other test uses.
#include "agent-protocol/agent.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "tests/decisions/unit/agent_bench.h"

namespace agent_cpp_test {

using namespace bench;
using agent_protocol::Agent;
using namespace std::chrono_literals;

namespace {

std::string text_of(const std::optional<std::string>& text) {
  return text ? *text : "none";
}

template <class Number>
std::string text_of(const std::optional<Number>& number) {
  return number ? std::to_string(*number) : "none";
}

std::string text_of(const std::optional<Agent::Milliseconds>& time) {
  return time ? std::to_string(time->count()) + "ms" : "none";
}

std::string words_of(const Agent::Failure& failure) {
  return failure.id + " " + failure.stage + " " + failure.reason + " " + text_of(failure.version) +
         " " + text_of(failure.errno_name) + " " + text_of(failure.exit_status) + " " +
         text_of(failure.signal);
}

struct Words {
  std::string operator()(const Agent::Welcome& welcome) const {
    return "welcome " + std::to_string(welcome.generation) + " " +
           std::to_string(static_cast<int>(welcome.role)) + " " +
           text_of(welcome.previous_version) + " " + text_of(welcome.watchdog) + " " +
           (welcome.failure ? words_of(*welcome.failure) : "none");
  }
  std::string operator()(const Agent::Activate& activated) const {
    return std::string("activate ") + (activated.clean ? "clean " : "unclean ") +
           text_of(activated.state) +
           (activated.failure ? " " + words_of(*activated.failure) : "") +
           (activated.trial ? " trial " + text_of(activated.trial) : "") +
           (activated.commit == Agent::CommitRule::healthy ? " healthy" : "") +
           (activated.commit == Agent::CommitRule::survive ? " survive" : "");
  }
  std::string operator()(const Agent::Stop& stop) const {
    return "stop " + std::to_string(static_cast<int>(stop.reason)) + " " + text_of(stop.deadline) +
           " " + text_of(stop.id) + " " + text_of(stop.generation);
  }
  std::string operator()(const Agent::Accepted& accepted) const {
    return "accepted " + accepted.id + " " + std::to_string(accepted.generation);
  }
  std::string operator()(const Agent::CandidateReady& candidate) const {
    return "candidate_ready " + candidate.id + " " + std::to_string(candidate.generation) + " " +
           text_of(candidate.version);
  }
  std::string operator()(const Agent::CandidateLost& candidate) const {
    return "candidate_lost " + candidate.id + " " + candidate.reason;
  }
  std::string operator()(const Agent::UpgradeFailed& failed) const {
    return "upgrade_failed " + words_of(failed.failure);
  }
  std::string operator()(const Agent::Committed& committed) const {
    return "committed " + committed.id + " " + std::to_string(committed.generation);
  }
  std::string operator()(const Agent::Error& error) const {
    return "error " + text_of(error.about) + " " + error.reason;
  }
};

std::string words_of(const Agent::Event& event) {
  return std::visit(Words(), event);
}

Agent open_agent() {
  std::optional<Agent> agent = Agent::open("1.2");
  if (!agent) ::_exit(98);
  return *std::move(agent);
}

Agent::Upgrade upgrade_named(const std::string& id) {
  return {.id = id, .executable = "/agent-2"};
}

}  // namespace

TEST_CASE("a candidate's story, in C++") {
  Upgrader upgrader([] {
    Agent agent = open_agent();
    const bool added = agent.add_check("one", [] {
      report("checked");
      return std::optional<std::string>();
    });
    if (!added || !agent.ready()) return 1;
    for (int i = 0; i < 5; ++i)
      report(words_of(agent.wait()));
    report(agent.stopped("position 9") ? "stopped" : agent.error());
    return 0;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  upgrader.say(R"({"type":"welcome","protocol":1,"features":[],"generation":2,)"
               R"("role":"candidate","previous_version":"1","watchdog_ms":5000})");
  CHECK(upgrader.hears() == R"({"type":"ready"})");
  upgrader.say(R"({"type":"activate","clean":true,"state":"position 7","trial_ms":30000,)"
               R"("commit":"survive"})");
  upgrader.say(R"({"type":"committed","id":"u1","generation":2})");
  upgrader.say(R"({"type":"error","reason":"no"})");
  upgrader.say(stop_shutdown);

  CHECK(upgrader.is_reported() == "checked");
  CHECK(upgrader.is_reported() == "welcome 2 2 1 5000ms none");
  CHECK(upgrader.is_reported() == "activate clean position 7 trial 30000ms survive");
  CHECK(upgrader.is_reported() == "committed u1 2");
  CHECK(upgrader.is_reported() == "error none no");
  CHECK(upgrader.is_reported() == "stop 3 90000ms none none");
  CHECK(upgrader.is_reported() == "stopped");
  CHECK(upgrader.hears() == R"({"type":"stopped","state":"position 9"})");
}

TEST_CASE("an active agent's story, in C++") {
  Upgrader upgrader([] {
    Agent agent = open_agent();
    if (!agent.ready()) return 1;
    while (!std::holds_alternative<Agent::Activate>(agent.wait())) {
    }
    report(agent.request_upgrade(upgrade_named("u1")) ? "requested" : agent.error());
    report(agent.request_upgrade(upgrade_named("u2")) ? "requested" : agent.error());
    report(words_of(agent.wait()));
    report(words_of(agent.wait()));
    report(agent.confirm("u1") ? "confirmed" : agent.error());
    report(words_of(agent.wait()));
    report(words_of(agent.wait()));
    report(agent.cancel("u1", "no candidate") ? "cancelled" : agent.error());
    report(words_of(agent.wait()));
    report(agent.next() || agent.wait(1ms) ? "an event" : "nothing");
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "requested");
  CHECK(upgrader.is_reported() == "cannot request upgrade u2: upgrade u1 has been requested");
  CHECK(upgrader.hears() == R"({"type":"upgrade","id":"u1","executable":"/agent-2"})");
  upgrader.say(R"({"type":"accepted","id":"u1","generation":2})");
  CHECK(upgrader.is_reported() == "accepted u1 2");
  upgrader.say(R"({"type":"candidate_ready","id":"u1","generation":2,"version":"2"})");
  CHECK(upgrader.is_reported() == "candidate_ready u1 2 2");
  CHECK(upgrader.is_reported() == "confirmed");
  CHECK(upgrader.hears() == R"({"type":"confirm","id":"u1"})");
  upgrader.say(R"({"type":"stop","reason":"upgrade","deadline_ms":9,"id":"u1","generation":2})");
  CHECK(upgrader.is_reported() == "stop 1 9ms u1 2");
  upgrader.say(R"({"type":"candidate_lost","id":"u1","reason":"exited"})");
  CHECK(upgrader.is_reported() == "candidate_lost u1 exited");
  CHECK(upgrader.is_reported() == "cancelled");
  CHECK(upgrader.hears() == R"({"type":"cancel","id":"u1","reason":"no candidate"})");
  upgrader.say(R"({"type":"upgrade_failed","id":"u1","stage":"cancel","reason":"r","signal":9})");
  CHECK(upgrader.is_reported() == "upgrade_failed u1 cancel r none none none 9");
  CHECK(upgrader.is_reported() == "nothing");
}

TEST_CASE("all that may be asked of an upgrade is sent, in C++") {
  Upgrader upgrader([] {
    Agent agent = open_agent();
    if (!agent.ready()) return 1;
    while (!std::holds_alternative<Agent::Activate>(agent.wait())) {
    }
    return agent.request_upgrade({.id = "u1",
                                  .executable = "/agent-2",
                                  .args = {{"--config", ""}},
                                  .mode = Agent::Mode::sequential,
                                  .gate = Agent::Gate::none,
                                  .commit = Agent::CommitRule::healthy,
                                  .on_unclean_stop = Agent::UncleanStop::carry_on,
                                  .start_timeout = 1ms,
                                  .confirm_timeout = 2s,
                                  .stop_timeout = 3min,
                                  .trial = 4ms,
                                  .fallback = Agent::Fallback::warm})
               ? 0
               : 1;
  });

  upgrader.lead_to_active();

  CHECK(upgrader.hears() ==
        R"({"type":"upgrade","id":"u1","executable":"/agent-2","args":["--config",""],)"
        R"("mode":"sequential","gate":"none","commit":"healthy","start_timeout_ms":1,)"
        R"("confirm_timeout_ms":2000,"stop_timeout_ms":180000,"trial_ms":4,)"
        R"("on_unclean_stop":"continue","fallback":"warm"})");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("a check that fails, and the small words, in C++") {
  Upgrader upgrader([] {
    Agent first = open_agent();
    Agent agent = std::move(first);
    agent.add_check("disk", [] { return std::optional<std::string>(std::string(3'000, 'x')); });
    const bool said = agent.extend(5s) && agent.status("checking") && !agent.heartbeat();
    if (!said || agent.ready() || agent.alone()) return 1;
    report(agent.error());
    return 0;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  CHECK(upgrader.hears() == R"({"type":"extend","ms":5000})");
  CHECK(upgrader.hears() == R"({"type":"status","text":"checking"})");
  CHECK(upgrader.hears() ==
        R"({"type":"unfit","reason":"disk: )" + std::string(1'024 - 9, 'x') + R"(..."})");
  CHECK(upgrader.is_reported() == "cannot say ready: disk: " + std::string(1'024 - 9, 'x') + "...");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("a fallback that stood by is told what made it necessary when it is activated, in C++") {
  Upgrader upgrader([] {
    Agent agent = open_agent();
    if (!agent.ready()) return 1;
    report(words_of(agent.wait()));
    report(words_of(agent.wait()));
    return 0;
  });

  upgrader.say(R"({"type":"welcome","protocol":1,"features":[],"generation":3,"role":"fallback"})");
  upgrader.say(R"({"type":"activate","clean":true,)"
               R"("failure":{"id":"u1","stage":"trial","reason":"r","signal":9,"version":"2"}})");

  CHECK(upgrader.is_reported() == "welcome 3 3 none none none");
  CHECK(upgrader.is_reported() == "activate clean none u1 trial r 2 none none 9");
}

TEST_CASE("a fallback agent is told what made it necessary, in C++") {
  Upgrader upgrader([] {
    Agent agent = open_agent();
    report(words_of(agent.wait()));
    return 0;
  });

  upgrader.say(R"({"type":"welcome","protocol":1,"features":[],"generation":3,"role":"fallback",)"
               R"("failure":{"id":"u1","stage":"spawn","reason":"r","errno":"ENOENT",)"
               R"("version":"2"}})");

  CHECK(upgrader.is_reported() == "welcome 3 3 none none u1 spawn r 2 ENOENT none none");
}

// ---- calls that no other test uses

namespace {

Agent active_agent() {
  std::optional<Agent> agent = Agent::open("1.2");
  if (!agent || !agent->ready()) ::_exit(98);
  while (!std::holds_alternative<Agent::Activate>(agent->wait())) {
  }
  return *std::move(agent);
}

}  // namespace

TEST_CASE("there is one agent at a time, in C++ too") {
  std::optional<Agent> agent = Agent::open();
  REQUIRE(agent);

  CHECK_FALSE(Agent::open("1.2"));
  CHECK(errno == EBUSY);
  CHECK(agent->fd() > STDERR_FILENO);
  CHECK(agent->alone());
  agent.reset();
  CHECK(Agent::open());
}

TEST_CASE("an agent that is held may say that it is unfit, in C++") {
  Upgrader upgrader([] {
    std::optional<Agent> agent = Agent::open("1.2");
    return agent && agent->unfit("no disk") ? 0 : 1;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  CHECK(upgrader.hears() == R"({"type":"unfit","reason":"no disk"})");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("an agent on trial may vouch for itself, and stop without a state, in C++") {
  Upgrader upgrader([] {
    Agent agent = active_agent();
    const bool said = agent.healthy() && agent.heartbeat();
    (void)agent.wait();
    return said && agent.stopped() ? 0 : 1;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  upgrader.say(R"({"type":"welcome","protocol":1,"features":[],"generation":2,)"
               R"("role":"candidate"})");
  CHECK(upgrader.hears() == R"({"type":"ready"})");
  upgrader.say(activate);
  CHECK(upgrader.hears() == R"({"type":"healthy"})");
  CHECK(upgrader.hears() == R"({"type":"heartbeat"})");
  upgrader.say(stop_shutdown);
  CHECK(upgrader.hears() == R"({"type":"stopped"})");
  CHECK(upgrader.exit_status() == 0);
}

namespace {

const std::string with_nul("one\0two", 7);

// Reports to the test that a call succeeded, or reports the call's error and whether errno is
// EINVAL.
void report_answer(const Agent& agent, bool answer) {
  report(answer ? "done" : std::string(errno == EINVAL ? "EINVAL: " : "") + agent.error());
  errno = 0;
}

}  // namespace

TEST_CASE("a text that holds U+0000 is refused, and never cut there, in C++") {
  Upgrader upgrader([] {
    report(!Agent::open(with_nul) && errno == EINVAL ? "EINVAL" : "opened");
    errno = 0;
    report(!Agent::open("1.2", {with_nul, "readiness"}) && errno == EINVAL ? "EINVAL" : "opened");
    Agent agent = active_agent();
    errno = 0;
    report_answer(agent, agent.add_check(with_nul, [] { return std::nullopt; }));
    report_answer(agent, agent.unfit(with_nul));
    report_answer(agent, agent.confirm(with_nul));
    report_answer(agent, agent.cancel(with_nul));
    report_answer(agent, agent.cancel("u1", with_nul));
    report_answer(agent, agent.status(with_nul));
    report_answer(agent, agent.request_upgrade({.id = with_nul, .executable = "/agent"}));
    report_answer(agent, agent.request_upgrade({.id = "u1", .executable = "/" + with_nul}));
    report_answer(agent, agent.request_upgrade(
                             {.id = "u1", .executable = "/agent", .args = {{"a", with_nul}}}));
    report_answer(agent, agent.status("one"));
    report_answer(agent, agent.healthy());
    (void)agent.wait();
    report_answer(agent, agent.stopped(with_nul));
    report_answer(agent, agent.stopped(std::string_view()));
    return 0;
  });

  CHECK(upgrader.is_reported() == "EINVAL");
  CHECK(upgrader.is_reported() == "EINVAL");
  upgrader.lead_to_active();
  for (const std::string deed :
       {"add a check", "say unfit", "confirm an upgrade", "cancel an upgrade", "cancel an upgrade",
        "show a status", "request an upgrade", "request an upgrade", "request an upgrade"})
    CHECK(upgrader.is_reported() == "EINVAL: cannot " + deed + ": a text of it holds U+0000");
  CHECK(upgrader.is_reported() == "done");
  CHECK(upgrader.is_reported() == "cannot say healthy: this agent is not on trial");
  upgrader.say(stop_shutdown);
  CHECK(upgrader.is_reported() ==
        "EINVAL: cannot say stopped: \"state\" holds U+0000 or a lone surrogate");
  CHECK(upgrader.is_reported() == "done");
  CHECK(upgrader.hears() == R"({"type":"status","text":"one"})");
  CHECK(upgrader.hears() == R"({"type":"stopped","state":""})");
}

TEST_CASE("what a check says that holds U+0000 is told whole, in C++") {
  Upgrader upgrader([] {
    std::optional<Agent> agent = Agent::open("1.2");
    agent->add_check("disk", [] { return std::optional<std::string>(with_nul); });
    return !agent->ready() && errno == EILSEQ ? 0 : 1;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  CHECK(upgrader.hears() == "{\"type\":\"unfit\",\"reason\":\"disk: one\xef\xbf\xbdtwo\"}");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("a state may be any text that C++ has") {
  const int kind = GENERATE(0, 1, 2, 3);
  Upgrader upgrader([kind] {
    Agent agent = active_agent();
    (void)agent.wait();
    if (kind == 0) return agent.stopped("line 7") ? 0 : 1;
    if (kind == 1) return agent.stopped(std::string("line 7")) ? 0 : 1;
    if (kind == 2) return agent.stopped(std::string_view("line 70").substr(0, 6)) ? 0 : 1;
    return agent.stopped(std::optional<std::string>("line 7")) ? 0 : 1;
  });

  upgrader.lead_to_active();
  upgrader.say(stop_shutdown);
  CHECK(upgrader.hears() == R"({"type":"stopped","state":"line 7"})");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("a negative time of an upgrade is refused, and is not the upgrader's default, in C++") {
  Upgrader upgrader([] {
    Agent agent = active_agent();
    for (const Agent::Milliseconds time : {-1ms, -2ms, Agent::Milliseconds::min()}) {
      const Agent::Upgrade upgrade{.id = "u1", .executable = "/agent", .trial = time};
      report_answer(agent, agent.request_upgrade(upgrade));
    }
    report_answer(agent, agent.extend(-1ms));
    return 0;
  });

  upgrader.lead_to_active();
  for (int time = 0; time < 3; ++time)
    CHECK_THAT(upgrader.is_reported(),
               Catch::StartsWith("EINVAL: cannot request upgrade u1: \"trial_ms\" is -"));
  CHECK(upgrader.is_reported() == "cannot extend the deadline: this agent is active");
}

TEST_CASE("every choice of an upgrade has its name, in C++") {
  Upgrader upgrader([] {
    Agent agent = active_agent();
    const bool asked = agent.request_upgrade({.id = "u1",
                                              .executable = "/agent-2",
                                              .mode = Agent::Mode::parallel,
                                              .gate = Agent::Gate::confirm,
                                              .commit = Agent::CommitRule::survive,
                                              .on_unclean_stop = Agent::UncleanStop::fall_back,
                                              .fallback = Agent::Fallback::cold});
    while (!std::holds_alternative<Agent::Accepted>(agent.wait())) {
    }
    return asked && agent.cancel("u1") ? 0 : 1;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.hears() ==
        R"({"type":"upgrade","id":"u1","executable":"/agent-2","mode":"parallel",)"
        R"("gate":"confirm","commit":"survive","on_unclean_stop":"fallback",)"
        R"("fallback":"cold"})");
  upgrader.say(R"({"type":"accepted","id":"u1","generation":2})");
  CHECK(upgrader.hears() == R"({"type":"cancel","id":"u1"})");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("what is there is told without waiting, in C++") {
  Upgrader upgrader([] {
    Agent agent = active_agent();
    report(agent.next() ? "an event" : "nothing");
    pollfd watched{.fd = agent.fd(), .events = POLLIN, .revents = 0};
    ::poll(&watched, 1, agent_patience_ms);
    const std::optional<Agent::Event> event = agent.next();
    report(event && std::holds_alternative<Agent::Error>(*event) ? "an error" : "something else");
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "nothing");
  upgrader.say(R"({"type":"error","about":"odd","reason":"no"})");
  CHECK(upgrader.is_reported() == "an error");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("features are said, and those that both have are told, in C++") {
  Upgrader upgrader([] {
    std::optional<Agent> agent = Agent::open("1.2", {"readiness", "odd"});
    if (!agent) return 1;
    const std::optional<Agent::Event> event = agent->wait(std::chrono::minutes(1));
    const auto* welcomed = event ? std::get_if<Agent::Welcome>(&*event) : nullptr;
    if (welcomed == nullptr) return 2;
    for (const std::string& feature : welcomed->features)
      report(feature);
    report(agent->wait(0ms) ? "an event" : "nothing");
    return 0;
  });

  CHECK(upgrader.hears() ==
        R"({"type":"hello","protocol":1,"version":"1.2","features":["readiness","odd"]})");
  upgrader.say(R"({"type":"welcome","protocol":1,"features":["readiness"],"generation":1,)"
               R"("role":"first"})");
  CHECK(upgrader.is_reported() == "readiness");
  CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.exit_status() == 0);
}

}  // namespace agent_cpp_test

// Tests the agent's C++ interface. This interface is a thin owner of the C interface, so only its
// additions are tested.
#include "agent-protocol/agent.h"

#include <catch2/catch.hpp>
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

}  // namespace agent_cpp_test

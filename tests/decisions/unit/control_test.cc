// Tests the control directory: how an operator's requests are parsed, obeyed and answered, and how
// soon and how often status.json is written. The test itself moves the clock. Each request goes
// first to the chronicle (the history of agents and requests), and then, if the chronicle has no
// answer to it, to the supervisor.
#include "upgrader/wire/control_request.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <string>

#include "tests/decisions/unit/control_desk.h"
#include "tests/decisions/unit/status_bench.h"
#include "tests/support/temporary_directory.h"
#include "upgrader/core/init_news.h"
#include "upgrader/shell/control_directory.h"

namespace control_test {

// ---- how the text of an operator's request is parsed

namespace {

using namespace upgrader;

ControlRequest read(const std::string& line) {
  const ControlLine decoded = decode_control_line(line);
  INFO(line);
  REQUIRE(std::holds_alternative<ControlRequest>(decoded));
  return std::get<ControlRequest>(decoded);
}

ControlRefused refused(const std::string& line) {
  const ControlLine decoded = decode_control_line(line);
  INFO(line);
  REQUIRE(std::holds_alternative<ControlRefused>(decoded));
  return std::get<ControlRefused>(decoded);
}

ControlRequest about(Deed deed, const std::string& name, const std::string& id,
                     std::optional<std::string> reason = std::nullopt) {
  ControlRequest request{.deed = deed, .name = name, .upgrade = {}, .reason = std::move(reason)};
  request.upgrade.id = id;
  return request;
}

}  // namespace

TEST_CASE("a request for an upgrade needs nothing but its type and its name") {
  CHECK(read(R"({"request":"r1","type":"upgrade"})") == about(Deed::upgrade, "r1", ""));
}

TEST_CASE("a request for an upgrade takes every term that an agent may give") {
  const auto request = read(
      R"({"type":"upgrade","request":"r1","id":"u1","executable":"/bin/true","args":["a",""],)"
      R"("mode":"parallel","gate":"confirm","commit":"healthy","start_timeout_ms":1,)"
      R"("confirm_timeout_ms":2,"stop_timeout_ms":3,"trial_ms":4,"on_unclean_stop":"continue",)"
      R"("fallback":"warm",)"
      R"("not known":[{}]})");

  CHECK(request.name == "r1");
  const agent_protocol::Upgrade& upgrade = request.upgrade;
  CHECK(upgrade.id == "u1");
  CHECK(upgrade.executable == "/bin/true");
  CHECK(upgrade.args == std::vector<std::string>{"a", ""});
  CHECK(upgrade.mode == agent_protocol::Mode::parallel);
  CHECK(upgrade.gate == agent_protocol::Gate::confirm);
  CHECK(upgrade.commit == agent_protocol::CommitRule::healthy);
  CHECK(upgrade.start_timeout_ms == 1);
  CHECK(upgrade.confirm_timeout_ms == 2);
  CHECK(upgrade.stop_timeout_ms == 3);
  CHECK(upgrade.trial_ms == 4);
  CHECK(upgrade.on_unclean_stop == agent_protocol::UncleanStop::carry_on);
  CHECK(upgrade.fallback == agent_protocol::FallbackMode::warm);
}

TEST_CASE("the other requests name the upgrade by its id, where there is one") {
  CHECK(read(R"({"type":"confirm","request":"r","id":"u"})") == about(Deed::confirm, "r", "u"));
  CHECK(read(R"({"type":"cancel","request":"r","id":"u","reason":"why"})") ==
        about(Deed::cancel, "r", "u", "why"));
  CHECK(read(R"({"type":"commit","request":"r","id":"u"})") == about(Deed::commit, "r", "u"));
  CHECK(read(R"({"type":"rollback","request":"r","id":"u"})") == about(Deed::rollback, "r", "u"));
  CHECK(read(R"({"type":"shutdown","request":"r"})") == about(Deed::shutdown, "r", ""));
}

TEST_CASE("members that a request has no use for are not looked at") {
  CHECK(read(R"({"type":"confirm","request":"r","id":"u","reason":5})") ==
        about(Deed::confirm, "r", "u"));
  CHECK(read(R"({"type":"commit","request":"r","id":"u","reason":5})") ==
        about(Deed::commit, "r", "u"));
  CHECK(read(R"({"type":"shutdown","request":"r","id":5,"reason":5})") ==
        about(Deed::shutdown, "r", ""));
}

TEST_CASE("a request that is malformed is refused under its name, with the member that is wrong") {
  CHECK(refused(R"({"type":"confirm","request":"r"})") ==
        ControlRefused{"r", "confirm", "\"id\" is missing"});
  CHECK(refused(R"({"type":"restart","request":"r"})") ==
        ControlRefused{"r", "restart", "this type of request is not known here"});
  CHECK(refused(R"({"type":"commit","request":"r","id":null})").reason.find("\"id\"") == 0);
  CHECK(refused(R"({"type":"commit","request":"r","id":"u","id":"u"})").reason.find("twice") !=
        std::string::npos);
  CHECK(refused(R"({"type":"upgrade","request":"r","executable":"true"})").reason ==
        "\"executable\" is no absolute path");
  CHECK(refused(R"({"type":"upgrade","request":"r","id":""})").reason.find("\"id\"") == 0);
  CHECK(refused(R"({"type":"upgrade","request":"r","trial_ms":1.0})").type == "upgrade");
  CHECK(
      refused(R"({"type":"upgrade","request":"r","gate":"confirm","mode":"sequential"})").reason ==
      R"("gate" is "confirm"; that needs "mode" to be "parallel")");
  CHECK(refused(R"({"type":")" + std::string(100, 'x') + R"(","request":"r"})").type.size() ==
        agent_protocol::about_bytes_max);
}

TEST_CASE("a line that can be answered to nobody is stray") {
  for (const char* line :
       {"", "x", "[]", R"({"request":"r"})", R"({"type":"confirm","id":"u"})",
        R"({"type":1,"request":"r"})", R"({"type":"commit","type":"commit","request":"r"})",
        R"({"type":"commit","request":""})", R"({"type":"commit","request":"r","request":"r"})",
        "{\"type\":\"commit\",\"request\":\"\xc3\xa4\"}"}) {
    INFO(line);
    CHECK(std::holds_alternative<ControlStray>(decode_control_line(line)));
  }
}

// ---- how requests are obeyed and answered

namespace {

using namespace upgrader::test;

ControlRequest request(Deed deed, const std::string& name, const std::string& id = "") {
  ControlRequest made{.deed = deed, .name = name, .upgrade = {}, .reason = {}};
  made.upgrade.id = id;
  return made;
}

// Passes an operator's requests to the chronicle (the history of agents and requests). If the
// chronicle has no answer to a request, passes the request on to the supervisor. Chronicle and
// supervisor are those of a StatusBench.
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

// The refusal `busy` and the name of the phase `running` must not change, because fleet-agent
// relies on them: see fleet/agent/pending_request.h.
TEST_CASE("an upgrade is refused as busy in each phase but `running`") {
  for (const Phase phase : every_phase()) {
    if (phase == Phase::ended) continue;  // the upgrader has ended, and reads no request
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

// ---- when status.json is written

namespace {

using namespace std::chrono_literals;

// A fixture whose control directory has been claimed, so that requests are read.
struct TakenDesk : Desk {
  TakenDesk() { REQUIRE(take()); }
};

}  // namespace

TEST_CASE("news are written at once, and the next after a tenth of a second") {
  TakenDesk desk;
  desk.reach(Phase::running);
  desk.settle(1s);
  CHECK(desk.says("running"));
  CHECK_FALSE(desk.control->next_deadline());

  desk.reach(Phase::preparing);
  desk.settle(1050ms);
  CHECK(desk.says("running"));
  CHECK(desk.control->next_deadline() == Time{1100ms});

  desk.settle(1100ms);
  CHECK(desk.says("preparing"));
  CHECK_FALSE(desk.control->next_deadline());
}

TEST_CASE("a status that says the same is not written again") {
  TakenDesk desk;
  desk.reach(Phase::running);
  desk.settle(1s);
  struct stat before {};
  REQUIRE(::stat((desk.directory / "ctl/status.json").c_str(), &before) == 0);

  desk.settle(2s);

  struct stat after {};
  REQUIRE(::stat((desk.directory / "ctl/status.json").c_str(), &after) == 0);
  CHECK(before.st_ino == after.st_ino);
}

TEST_CASE("while the active agent stops for another, news wait a tenth of a second") {
  TakenDesk desk;
  desk.reach(Phase::running);
  desk.settle(1s);
  desk.reach(Phase::switching);
  desk.settle(5s);

  CHECK(desk.says("running"));
  CHECK(desk.control->next_deadline() == Time{5100ms});

  desk.bench.stopped(1);
  desk.settle(5050ms);
  CHECK(desk.control->next_deadline() == Time{5100ms});
}

TEST_CASE("while somebody who is ready waits for the work, nothing is written and nobody wakes") {
  TakenDesk desk;
  desk.reach(Phase::switching);
  desk.settle(1s);
  desk.bench.stopped(1);
  desk.bench.next_activate(Sent::waits);
  desk.bench.exit(1);
  desk.settle(9s);

  CHECK(content_of(desk.directory / "ctl/status.json").empty());
  CHECK_FALSE(desk.control->next_deadline());

  desk.bench.take(ActivateWritten{2});
  desk.settle(9s);
  CHECK(desk.says("trial"));
}

TEST_CASE("the end is written without waiting for its tenth of a second") {
  TakenDesk desk;
  desk.reach(Phase::running);
  desk.settle(1s);
  desk.control->finish(State{}, 7);

  CHECK(desk.says("ended"));
  CHECK(content_of(desk.directory / "ctl/status.json").find(R"("exit_status":7)") !=
        std::string::npos);
  CHECK(::access((desk.directory / "ctl/control").c_str(), F_OK) != 0);
}

TEST_CASE("a control directory that is made can be used by its owner, whatever the umask is") {
  const TemporaryDirectory place;
  ControlDirectory control;

  const mode_t before = ::umask(0177);
  const std::string refused = control.open(place / "ctl");
  ::umask(before);

  CHECK(refused.empty());
  struct stat status {};
  REQUIRE(::stat((place / "ctl").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

}  // namespace control_test

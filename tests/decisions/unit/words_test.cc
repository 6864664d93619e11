// Tests texts for people: durations, endings of processes and of upgrades, system errors, and the
// status text for init in states that are rare or last only a moment. Also tests which exit status
// follows from the ending of a process, and which system errors count as a temporary shortage.
#include "upgrader/core/words.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <set>

#include "base/ending.h"
#include "base/errno_name.h"
#include "tests/support/bench.h"
#include "upgrader/core/init_news.h"

namespace words_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;
using agent_protocol::Stage;

std::string failed_at(Stage stage, const std::optional<Agent>& incumbent) {
  UpgradeUnderWay upgrade;
  upgrade.id = "u1";
  agent_protocol::Failure failure;
  failure.stage = stage;
  failure.reason = "so it is";
  return words::failed(upgrade, failure, incumbent);
}

Agent closed(bool output, bool late) {
  Agent agent;
  agent.greeted = true;
  agent.output_closed = output;
  agent.input_closed = !output;
  agent.activate_late = late;
  agent.allowed = Duration(30'000);
  return agent;
}

}  // namespace

TEST_CASE("a duration is said in the largest unit that fits, a minute in seconds") {
  CHECK(in_words(Duration(0)) == "0s");
  CHECK(in_words(Duration(1)) == "1ms");
  CHECK(in_words(Duration(1'000)) == "1s");
  CHECK(in_words(Duration(60'000)) == "60s");
  CHECK(in_words(Duration(120'000)) == "2m");
  CHECK(in_words(Duration(3'600'000)) == "1h");
  CHECK(in_words(Duration(3'660'000)) == "61m");
  CHECK(in_words(Duration(3'599'000)) == "3599s");
  CHECK(in_words(std::chrono::minutes(60'001)) == "60001m");
  CHECK(in_words(std::chrono::hours(3'600'000)) == "3600000h");
}

TEST_CASE("a failure says where the upgrade ended, and who goes on") {
  Agent held;
  held.generation = 1;
  Agent active = held;
  active.activated = true;

  CHECK(failed_at(Stage::shutdown, active) ==
        "so it is; upgrade u1 ended with the upgrader; generation 1 stays active");
  CHECK(failed_at(Stage::trial, std::nullopt) ==
        "so it is; upgrade u1 failed on trial; falling back");
  CHECK(failed_at(Stage::trial, held) == "so it is; upgrade u1 failed on trial; falling back");
}

TEST_CASE("only an agent that has neither stopped nor been killed may take its work back") {
  Agent told;
  told.generation = 1;
  told.activated = true;
  told.told = agent_protocol::StopReason::upgrade;
  Agent stopped = told, killed = told;
  stopped.stopped = true;
  killed.killed = true;

  CHECK(failed_at(Stage::start, told) ==
        "so it is; upgrade u1 failed at its start; generation 1 may still take its work back");
  CHECK(failed_at(Stage::start, stopped) ==
        "so it is; upgrade u1 failed at its start; falling back");
  CHECK(failed_at(Stage::start, killed) ==
        "so it is; upgrade u1 failed at its start; falling back");
}

TEST_CASE("an agent that closed a pipe is said to have closed that which counts") {
  CHECK(words::closed_its_pipe(closed(true, false)) == "closed its output before it was activated");
  CHECK(words::closed_its_pipe(closed(false, false)) == "closed its input before it was activated");
  CHECK(words::closed_its_pipe(closed(false, true)) == "did not read its activate within 30s");
  CHECK(words::closed_its_pipe(closed(true, true)) == "did not read its activate within 30s");
}

TEST_CASE("init is told of a candidate also in the moment in which it has no process") {
  Bench bench;
  bench.reach(Phase::running);
  Supervisor supervisor = bench.supervisor();
  (void)supervisor.step(MessageReceived{1, agent_protocol::Upgrade{.id = "u1"}, false},
                        bench.now());

  CHECK(init_news(supervisor.state()).status == "running generation 1; upgrade u1: starting");
}

// ---- how a process has ended: as text, and as the upgrader's exit status

namespace {

struct Row {
  Ending ending;
  const char* words;
  int status;
};

const Row rows[] = {
    {{Ending::How::exited, 0}, "exited with status 0", 0},
    {{Ending::How::exited, 3}, "exited with status 3", 3},
    {{Ending::How::signalled, SIGSEGV}, "was killed by signal 11 (SIGSEGV)", 139},
    {{Ending::How::signalled, 64}, "was killed by signal 64", 192},
    {{Ending::How::unknown, 0}, "ended in an unknown way", 125},
};

}  // namespace

TEST_CASE("an ending is told in words, and has an exit status") {
  for (const Row& row : rows) {
    INFO(row.words);
    CHECK(in_words(row.ending) == row.words);
    CHECK(exit_status_of(row.ending) == row.status);
  }
}

TEST_CASE("an ending that nobody has filled in is unknown") {
  CHECK(Ending{} == Ending{Ending::How::unknown, 0});
}

// ---- system errors as text, and which of them are shortages

TEST_CASE("an error is said in words, with its name; one without a name by its number") {
  CHECK(errno_name(ENOENT) == "ENOENT");
  CHECK(errno_name(ENOKEY) == "ENOKEY");
  CHECK(errno_name(9'999) == "E9999");
  CHECK(in_words(SystemError{EACCES}) == "Permission denied (EACCES)");
}

TEST_CASE("a lack of descriptors, memory or processes is a shortage, and nothing else is") {
  std::set<int> shortages;
  for (int error = 0; error < 200; ++error) {
    if (is_shortage(error)) shortages.insert(error);
  }

  CHECK(shortages == std::set<int>{EMFILE, ENFILE, ENOMEM, EAGAIN});
}

}  // namespace words_test

// Tests when `upgraderctl on` runs its command, which variables the command gets, and when
// `upgraderctl on` ends.
#include "tools/upgraderctl/core/occasions.h"

#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/together/upgraderctl/talk.h"
#include "tools/upgraderctl/core/options.h"

namespace occasions_test {

using namespace upgraderctl;
using namespace std::chrono_literals;

namespace {

Look look(const Status& status, std::optional<Status> previous = std::nullopt,
          Hearing hearing = Hearing::listens) {
  return Look{status, std::move(previous), true, hearing, 0, ""};
}

Ending ended(const std::string& id, const std::string& outcome) {
  Ending ending;
  ending.id = id;
  ending.outcome = outcome;
  ending.stage = outcome == "fell_back" ? "trial" : "";
  ending.reason = outcome == "fell_back" ? "exited with status 4" : "";
  ending.from = {"1.0", "/opt/agent/1.0"};
  ending.to = {"1.1", "/opt/agent/1.1"};
  return ending;
}

// Returns the status of an upgrader at rest that has these endings of upgrades, newest first.
Status with(std::vector<Ending> endings) {
  Status status = at_rest();
  status.endings = std::move(endings);
  return status;
}

Status another_life(std::vector<Ending> endings) {
  Status status = with(std::move(endings));
  status.upgrader.started = "2026-11-22T07:00:00.000Z";
  return status;
}

std::string value_of(const OccasionEnvironment& environment, const std::string& name) {
  for (const std::string& entry : environment) {
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  }
  return "not set";
}

// Passes a state of the control directory to `occasions`, which must not end `upgraderctl on`.
void show(Occasions& occasions, const Look& look, Duration now) {
  CHECK_FALSE(occasions.looked(look, now));
}

// Runs every command of `upgraderctl on` that is due. Returns one word for each command: its
// variable UPGRADER_ID, or UPGRADER_VERSION if the command gets no id.
std::string run_all(Occasions& occasions, Duration now) {
  std::string all;
  while (const auto environment = occasions.next(now)) {
    const std::string id = value_of(*environment, "UPGRADER_ID");
    all += (id == "not set" ? value_of(*environment, "UPGRADER_VERSION") : id) + " ";
    occasions.command_ended(true, now);
  }
  return all;
}

}  // namespace

TEST_CASE("an agent that has been active for the time is good, once in each life") {
  Occasions occasions(Occasion::good, 30s);
  show(occasions, look(with({})), 1s);
  CHECK(run_all(occasions, 1s).empty());
  CHECK(occasions.next_deadline() == 31s);
  show(occasions, look(with({})), 30s);
  CHECK(run_all(occasions, 30s).empty());

  show(occasions, look(with({})), 31s);

  CHECK(run_all(occasions, 31s) == "1.0 ");
  show(occasions, look(with({})), 90s);
  CHECK(run_all(occasions, 90s).empty());
  CHECK_FALSE(occasions.next_deadline());
  show(occasions, look(another_life({})), 100s);
  show(occasions, look(another_life({})), 130s);
  CHECK(run_all(occasions, 130s) == "1.0 ");
}

TEST_CASE("the time begins anew with each agent, and not while one is on trial or none runs") {
  Occasions occasions(Occasion::good, 30s);
  Status status = with({});
  show(occasions, look(status), 0s);
  status.active->generation = 2;
  show(occasions, look(status), 20s);
  CHECK(occasions.next_deadline() == 50s);
  status.phase = "trial";
  show(occasions, look(status), 49s);
  CHECK_FALSE(occasions.next_deadline());
  status.phase = "running";
  show(occasions, look(status), 60s);
  CHECK(occasions.next_deadline() == 90s);
  show(occasions, look(status, std::nullopt, Hearing::gone), 91s);
  CHECK(run_all(occasions, 91s).empty());
  show(occasions, Look{}, 92s);
  CHECK_FALSE(occasions.next_deadline());
}

TEST_CASE("a commit is good at once, and names the version that was committed") {
  Occasions occasions(Occasion::good, 30s);
  show(occasions, look(with({})), 0s);

  show(occasions, look(with({ended("u1", "committed")})), 1s);

  const auto environment = occasions.next(1s);
  REQUIRE(environment);
  CHECK(value_of(*environment, "UPGRADER_EVENT") == "good");
  CHECK(value_of(*environment, "UPGRADER_ID") == "u1");
  CHECK(value_of(*environment, "UPGRADER_VERSION") == "1.1");
  CHECK(value_of(*environment, "UPGRADER_OTHER_VERSION") == "1.0");
}

TEST_CASE("a commit of an upgrader that is not seen running is not good") {
  Occasions occasions(Occasion::good, 30s);
  const Status left_behind = with({ended("u1", "committed")});
  SECTION("it was killed, and another one follows") {
    show(occasions, look(left_behind, std::nullopt, Hearing::gone), 0s);
    CHECK(run_all(occasions, 0s).empty());
    show(occasions, look(another_life({}), left_behind), 1s);
    CHECK(run_all(occasions, 1s).empty());
  }
  SECTION("it has ended") {
    Status over = left_behind;
    over.ended = Ended{125, "", at(19)};
    show(occasions, look(over, std::nullopt, Hearing::gone), 0s);
    CHECK(run_all(occasions, 0s).empty());
  }
  SECTION("it answers after all") {
    show(occasions, look(left_behind, std::nullopt, Hearing::gone), 0s);
    show(occasions, look(left_behind), 1s);
    CHECK(run_all(occasions, 1s) == "u1 ");
  }
  SECTION("it was seen running before it committed and ended") {
    show(occasions, look(with({})), 0s);
    show(occasions, look(left_behind, std::nullopt, Hearing::gone), 1s);
    CHECK(run_all(occasions, 1s) == "u1 ");
  }
}

TEST_CASE("commits and fall-backs of both files are told, oldest first, and each once") {
  const Status before = another_life({ended("u2", "committed"), ended("u1", "fell_back")});
  const Status now =
      with({ended("u3", "fell_back"), ended("u2", "kept"), ended("u1", "committed")});
  Occasions commits(Occasion::commit, 30s);
  Occasions fallbacks(Occasion::fallback, 30s);

  show(commits, look(now, before), 0s);
  show(fallbacks, look(now, before), 0s);

  CHECK(run_all(commits, 0s) == "u2 u1 ");
  const auto first = fallbacks.next(0s);
  REQUIRE(first);
  CHECK(value_of(*first, "UPGRADER_VERSION") == "1.0");
  CHECK(value_of(*first, "UPGRADER_OTHER_EXECUTABLE") == "/opt/agent/1.1");
  CHECK(value_of(*first, "UPGRADER_STAGE") == "trial");
  CHECK(value_of(*first, "UPGRADER_REASON") == "exited with status 4");
  fallbacks.command_ended(true, 0s);
  CHECK(run_all(fallbacks, 0s) == "u3 ");
  show(commits, look(now, before), 1s);
  CHECK(run_all(commits, 1s).empty());
}

TEST_CASE("upgrades that are in both status files of one upgrader are reported once") {
  const Status status = with({ended("u1", "committed")});
  Occasions occasions(Occasion::commit, 30s);

  show(occasions, look(status, status), 0s);

  CHECK(run_all(occasions, 0s) == "u1 ");
}

TEST_CASE("each of two upgrades for which an agent chose the same id is reported") {
  Ending first = ended("update", "committed");
  first.accepted = at(10);
  Ending second = first;
  second.accepted = at(20);
  Occasions occasions(Occasion::commit, 30s);

  show(occasions, look(with({first})), 0s);
  CHECK(run_all(occasions, 0s) == "update ");

  show(occasions, look(with({second, first})), 1s);
  CHECK(run_all(occasions, 1s) == "update ");
}

TEST_CASE("a command that fails is run again, and later occasions wait for it") {
  Occasions occasions(Occasion::commit, 30s);
  show(occasions, look(with({ended("u1", "committed")})), 0s);
  CHECK(occasions.next(0s));
  CHECK_FALSE(occasions.next(0s));
  occasions.command_ended(false, 5s);
  show(occasions, look(with({ended("u2", "committed"), ended("u1", "committed")})), 6s);
  CHECK_FALSE(occasions.next(6s));
  CHECK(occasions.next_deadline() == 15s);

  CHECK(run_all(occasions, 15s) == "u1 u2 ");
}

TEST_CASE("of too many occasions the oldest waiting one is dropped, and not the running one") {
  Occasions occasions(Occasion::commit, 30s);
  const auto commit = [&](int number) {
    show(occasions, look(with({ended("u" + std::to_string(number), "committed")})), 0s);
  };
  commit(0);
  CHECK(occasions.next(0s));
  for (int i = 1; i <= 70; ++i)
    commit(i);

  occasions.command_ended(true, 0s);

  const std::string all = run_all(occasions, 0s);
  CHECK(all.starts_with("u8 u9 "));
  CHECK(all.ends_with(" u70 "));
}

Look unreadable(int error_number) {
  return Look{std::nullopt, std::nullopt, true, Hearing::unknown, error_number, "trouble"};
}

TEST_CASE("only missing rights end the command if the status cannot be read") {
  Occasions occasions(Occasion::good, 30s);
  show(occasions, look(with({})), 0s);
  show(occasions, unreadable(0), 10s);
  show(occasions, unreadable(ENOENT), 20s);
  const int error_number = GENERATE(EACCES, EPERM);
  show(occasions, unreadable(error_number), 30s);
  CHECK(occasions.next_deadline() == 35s);

  const std::optional<Finish> refused = occasions.looked(unreadable(error_number), 35s);

  CHECK(refused == Finish{exit_refused, "trouble"});
}

TEST_CASE(
    "a directory that is given to the caller only after it was made does not end the command") {
  Occasions occasions(Occasion::good, 30s);
  show(occasions, unreadable(EACCES), 0s);
  show(occasions, unreadable(ENOENT), 4s);
  CHECK_FALSE(occasions.next_deadline());
  show(occasions, unreadable(EACCES), 5s);
  show(occasions, look(with({})), 9s);

  show(occasions, look(with({})), 39s);

  CHECK(run_all(occasions, 39s) == "1.0 ");
}

}  // namespace occasions_test

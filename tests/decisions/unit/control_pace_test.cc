// Tests how soon and how often status.json is written, on a clock that the test moves.
// control_test.cc tests the decisions about requests.
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "tests/decisions/unit/control_desk.h"

namespace control_pace_test {

namespace {

using namespace upgrader;
using namespace upgrader::test;
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

}  // namespace control_pace_test

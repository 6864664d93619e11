// Tests a request with an id that another request, for another executable, already has. Also tests
// how requests end if some of the usual facts are missing, such as an answer.
#include <catch2/catch.hpp>

#include "tests/together/upgraderctl/talk.h"
#include "tools/upgraderctl/core/conversation.h"
#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/core/sentences.h"

namespace one_id_test {

using namespace upgraderctl;
using namespace std::chrono_literals;
using Goal = Errand::Goal;

namespace {

Errand errand_to(const std::string& executable, Goal goal = Goal::ending) {
  Errand errand = errand_for(goal);
  errand.executable = Executable{executable, executable};
  return errand;
}

Status with_candidate(const std::string& executable) {
  Status status = at_rest();
  status.phase = "preparing";
  status.upgrade = upgrade_called("u1");
  status.candidate = status.active;
  status.candidate->role = "candidate";
  status.candidate->executable = executable;
  return status;
}

}  // namespace

TEST_CASE("an upgrade that another request has begun under the id is not told as ours") {
  Talk talk(errand_to("/opt/agent/1.2", GENERATE(Goal::ending, Goal::answer)));
  talk.status = with_candidate("/opt/agent/1.1");

  SECTION("whose answer says what is under way") {
    talk.answer(true, "under way");
  }
  SECTION("and whose answer has gone by") {}
  talk.look();
  REQUIRE(talk.finish);
  CHECK(talk.finish->status == exit_refused);
  CHECK(talk.finish->text ==
        "refused: the id u1 belongs to an upgrade to /opt/agent/1.1, not to /opt/agent/1.2. "
        "Another upgrade needs another --id");
}

TEST_CASE("another request's upgrade may be recognised only by its ending or its candidate") {
  Talk talk(errand_to("/opt/agent/1.2"));
  talk.status = with_candidate("/opt/agent/1.1");
  talk.status.candidate.reset();
  talk.answer(true, "under way");
  talk.look();
  CHECK_FALSE(talk.finish);

  talk.status.upgrade.reset();
  // The upgrade of the other request, to version 1.1, has ended.
  talk.status.endings = {ending_of("u1", "committed")};
  talk.look();
  CHECK(talk.ended_with() == exit_refused);
}

TEST_CASE("an upgrade that this request has begun is ours, whatever a link led to meanwhile") {
  Talk talk(errand_to("/opt/agent/1.2"));
  talk.status = with_candidate("/opt/agent/1.1");
  talk.answer(true);
  talk.look();
  CHECK_FALSE(talk.finish);

  talk.status.upgrade.reset();
  talk.status.endings = {ending_of("u1", "committed")};
  talk.look();
  CHECK(talk.ended_with() == exit_done);
}

TEST_CASE("the same executable is waited for, whoever asked first") {
  Talk talk(errand_to("/opt/agent/1.1"));
  talk.status = with_candidate("/opt/agent/1.1");
  talk.answer(true, "under way");
  talk.look();
  CHECK_FALSE(talk.finish);
}

TEST_CASE("a cancel that comes too late names the command that goes back") {
  Errand errand = errand_for(Goal::answer);
  errand.asks_upgrade = false;
  errand.deed = "cancel of u1";
  errand.on_trial = "upgraderctl app rollback";
  Talk talk(errand);
  talk.answer(false, "too late");
  SECTION("on trial") {
    talk.status.phase = "trial";
    talk.look();
    CHECK(talk.finish->text ==
          "refused: cancel of u1: too late; it is on trial by now: upgraderctl app rollback goes "
          "back");
  }
  SECTION("and before that it is not") {
    talk.status.phase = "switching";
    talk.look();
    CHECK(talk.finish->text == "refused: cancel of u1: too late");
  }
}

TEST_CASE("a shutdown that nobody has answered may not have been heard") {
  Talk talk(Goal::shutdown);
  talk.feed(ReaderGone{});
  talk.now = 3s;
  talk.feed(TimePassed{});
  CHECK(talk.ended_with() == exit_unknown);
}

TEST_CASE("an upgrader that was replaced twice is not said to have ended without a last word") {
  Talk talk(errand_to("/opt/agent/1.1"));
  talk.begin_another_life();
  talk.begin_another_life();
  talk.previous->upgrader.started = "2026-11-22T08:30:00.000Z";
  talk.look();
  CHECK(talk.ended_with() == exit_unknown);
  CHECK(talk.said("has ended, and how is no longer told; whether"));
}

TEST_CASE("a rehearsal that is interrupted twice does not promise its cancel") {
  SECTION("since nobody has answered it") {
    Talk talk(Goal::rehearsal);
    talk.feed(Interrupted{2});
    CHECK_FALSE(talk.finish);
    talk.feed(Interrupted{2});
    CHECK(talk.finish ==
          Finish{exit_signal_base + 2,
                 "interrupted: the rehearsal is cancelled; whether that was heard is not known"});
  }
  SECTION("nor one that was never asked for") {
    Talk talk(errand_for(Goal::rehearsal), WriteOutcome::full);
    talk.feed(Interrupted{2});
    CHECK(talk.finish == Finish{exit_signal_base + 2, "interrupted: nothing was sent"});
  }
}

TEST_CASE(
    "in a sequential upgrade the candidate is shown as ready after the stop of the old agent") {
  Progress progress("u1", "upgraderctl app");
  Status status = with_candidate("/opt/agent/1.1");
  status.candidate->version = "1.1";
  status.upgrade->stop_sent = at(11);
  status.upgrade->stopped = at(12);
  status.upgrade->ready = at(13);
  const std::vector<std::string> lines = progress.take(status);
  REQUIRE(lines.size() == 4);
  CHECK(lines[1].find("is told to stop") != std::string::npos);
  CHECK(lines[2] == "  +2.000s  it has stopped");
  CHECK(lines[3] == "  +3.000s  generation 1 (version 1.1) is ready");
}

}  // namespace one_id_test

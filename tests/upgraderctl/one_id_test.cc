// What a conversation makes of an id that another request has taken, to another executable; and of
// endings of which less is known than usual.
#include <catch2/catch.hpp>

#include "node/upgraderctl/core/conversation.h"
#include "node/upgraderctl/core/exit_status.h"
#include "node/upgraderctl/core/progress.h"
#include "tests/upgraderctl/status_text.h"

using namespace upgraderctl;
using namespace std::chrono_literals;
using Goal = Errand::Goal;

namespace {

Errand errand_to(const std::string& executable, Goal goal = Goal::ending) {
  Errand errand;
  errand.goal = goal;
  errand.life = at_rest().upgrader;
  errand.deed = "upgrade u1";
  errand.request = "r2";
  errand.line = "upgrade\n";
  errand.id = "u1";
  errand.asks_upgrade = goal != Goal::shutdown;
  errand.executable = Executable{executable, executable};
  if (goal == Goal::rehearsal) errand.cancel_line = "cancel\n";
  return errand;
}

std::optional<Finish> finish_of(const Orders& orders) {
  for (const Order& order : orders) {
    if (const auto* finish = std::get_if<Finish>(&order)) return *finish;
  }
  return std::nullopt;
}

std::optional<Finish> look(Conversation& conversation, const Status& status,
                           const std::optional<Status>& previous = std::nullopt) {
  return finish_of(
      conversation.step(Looked{Look{status, previous, true, Hearing::listens, 0, ""}, at(20)}, 1s));
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
  Conversation conversation(errand_to("/opt/agent/1.2", GENERATE(Goal::ending, Goal::answer)));
  static_cast<void>(conversation.start(0s));
  static_cast<void>(conversation.step(Wrote{WriteOutcome::written}, 0s));
  Status status = with_candidate("/opt/agent/1.1");

  SECTION("whose answer says what is under way") {
    status.requests = {Answer{"r2", "upgrade", true, "under way"}};
  }
  SECTION("and whose answer has gone by") {}
  const std::optional<Finish> finish = look(conversation, status);
  REQUIRE(finish);
  CHECK(finish->status == exit_refused);
  CHECK(finish->text ==
        "refused: upgrade u1 is one to /opt/agent/1.1, and not to /opt/agent/1.2; "
        "another upgrade needs another --id");
}

TEST_CASE("whose upgrade it is may show only when its candidate is started") {
  Conversation conversation(errand_to("/opt/agent/1.2"));
  static_cast<void>(conversation.start(0s));
  static_cast<void>(conversation.step(Wrote{WriteOutcome::written}, 0s));
  Status status = with_candidate("/opt/agent/1.1");
  status.candidate.reset();
  status.requests = {Answer{"r2", "upgrade", true, "under way"}};
  CHECK_FALSE(look(conversation, status));

  status.upgrade.reset();
  status.endings = {ending_of("u1", "committed")};  // to 1.1
  const std::optional<Finish> finish = look(conversation, status);
  REQUIRE(finish);
  CHECK(finish->status == exit_refused);
}

TEST_CASE("an upgrade that this request has begun is ours, whatever a link led to meanwhile") {
  Conversation conversation(errand_to("/opt/agent/1.2"));
  static_cast<void>(conversation.start(0s));
  static_cast<void>(conversation.step(Wrote{WriteOutcome::written}, 0s));
  Status status = with_candidate("/opt/agent/1.1");
  status.requests = {Answer{"r2", "upgrade", true, ""}};
  CHECK_FALSE(look(conversation, status));
  status.upgrade.reset();
  status.endings = {ending_of("u1", "committed")};
  CHECK(look(conversation, status)->status == exit_done);
}

TEST_CASE("the same executable is waited for, whoever asked first") {
  Conversation conversation(errand_to("/opt/agent/1.1"));
  static_cast<void>(conversation.start(0s));
  static_cast<void>(conversation.step(Wrote{WriteOutcome::written}, 0s));
  Status status = with_candidate("/opt/agent/1.1");
  status.requests = {Answer{"r2", "upgrade", true, "under way"}};
  CHECK_FALSE(look(conversation, status));
}

TEST_CASE("a cancel that comes too late is told what goes back") {
  Errand errand = errand_to("", Goal::answer);
  errand.asks_upgrade = false;
  errand.deed = "cancel of u1";
  errand.on_trial = "upgraderctl app rollback";
  Conversation conversation(errand);
  static_cast<void>(conversation.start(0s));
  Status status = at_rest();
  status.requests = {Answer{"r2", "cancel", false, "too late"}};
  SECTION("on trial") {
    status.phase = "trial";
    CHECK(look(conversation, status)->text ==
          "refused: cancel of u1: too late; it is on trial by now: upgraderctl app rollback goes "
          "back");
  }
  SECTION("and before that it is not") {
    status.phase = "switching";
    CHECK(look(conversation, status)->text == "refused: cancel of u1: too late");
  }
}

TEST_CASE("a shutdown that nobody has answered may not have been heard") {
  Conversation conversation(errand_to("", Goal::shutdown));
  static_cast<void>(conversation.start(0s));
  static_cast<void>(conversation.step(Wrote{WriteOutcome::written}, 0s));
  static_cast<void>(conversation.step(ReaderGone{}, 1s));
  const std::optional<Finish> finish = finish_of(conversation.step(TimePassed{}, 3s));
  REQUIRE(finish);
  CHECK(finish->status == exit_unknown);
}

TEST_CASE("of a life that has been put aside twice it is not said that it had no last word") {
  Conversation conversation(errand_to("/opt/agent/1.1"));
  static_cast<void>(conversation.start(0s));
  static_cast<void>(conversation.step(Wrote{WriteOutcome::written}, 0s));
  Status other = at_rest();
  other.upgrader.started = "2026-11-22T09:00:00.000Z";
  Status between = at_rest();
  between.upgrader.started = "2026-11-22T08:30:00.000Z";
  const std::optional<Finish> finish = look(conversation, other, between);
  REQUIRE(finish);
  CHECK(finish->status == exit_unknown);
  CHECK(finish->text.find("has ended, and how is no longer told; whether") != std::string::npos);
}

TEST_CASE("a rehearsal that is interrupted twice does not promise its cancel") {
  Conversation conversation(errand_to("/opt/agent/1.1", Goal::rehearsal));
  static_cast<void>(conversation.start(0s));
  SECTION("since nobody has answered it") {
    static_cast<void>(conversation.step(Wrote{WriteOutcome::written}, 0s));
    CHECK_FALSE(finish_of(conversation.step(Interrupted{2}, 1s)));
    CHECK(finish_of(conversation.step(Interrupted{2}, 2s)) ==
          Finish{exit_signal_base + 2,
                 "interrupted: the rehearsal is cancelled; whether that was heard is not known"});
  }
  SECTION("nor one that was never asked for") {
    static_cast<void>(conversation.step(Wrote{WriteOutcome::full}, 0s));
    CHECK(finish_of(conversation.step(Interrupted{2}, 1s)) ==
          Finish{exit_signal_base + 2, "interrupted: nothing was sent"});
  }
}

TEST_CASE("where the candidate is started last, it is ready last") {
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

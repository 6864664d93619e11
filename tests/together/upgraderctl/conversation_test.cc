// Tests requests of upgraderctl with sequences of events: the statuses that upgraderctl reads, the
// lines that it sends, and how the request ends. Some requests have the same id as an earlier
// request for a different executable. Some requests end although a fact is missing, such as the
// answer.
#include "tools/upgraderctl/core/conversation.h"

#include <catch2/catch.hpp>

#include "tests/together/upgraderctl/talk.h"
#include "tools/upgraderctl/core/errand.h"
#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/core/sentences.h"

namespace conversation_test {

using namespace upgraderctl;
using namespace std::chrono_literals;
using Goal = Errand::Goal;

TEST_CASE("an upgrade that is committed ends with 0") {
  Talk talk(Goal::ending);
  CHECK(talk.sent == std::vector<std::string>{"upgrade\n"});
  talk.look();
  CHECK_FALSE(talk.finish);

  talk.answer(true);
  talk.status.upgrade = upgrade_called("u1");
  talk.look();
  CHECK_FALSE(talk.finish);
  talk.status.upgrade.reset();
  talk.status.endings = {ending_of("u1", "committed")};
  talk.look();

  CHECK(talk.ended_with() == exit_done);
  CHECK(talk.said("committed; version 1.1 is active"));
  CHECK(talk.sent.size() == 1);
}

TEST_CASE("each outcome has a status of its own, and is told with its reason") {
  struct Case {
    const char* outcome;
    int status;
  };
  const Case expected = GENERATE(Case{"committed", exit_done}, Case{"kept", exit_kept},
                                 Case{"fell_back", exit_fell_back}, Case{"ended", exit_ended},
                                 Case{"something new", exit_unknown});
  Talk talk(Goal::ending);

  talk.answer(true);
  talk.status.endings = {ending_of("u1", expected.outcome, "start", "exited with status 3")};
  talk.look();

  CHECK(talk.ended_with() == expected.status);
  CHECK(talk.said("exited with status 3"));
}

TEST_CASE("a refused request ends with 3 and the upgrader's reason") {
  const Goal goal = GENERATE(Goal::answer, Goal::ending, Goal::rehearsal, Goal::shutdown);
  Talk talk(goal);

  talk.answer(false, "busy: upgrade u0 is under way");
  talk.look();

  CHECK(talk.ended_with() == exit_refused);
  CHECK(talk.said("busy: upgrade u0 is under way"));
}

TEST_CASE("a request that does not wait for the upgrade's end is over with its answer") {
  Talk talk(Goal::answer);

  talk.answer(true);
  talk.look();

  CHECK(talk.ended_with() == exit_done);
}

TEST_CASE("an answer that is not seen is asked for again, by the same line, ever more slowly") {
  Talk talk(Goal::ending);
  std::vector<Duration> times{talk.now};
  while (!talk.finish) {
    talk.wait();
    if (talk.sent.size() > times.size()) times.push_back(talk.now);
  }

  CHECK(times == std::vector<Duration>{0s, 2s, 6s, 14s});
  CHECK(std::all_of(talk.sent.begin(), talk.sent.end(),
                    [](const std::string& line) { return line == "upgrade\n"; }));
  CHECK(talk.now == 30s);
  CHECK(talk.ended_with() == exit_unknown);
  CHECK(talk.said("process 4020 has not read the request, or cannot write status.json"));
  CHECK(talk.said("upgraderctl app history"));
}

TEST_CASE("a timeout holds for the whole, and 0 is no limit") {
  Errand errand = errand_for(Goal::ending);
  errand.timeout = 5s;
  Talk talk(errand);
  talk.answer(true);
  talk.look();
  talk.wait();
  CHECK(talk.now == 5s);
  CHECK(talk.ended_with() == exit_unknown);
  CHECK(talk.said("upgraderctl app history"));

  errand.timeout = 0s;
  Talk endless(errand);
  for (int i = 0; i < 50; ++i)
    endless.wait();
  CHECK_FALSE(endless.finish);
}

TEST_CASE("a FIFO that is full is tried again, and where it stays so nothing was sent") {
  Errand errand = errand_for(Goal::ending);
  errand.timeout = 5s;
  Conversation conversation(errand);
  Orders orders = conversation.start(0s);
  CHECK(std::holds_alternative<Send>(orders.at(0)));
  CHECK(conversation.step(Wrote{WriteOutcome::full}, 0s).empty());
  orders = conversation.step(TimePassed{}, 2s);
  CHECK(std::get<Say>(orders.at(0)).text.find("full") != std::string::npos);
  CHECK(conversation.step(Wrote{WriteOutcome::full}, 2s).empty());
  orders = conversation.step(TimePassed{}, 5s);
  CHECK(std::get<Finish>(orders.at(0)).status == exit_unknown);
  CHECK(std::get<Finish>(orders.at(0)).text.find("nothing was sent") != std::string::npos);
}

TEST_CASE("an upgrader that has gone before it was asked ends it with 2") {
  Conversation conversation(errand_for(Goal::ending));
  static_cast<void>(conversation.start(0s));

  const Orders orders = conversation.step(Wrote{WriteOutcome::gone}, 0s);

  CHECK(std::get<Finish>(orders.at(0)).status == exit_absent);
}

TEST_CASE(
    "if a new upgrader has started, an unanswered request ends with 7 and is not sent again") {
  Talk talk(Goal::ending);

  talk.begin_another_life();
  talk.look();

  CHECK(talk.ended_with() == exit_unknown);
  CHECK(talk.said("nothing is sent again"));
  CHECK(talk.said("upgraderctl app history"));
  CHECK(talk.sent.size() == 1);
}

TEST_CASE("previous.json tells how an upgrade ended in the life that has gone") {
  Talk talk(Goal::ending);

  talk.status.endings = {ending_of("u1", "committed")};
  talk.begin_another_life();
  talk.look();

  CHECK(talk.ended_with() == exit_done);
}

TEST_CASE("a status that has become the previous one says that its life is over") {
  Talk talk(Goal::ending);
  talk.answer(true);
  talk.look();

  talk.look(Look{std::nullopt, talk.status, true, Hearing::listens, 0, ""});

  CHECK(talk.ended_with() == exit_ended);
}

TEST_CASE("an upgrader that ends meanwhile ends it with 6, and says how") {
  Talk talk(Goal::ending);
  talk.answer(true);
  talk.look();

  talk.status.ended = Ended{125, "fallback cannot start", at(15)};
  talk.look();

  CHECK(talk.ended_with() == exit_ended);
  CHECK(talk.said("with status 125: fallback cannot start"));
}

TEST_CASE(
    "the last words of an upgrader are waited for a little when its FIFO has lost its reader") {
  Talk talk(Goal::ending);
  talk.answer(true);
  talk.look();

  talk.feed(ReaderGone{});
  CHECK_FALSE(talk.finish);
  SECTION("they come") {
    talk.status.endings = {ending_of("u1", "committed")};
    talk.look();
    CHECK(talk.ended_with() == exit_done);
  }
  SECTION("they do not come") {
    talk.wait();
    CHECK(talk.now == Conversation::last_words_grace);
    CHECK(talk.ended_with() == exit_ended);
    CHECK(talk.said("has gone without a last word"));
  }
}

TEST_CASE("a shutdown is done when the upgrader has said how it ended") {
  Talk talk(Goal::shutdown);
  talk.answer(true);
  talk.look();
  CHECK_FALSE(talk.finish);

  talk.status.ended = Ended{0, "asked for by the control directory", at(30)};
  talk.look();

  CHECK(talk.ended_with() == exit_done);
}

TEST_CASE("an answer that others have pushed out is not asked for again, unless by an id") {
  Errand errand = errand_for(Goal::answer);
  errand.asks_upgrade = GENERATE(false, true);
  Talk talk(errand);
  for (int i = 0; i < 16; ++i)
    talk.answer(true, "", "other-" + std::to_string(i));

  talk.look();
  talk.wait();

  CHECK(talk.sent.size() == (errand.asks_upgrade ? 2 : 1));
}

TEST_CASE("an upgrade that is seen needs no answer any more") {
  Talk talk(Goal::ending);
  talk.status.upgrade = upgrade_called("u1");

  talk.look();
  talk.status.upgrade.reset();
  talk.status.endings = {ending_of("u1", "fell_back", "trial", "exited")};
  talk.look();

  CHECK(talk.ended_with() == exit_fell_back);
}

// Requirements (tests/judging/rows): J-43
TEST_CASE("a rehearsal measures the candidate at the gate, and cancels it") {
  Talk talk(Goal::rehearsal);
  talk.answer(true);
  talk.status.upgrade = upgrade_called("u1");
  talk.status.phase = "confirming";
  talk.status.candidate = AgentStatus{};
  talk.status.candidate->pid = 4022;

  talk.look();
  talk.look();
  CHECK(talk.measured == std::vector<std::int64_t>{4022});
  CHECK(talk.sent == std::vector<std::string>{"upgrade\n", "cancel\n"});
  talk.answer(true, "", "r1-cancel");
  talk.status.upgrade.reset();
  talk.status.endings = {ending_of("u1", "kept", "cancel", "rehearsed")};
  talk.look();

  CHECK(talk.ended_with() == exit_done);
  CHECK(
      talk.said("rehearsed: version 1.1 was ready after 412 ms, peak memory 12.2 MiB; "
                "version 1.0 stayed active throughout; not tried: the work of version 1.1 and, "
                "under agentify, the start of the daemon"));
}

TEST_CASE("a rehearsal whose candidate fails ends with 4") {
  Talk talk(Goal::rehearsal);
  talk.answer(true);

  talk.status.endings = {ending_of("u1", "kept", "start", "exited with status 3")};
  talk.look();

  CHECK(talk.ended_with() == exit_kept);
  CHECK(talk.sent.size() == 1);
}

TEST_CASE("a rehearsal whose gate somebody opens is followed to its end, and is not done") {
  Talk talk(Goal::rehearsal);
  talk.answer(true);
  talk.status.upgrade = upgrade_called("u1");
  talk.status.phase = "confirming";
  talk.look();

  talk.status.phase = "switching";
  talk.answer(false, "the active agent has been told to stop", "r1-cancel");
  talk.look();
  CHECK_FALSE(talk.finish);
  CHECK(talk.said("it has become an upgrade"));
  talk.status.upgrade.reset();
  talk.status.endings = {ending_of("u1", "committed")};
  talk.look();

  CHECK(talk.ended_with() == exit_refused);
}

TEST_CASE("a rehearsal that somebody else has cancelled is not said to be an upgrade") {
  Talk talk(Goal::rehearsal);
  talk.answer(true);
  talk.status.upgrade = upgrade_called("u1");
  talk.status.phase = "confirming";
  talk.look();

  SECTION("its candidate is still being stopped") {
    talk.status.phase = "abandoning";
    talk.answer(false, "it has failed already", "r1-cancel");
    talk.look();
    CHECK(talk.words.back() == "the rehearsal could not be cancelled: it has failed already");
    CHECK_FALSE(talk.finish);
  }
  SECTION("it has ended") {
    talk.answer(false, "no upgrade is under way", "r1-cancel");
  }
  talk.status.phase = "running";
  talk.status.upgrade.reset();
  talk.status.endings = {ending_of("u1", "kept", "cancel", "cancelled by an operator")};
  talk.look();

  CHECK_FALSE(talk.said("it has become an upgrade"));
  CHECK(talk.ended_with() == exit_done);
}

TEST_CASE("an interrupted rehearsal is cancelled before upgraderctl ends") {
  Talk talk(Goal::rehearsal);
  talk.answer(true);
  talk.status.upgrade = upgrade_called("u1");
  talk.look();

  talk.feed(Interrupted{2});
  CHECK_FALSE(talk.finish);
  CHECK(talk.sent.back() == "cancel\n");
  SECTION("it is heard") {
    talk.status.upgrade.reset();
    talk.status.endings = {ending_of("u1", "kept", "cancel", "rehearsed")};
    talk.look();
    CHECK(talk.ended_with() == exit_signal_base + 2);
  }
  SECTION("it is not heard") {
    while (!talk.finish)
      talk.wait();
    CHECK(talk.now == Conversation::leaving_grace);
    CHECK(talk.ended_with() == exit_signal_base + 2);
    CHECK(talk.said("whether that was heard is not known"));
  }
  SECTION("who cannot wait for that need not") {
    talk.feed(Interrupted{2});
    CHECK(talk.ended_with() == exit_signal_base + 2);
  }
}

TEST_CASE("an upgrade goes on when whoever asked for it leaves, who is told so") {
  Talk talk(Goal::ending);

  talk.feed(Interrupted{15});

  CHECK(talk.ended_with() == exit_signal_base + 15);
  CHECK(talk.said("goes on"));
  CHECK(talk.said("upgraderctl app history"));
}

TEST_CASE("a control directory that has vanished for good ends it with 7") {
  Talk talk(Goal::ending);
  talk.answer(true);
  talk.look();

  talk.look(Look{std::nullopt, std::nullopt, false, Hearing::listens, 0, ""});
  SECTION("it comes back") {
    talk.look();
    talk.status.endings = {ending_of("u1", "committed")};
    talk.look();
    CHECK(talk.ended_with() == exit_done);
  }
  SECTION("it stays away") {
    talk.wait();
    CHECK(talk.now == Conversation::vanished_grace);
    CHECK(talk.ended_with() == exit_unknown);
    CHECK(talk.said("has vanished"));
  }
}

TEST_CASE("a deadline that has passed long ago is told of once") {
  Talk talk(Goal::ending);
  talk.answer(true);
  talk.status.phase = "preparing";
  talk.status.deadline = at(14);

  talk.look();
  talk.look();

  CHECK(std::count_if(talk.words.begin(), talk.words.end(), [](const std::string& word) {
          return word.find("time for this was up 6 s ago") != std::string::npos;
        }) == 1);
  CHECK_FALSE(talk.finish);
}

TEST_CASE("an upgrade that is only followed is asked for by nobody") {
  Errand errand = errand_for(Goal::ending);
  errand.line.clear();
  Talk talk(errand);

  talk.status.endings = {ending_of("u1", "committed")};
  talk.look();

  CHECK(talk.sent.empty());
  CHECK(talk.ended_with() == exit_done);
}

TEST_CASE("an ending of an earlier upgrade with the same id does not end the one under way") {
  Talk talk(errand_for(Goal::ending));
  Ending earlier = ending_of("u1", "committed");
  earlier.accepted = at(2);
  talk.status.endings = {earlier};
  talk.status.upgrade = upgrade_called("u1");
  talk.look();
  CHECK_FALSE(talk.finish);

  talk.status.upgrade.reset();
  talk.status.endings = {ending_of("u1", "fell_back"), earlier};
  talk.look();
  CHECK(talk.ended_with() == exit_fell_back);
}

// ---- ids that an earlier request has used, and requests that end although a fact is missing

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
  // An earlier request with the id u1 has made an upgrade to version 1.1, which has ended. This
  // request has the same id, but asks for version 1.2. So it must count as refused.
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

TEST_CASE("wait sees the end of its upgrade even if the id is in use again") {
  const Status before = with_candidate("/opt/agent/1.1");
  Options options;
  options.command = Command::wait;
  Seen seen;
  seen.status = before;
  const auto made = errand_of(options, seen, "r1");
  REQUIRE(std::holds_alternative<Errand>(made));
  Talk talk(std::get<Errand>(made));
  talk.status = before;
  talk.look();
  CHECK_FALSE(talk.finish);

  talk.status.endings = {ending_of("u1", "kept", "start", "exited with status 3")};
  talk.status.upgrade->accepted = at(43);
  SECTION("by an upgrade that is under way") {}
  SECTION("by an upgrade that has ended, too") {
    talk.status.upgrade.reset();
    talk.status.endings.insert(talk.status.endings.begin(), ending_of("u1", "committed"));
    talk.status.endings.front().accepted = at(43);
  }
  talk.look();

  CHECK(talk.ended_with() == exit_kept);
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

}  // namespace conversation_test

// Tests requests of upgraderctl by sequences of events: the statuses that it reads, the lines that
// it sends, and the end of the request.
#include "tools/upgraderctl/core/conversation.h"

#include <catch2/catch.hpp>

#include "tests/together/upgraderctl/talk.h"
#include "tools/upgraderctl/core/options.h"

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

// Rows: J-43
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
      talk.said("rehearsed: version 1.1 would start, ready after 412 ms, peak memory 12.2 MiB; "
                "version 1.0 stayed active throughout"));
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

}  // namespace conversation_test

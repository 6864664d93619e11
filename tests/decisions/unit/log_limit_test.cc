// Tests which lines are logged if agents cause very many lines, and how many unlogged lines the log
// reports.
#include "upgrader/core/log_limit.h"

#include <catch2/catch.hpp>

namespace log_limit_test {

using namespace upgrader;
using namespace std::chrono_literals;

namespace {

using Kind = NoticeKind;

Notice notice(Kind kind, const std::string& text, Generation generation = 1) {
  return {.generation = generation, .kind = kind, .text = text};
}

}  // namespace

TEST_CASE("the first line of every kind is shown at once, whenever the clock began") {
  LogLimit limit;
  const Kind kind = GENERATE(Kind::stray, Kind::status, Kind::error);

  CHECK(limit.admit(notice(kind, "a"), 0ms) == "a");
}

TEST_CASE("a second line is held back until a second has passed, and then counted") {
  LogLimit limit;
  const Kind kind = GENERATE(Kind::stray, Kind::error);
  REQUIRE(limit.admit(notice(kind, "a"), 5s));

  CHECK_FALSE(limit.admit(notice(kind, "b"), 5s));
  CHECK_FALSE(limit.admit(notice(kind, "c"), 5s + 999ms));

  CHECK(limit.admit(notice(kind, "d"), 6s) ==
        (kind == Kind::stray ? "d (2 more lines of stray output before it not shown)"
                             : "d (2 more errors before it not shown)"));
  CHECK_FALSE(limit.admit(notice(kind, "e"), 6s));
  CHECK(limit.admit(notice(kind, "f"), 9s) ==
        (kind == Kind::stray ? "f (1 more line of stray output before it not shown)"
                             : "f (1 more error before it not shown)"));
  CHECK(limit.admit(notice(kind, "g"), 10s) == "g");
}

TEST_CASE("kinds and agents are limited each by itself") {
  LogLimit limit;
  REQUIRE(limit.admit(notice(Kind::stray, "a"), 0s));

  CHECK(limit.admit(notice(Kind::status, "b"), 0s) == "b");
  CHECK(limit.admit(notice(Kind::error, "c"), 0s) == "c");
  CHECK(limit.admit(notice(Kind::stray, "d", 2), 0s) == "d");
  CHECK_FALSE(limit.admit(notice(Kind::stray, "e"), 0s));
}

TEST_CASE("the latest held-back status is shown when the second is over") {
  LogLimit limit;
  REQUIRE(limit.admit(notice(Kind::status, "a"), 1s));
  CHECK_FALSE(limit.next_deadline());
  REQUIRE_FALSE(limit.admit(notice(Kind::status, "b"), 1s + 1ms));
  REQUIRE_FALSE(limit.admit(notice(Kind::status, "c"), 1s + 2ms));

  CHECK(limit.next_deadline() == Time{2s});
  CHECK(limit.due(2s - 1ms).empty());
  CHECK(limit.due(2s) ==
        std::vector{notice(Kind::status, "c (1 more status before it not shown)")});

  CHECK_FALSE(limit.next_deadline());
  CHECK(limit.due(10s).empty());
}

TEST_CASE("a status shown late begins a second of its own") {
  LogLimit limit;
  REQUIRE(limit.admit(notice(Kind::status, "a"), 0s));
  REQUIRE_FALSE(limit.admit(notice(Kind::status, "b"), 500ms));

  CHECK(limit.due(1500ms) == std::vector{notice(Kind::status, "b")});
  CHECK_FALSE(limit.admit(notice(Kind::status, "c"), 2s));
  CHECK(limit.next_deadline() == Time{2500ms});
}

TEST_CASE("a new status takes the place of one that is overdue") {
  LogLimit limit;
  REQUIRE(limit.admit(notice(Kind::status, "a"), 0s));
  REQUIRE_FALSE(limit.admit(notice(Kind::status, "b"), 500ms));

  CHECK(limit.admit(notice(Kind::status, "c"), 2s) == "c (1 more status before it not shown)");
  CHECK(limit.due(9s).empty());
}

TEST_CASE("stray output and errors that are held back wake nobody") {
  LogLimit limit;
  for (int i = 0; i < 3; ++i) {
    static_cast<void>(limit.admit(notice(Kind::stray, "a"), 0s));
    static_cast<void>(limit.admit(notice(Kind::error, "a"), 0s));
  }

  CHECK_FALSE(limit.next_deadline());
  CHECK(limit.due(9s).empty());
}

TEST_CASE("the earliest of several statuses sets the deadline") {
  LogLimit limit;
  for (const Generation generation : {1, 2}) {
    const Time begin = generation == 1 ? 3s : 2s;
    static_cast<void>(limit.admit(notice(Kind::status, "a", generation), begin));
    static_cast<void>(limit.admit(notice(Kind::status, "b", generation), begin));
  }

  CHECK(limit.next_deadline() == Time{3s});
  CHECK(limit.due(3s) == std::vector{notice(Kind::status, "b", 2)});
  CHECK(limit.next_deadline() == Time{4s});
}

TEST_CASE("at an agent's end what was held back of it is told, and nothing of others") {
  LogLimit limit;
  for (const Generation generation : {1, 2}) {
    for (const Kind kind : {Kind::stray, Kind::status, Kind::error}) {
      for (const char* text : {"a", "b", "c"}) {
        static_cast<void>(limit.admit(notice(kind, text, generation), 0s));
      }
    }
  }

  CHECK(limit.forget(1) ==
        std::vector{notice(Kind::stray, "2 more lines of stray output not shown"),
                    notice(Kind::status, "c (1 more status before it not shown)"),
                    notice(Kind::error, "2 more errors not shown")});

  CHECK(limit.forget(1).empty());
  CHECK(limit.admit(notice(Kind::stray, "d", 1), 0s) == "d");
  CHECK_FALSE(limit.admit(notice(Kind::stray, "d", 2), 0s));
  CHECK(limit.forget(2).size() == 3);
  CHECK_FALSE(limit.next_deadline());
}

TEST_CASE("an agent of whom nothing was held back is forgotten silently") {
  LogLimit limit;
  REQUIRE(limit.admit(notice(Kind::status, "a"), 0s));

  CHECK(limit.forget(1).empty());
}

TEST_CASE("refused upgrades and requests are logged as warnings, and no other notices are") {
  CHECK(level_of(notice(Kind::refusal, "a")) == LogLevel::warning);
  CHECK(level_of(notice(Kind::request, "a")) == LogLevel::warning);
  CHECK(level_of(notice(Kind::stray, "a")) == LogLevel::info);
  CHECK(level_of(notice(Kind::status, "a")) == LogLevel::info);
  CHECK(level_of(notice(Kind::error, "a")) == LogLevel::info);
}

TEST_CASE("notices that were held back are counted in words for their kind") {
  const auto [kind, one, more] = GENERATE(table<Kind, std::string, std::string>(
      {{Kind::stray, "1 more line of stray output", "2 more lines of stray output"},
       {Kind::error, "1 more error", "2 more errors"},
       {Kind::refusal, "1 more refused upgrade", "2 more refused upgrades"}}));
  LogLimit limit;
  REQUIRE(limit.admit(notice(kind, "a"), 0ms));
  REQUIRE_FALSE(limit.admit(notice(kind, "b"), 0ms));

  CHECK(limit.admit(notice(kind, "c"), 1s) == "c (" + one + " before it not shown)");
  CHECK_FALSE(limit.admit(notice(kind, "d"), 1s));
  CHECK_FALSE(limit.admit(notice(kind, "e"), 1s));
  CHECK(limit.admit(notice(kind, "f"), 2s) == "f (" + more + " before it not shown)");
}

TEST_CASE("statuses that were held back are counted when the latest is shown") {
  LogLimit limit;
  REQUIRE(limit.admit(notice(Kind::status, "a"), 0ms));
  for (const char* const text : {"b", "c"})
    CHECK_FALSE(limit.admit(notice(Kind::status, text), 0ms));

  const auto one = limit.due(1s);
  for (const char* const text : {"d", "e", "f"})
    CHECK_FALSE(limit.admit(notice(Kind::status, text), 1s));
  const auto more = limit.due(2s);

  REQUIRE((one.size() == 1 && more.size() == 1));
  CHECK(one.front().text == "c (1 more status before it not shown)");
  CHECK(more.front().text == "f (2 more statuses before it not shown)");
}

TEST_CASE("the earliest status sets the deadline, of whichever agent it is") {
  const Generation early = GENERATE(1, 2);
  LogLimit limit;
  for (const Generation generation : {early, 3 - early}) {
    const Time shown = generation == early ? 0ms : 500ms;
    REQUIRE(limit.admit(notice(Kind::status, "a", generation), shown));
    CHECK_FALSE(limit.admit(notice(Kind::status, "b", generation), shown));
  }

  CHECK(limit.next_deadline() == 1s);
}

}  // namespace log_limit_test

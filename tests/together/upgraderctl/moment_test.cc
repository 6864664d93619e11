// Tests how times of status.json are parsed, and how times and durations are shown to people, even
// if somebody has set the clock since the upgrader's start.
#include "base/moment.h"

#include <catch2/catch.hpp>

#include "tests/together/upgraderctl/talk.h"
#include "tools/upgraderctl/core/todays_clock.h"

namespace moment_test {

using namespace upgraderctl;
using namespace std::chrono_literals;

TEST_CASE("a time of RFC 3339 is read, with any offset and any number of digits") {
  const std::string wanted = "2026-11-22 08:15:04 UTC";
  for (const char* spelled :
       {"2026-11-22T08:15:04Z", "2026-11-22T08:15:04.123Z", "2026-11-22t08:15:04.999999z",
        "2026-11-22T09:15:04+01:00", "2026-11-22T06:45:04-01:30"}) {
    CAPTURE(spelled);
    REQUIRE(parse_moment(spelled));
    CHECK(show_moment(*parse_moment(spelled)) == wanted);
  }
  CHECK(*parse_moment("2026-11-22T08:15:04.123Z") - *parse_moment("2026-11-22T08:15:04Z") == 123ms);
}

TEST_CASE("a text that is not a time is refused") {
  for (const char* spelled :
       {"", "now", "2026-11-22", "2026-13-22T08:15:04Z", "2026-02-30T08:15:04Z",
        "2026-11-22T24:15:04Z", "2026-11-22T08:15:04", "2026-11-22T08:15:04.Z",
        "2026-11-22T08:15:04+0100", "2026-11-22T08:15:04Zulu", "x026-11-22T08:15:04Z"}) {
    CAPTURE(spelled);
    CHECK_FALSE(parse_moment(spelled));
  }
}

TEST_CASE("a duration is shown with its two largest units") {
  CHECK(show_duration(-5s) == "0 ms");
  CHECK(show_duration(12ms) == "12 ms");
  CHECK(show_duration(999ms) == "999 ms");
  CHECK(show_duration(4200ms) == "4.2 s");
  CHECK(show_duration(30s) == "30 s");
  CHECK(show_duration(59999ms) == "59.9 s");
  CHECK(show_duration(184s) == "3 min 4 s");
  CHECK(show_duration(2h) == "2 h");
  CHECK(show_duration(2h + 13min + 5s) == "2 h 13 min");
  CHECK(show_duration(121h) == "5 d 1 h");
}

TEST_CASE("microseconds are shown as what they come to") {
  CHECK(show_microseconds(24) == "24 us");
  CHECK(show_microseconds(3'140) == "3.1 ms");
  CHECK(show_microseconds(1'500'000) == "1.5 s");
}

// ---- times in status.json, if somebody has set the clock since the upgrader's start

namespace {

constexpr auto jump = 400 * 24h;

// Returns the status of an upgrader that started at second 0. Its agent was activated at second 1,
// and an upgrade is on trial from second 30 to second 60.
Status on_trial() {
  Status status = at_rest();
  status.upgrader.since = at(0);
  status.since = at(30);
  status.deadline = at(60);
  status.active->activated = at(1);
  return status;
}

}  // namespace

TEST_CASE(
    "times of before the clock was set are moved, also those that came to lie in the future") {
  for (const auto set : {Duration(jump), Duration(-jump)}) {
    const Moment now = at(40) + set;

    const Status status = in_todays_clock(on_trial(), now, 40s);

    CHECK(now - *status.upgrader.since == 40s);
    CHECK(now - *status.active->activated == 39s);
    CHECK(now - *status.since == 10s);
    CHECK(*status.deadline - now == 20s);
  }
}

TEST_CASE("times of after the clock was set stay as they are") {
  Status status = on_trial();
  status.since = at(30) + jump;
  status.deadline = at(60) + jump;
  const Moment now = at(40) + jump;

  const Status moved = in_todays_clock(status, now, 40s);

  CHECK(now - *moved.since == 10s);
  CHECK(*moved.deadline - now == 20s);
  CHECK(now - *moved.active->activated == 39s);
}

TEST_CASE("nothing is moved by a clock that has not been set, nor without a start") {
  CHECK(in_todays_clock(on_trial(), at(40), 40s) == on_trial());
  CHECK(in_todays_clock(on_trial(), at(40), 41s) == on_trial());
  Status status = on_trial();
  status.upgrader.since.reset();
  CHECK(in_todays_clock(status, at(40) + jump, 40s) == status);
}

}  // namespace moment_test

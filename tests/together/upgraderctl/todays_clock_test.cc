// Tests how upgraderctl shows the times of an upgrader if somebody has set the clock since the
// upgrader's start.
#include <catch2/catch.hpp>

#include "tests/together/upgraderctl/talk.h"
#include "tools/upgraderctl/core/todays_clock.h"

namespace todays_clock_test {

using namespace upgraderctl;
using namespace std::chrono_literals;

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

}  // namespace todays_clock_test

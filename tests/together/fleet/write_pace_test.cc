// Tests when fleet-signer handles the next request after a write to the store, and which failures
// of writes are logged.
#include "fleet/model/signer/write_pace.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace write_pace_test {

namespace {

using namespace fleet;

TEST_CASE("a denied write is repeated more and more seldom, and logged once") {
  WritePace pace;

  const WritePace::Rest first = pace.failed(Denied{"no space"});
  CHECK(first.pause == write_pause_ms);
  CHECK(first.line == "the store denies a write: no space");
  Ms before = first.pause;
  for (int i = 0; i < 10; ++i) {
    const WritePace::Rest rest = pace.failed(Denied{"no space"});
    CHECK(rest.pause == std::min(2 * before, write_pause_max_ms));
    CHECK(rest.line.empty());
    before = rest.pause;
  }
  CHECK(before == write_pause_max_ms);
  CHECK(pace.failed(Denied{"damage"}).line == "the store denies a write: damage");
}

TEST_CASE("a request that cannot be answered is looked at more and more seldom, and logged once") {
  WritePace pace;

  const WritePace::Rest first = pace.stuck("cannot sign: no key");
  const WritePace::Rest second = pace.stuck("cannot sign: no key");

  CHECK(first.pause == write_pause_ms);
  CHECK(first.line == "cannot sign: no key");
  CHECK(second.pause == 2 * write_pause_ms);
  CHECK(second.line.empty());
}

TEST_CASE("after a committed write the pauses are short again, and the same failure is logged") {
  WritePace pace;
  for (int i = 0; i < 5; ++i)
    static_cast<void>(pace.failed(Denied{"no space"}));

  pace.committed(7);

  const WritePace::Rest rest = pace.failed(Denied{"no space"});
  CHECK(rest.pause == write_pause_ms);
  CHECK(rest.line == "the store denies a write: no space");
}

TEST_CASE("after a refused write, or one of unknown outcome, the pause is always short") {
  WritePace pace;
  const std::string unknown = "the outcome of a write is unknown: timeout";

  CHECK(pace.failed(Unknown{"timeout"}).line == unknown);
  for (int i = 0; i < 5; ++i) {
    for (const Outcome& outcome : {Outcome{Unknown{"timeout"}}, Outcome{Refused{}}}) {
      const WritePace::Rest rest = pace.failed(outcome);
      CHECK(rest.pause == write_pause_ms);
      CHECK(rest.line.empty());
    }
  }
}

TEST_CASE("the next request waits until the local copy contains the last write") {
  WritePace pace;
  pace.copied(9);
  CHECK_FALSE(pace.waits(9));

  pace.committed(12);

  CHECK(pace.waits(9));
  pace.copied(11);
  CHECK(pace.waits(11));
  pace.copied(12);
  CHECK_FALSE(pace.waits(12));
}

TEST_CASE("a write to a store that was restored from a snapshot since is not waited for") {
  WritePace pace;
  pace.copied(1'000);
  pace.committed(1'001);
  pace.copied(1'001);

  pace.copied(50);

  CHECK_FALSE(pace.waits(50));
  pace.committed(51);
  CHECK(pace.waits(50));
  pace.copied(51);
  CHECK_FALSE(pace.waits(51));
}

}  // namespace

}  // namespace write_pace_test

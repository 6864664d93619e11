// Tests records with numbers that are much too large, or that contradict other records. No program
// of the fleet writes such numbers, but somebody else may write them into the store. These numbers
// must cause neither an overflow nor an access outside of a list.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/rollout_draft.h"

namespace record_numbers_test {

using namespace fleet;

TEST_CASE("a record with more batches than any cell can have is damaged") {
  Rollout rollout;
  rollout.terms.component = "agent";
  rollout.terms.version = "1.1.0";
  rollout.batches = std::int64_t{1} << 40;
  CHECK_FALSE(read_record<Rollout>(write_record(rollout)));
  rollout.batches = 10'000;
  CHECK(read_record<Rollout>(write_record(rollout)));
}

TEST_CASE("a rollout whose record has a wrong number of batches is created as it was ordered") {
  const RolloutDraft draft{.batches = {{"a", "b"}, {"c"}}};
  Rollout rollout;
  rollout.terms.component = "agent";
  rollout.terms.version = "1.1.0";
  rollout.state = RolloutState::created;
  rollout.batch = 1;
  rollout.batches = 9;

  const auto next = next_creation("r1", rollout, draft, 7, WrittenRollout{rollout, 10});

  REQUIRE(next);
  CHECK(next->puts.size() == 2);
  const auto written = read_record<Rollout>(next->puts.back().value);
  REQUIRE(written);
  CHECK(written.value().batch == 2);
  CHECK(written.value().batches == 2);
}

}  // namespace record_numbers_test

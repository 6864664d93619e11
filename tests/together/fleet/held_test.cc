// Tests what is said to people about work that cannot begin now, because windows are
// closed or a stop is ordered.
#include "fleet/model/held.h"

#include <catch2/catch.hpp>

#include "fleet/model/record_text.h"

namespace held_test {

namespace {

using namespace fleet;

KeyValue record(const std::string& key, const std::string& value) {
  return {.key = key, .value = value, .modified = 1};
}

TEST_CASE("a rollout that may not begin its batch says what it waits for") {
  const Rollout rollout{.state = RolloutState::rolling, .batch = 1, .batches = 2};
  Reading own{.found = {record("/fleet/v1/rollout/r/batch/0", R"({"nodes":["n1"]})"),
                        record("/fleet/v1/rollout/r/batch/1", R"({"nodes":["n2","n3"]})"),
                        record("/fleet/v1/rollout/r/node/n2", R"({"stage":"confirmed"})")}};
  const ToBegin what{.nodes = nodes_to_begin(rollout, own), .takes = 300'000};
  CHECK(what.nodes == std::vector<std::string>{"n2", "n3"});
  own.found.push_back(record("/fleet/v1/rollout/r/node/n3", R"({"stage":"applying"})"));
  CHECK(nodes_to_begin(rollout, own).empty());

  const auto why = [&what](const std::string& key, const std::string& value) {
    const auto no_zone = [](const std::string&) { return Result<TimeZone>(Refusal{"none"}); };
    return held_back(what, {.found = {record("/fleet/v1/" + key, value)}}, 3'600, no_zone);
  };
  CHECK(why("stop", "{}").words == "the end of the stop (fleetctl stop off)");
  const auto later = why("window/all", R"({"start":"03:00","duration_s":3600})");
  CHECK(later.words == "n2: its window opens in 2h");
  CHECK_FALSE(later.needs_person);
  const auto never = why("window/all", R"({"start":"01:00","duration_s":60})");
  CHECK(never.words == "n2: it takes longer than its window is open");
  CHECK(never.needs_person);
  CHECK(why("window/all", R"({"start":"01:00","duration_s":3600})").words.empty());
}

TEST_CASE("a plan waits for the windows of all its members, until its first step has begun") {
  PlanView view{.plan = {.state = PlanState::running}, .ids = {"n1", "n2"}};
  CHECK(nodes_to_begin(view) == view.ids);
  view.plan.step = 1;
  CHECK(nodes_to_begin(view).empty());
  view.plan = {.state = PlanState::stopping};
  CHECK(nodes_to_begin(view).empty());
}

}  // namespace

}  // namespace held_test

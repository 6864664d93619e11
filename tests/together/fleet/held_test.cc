// Tests what fleetctl and the web page say about work that cannot begin now, because windows are
// closed or a stop is ordered.
#include "fleet/model/held.h"

#include <catch2/catch.hpp>

#include "fleet/http/outlook.h"
#include "fleet/model/record_text.h"

namespace held_test {

namespace {

using namespace fleet;

KeyValue record(const std::string& key, const std::string& value) {
  return {.key = key, .value = value, .modified = 1};
}

// ---- the decision

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

// ---- the page

TEST_CASE("the page names what a rollout waits for, and asks for a person if time does not help") {
  CellState cell;
  const Rollout rollout{.terms = {.component = "agent", .version = "2"},
                        .state = RolloutState::rolling,
                        .batches = 1};
  cell.take(record("/fleet/v1/rollout/r1", write_record(rollout)));
  cell.take(record("/fleet/v1/driver/r1", R"({"controller":"c1"})"));
  const auto outlook = [&cell](const Held& why) {
    return outlook_of(cell, {}, 0, why.words.empty() ? HeldWork{} : HeldWork{{"rollout/r1", why}});
  };
  REQUIRE(outlook({}).moves.size() == 1);
  CHECK(outlook({}).moves[0].not_before);

  const Outlook later = outlook({.words = "n2: its window opens in 2h"});
  REQUIRE(later.moves.size() == 1);
  CHECK(later.moves[0].text.ends_with("; waits for n2: its window opens in 2h"));
  CHECK_FALSE(later.moves[0].not_before);

  const Outlook never = outlook({.words = "n2: its window never opens", .needs_person = true});
  CHECK(never.moves.empty());
  REQUIRE(never.waits.size() == 1);
  CHECK(never.waits[0].text.ends_with("; waits for n2: its window never opens"));
  CHECK(never.waits[0].commands ==
        std::vector<std::string>{"fleetctl window list", "fleetctl rollout abort r1"});
}

}  // namespace

}  // namespace held_test

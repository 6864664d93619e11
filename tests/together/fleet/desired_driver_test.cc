// Tests the driver of desired versions: that a change of a window, a claim, a place of a budget or
// the desired version itself, which others make at any moment, has its effect at once.
// driver_test.cc tests how such a driver works with the store, and desired_test.cc how it decides.
#include <catch2/catch.hpp>

#include "fleet/model/drivers/drivers.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "tests/together/fleet/test_store.h"

namespace desired_driver_test {

namespace {

using namespace fleet;

// A cell whose nodes run version 1 of fleet-agent, and its driver of desired versions.
struct Bench : fleet_test::DriverBench<DesiredDriver> {
  explicit Bench(const std::vector<std::string>& nodes, const DesiredSettings& settings = {})
      : DriverBench(DesiredDriver("c1", {"agent"}, settings, 100)) {
    for (const std::string& id : nodes) {
      store.put(key_of(KeyKind::node_versions, {id}), R"({"agent":"1"})");
      store.put(key_of(KeyKind::node_active, {id}), R"({"instance":"old"})");
      store.put(key_of(KeyKind::node_instance, {id, "old"}), R"({"version":"1","ready":true})");
    }
  }
  static std::string of(KeyKind kind, const std::string& id) { return key_of(kind, {id, "agent"}); }
  void wait(Ms time) {
    now += time;
    clock_shows(std::nullopt);
  }
  void wish() { put(key_of(KeyKind::desired, {"agent"}), R"({"version":"2"})"); }
  void clock_shows(std::optional<UnixSeconds> wall) {
    tell(KeptAlive{wall});
    settle();
  }
  std::string order(const std::string& id) {
    const KeyValue* found = store.find(of(KeyKind::node_desired, id));
    return found == nullptr ? "" : read_record<Desired>(found->value).value().version;
  }
  void upgrade(const std::string& id, UpgradePhase phase) {
    const Revision told = store.find(of(KeyKind::node_desired, id))->modified;
    put(of(KeyKind::node_upgrade, id),
        write_record(Upgrade{.phase = phase, .attempt = "desired." + std::to_string(told) + ".1"}));
  }
  bool is_told_to_stop(const std::string& id) {
    return store.find(of(KeyKind::node_command, id)) != nullptr;
  }
};

std::string window_at(const std::string& start) {
  return write_record(Window{.start = start, .duration_s = 7'200, .time_zone = "UTC"});
}
const std::string window_of_cell = key_of(KeyKind::window, {"all"});

TEST_CASE("a driver knows the time of day from its beginning, and each time it is told") {
  Bench bench({"n"});
  bench.store.put(window_of_cell, window_at("02:00"));
  const bool is_later = GENERATE(false, true);
  bench.begin(is_later ? 0 : 7'200);
  bench.wish();
  CHECK(bench.order("n") == (is_later ? "" : "2"));
  bench.clock_shows(7'200);
  CHECK(bench.order("n") == "2");
}

TEST_CASE("a node whose window was closed begins as soon as the window is changed or removed") {
  Bench bench({"n"});
  bench.store.put(window_of_cell, window_at("12:00"));
  bench.begin(0);
  bench.wish();
  REQUIRE(bench.order("n").empty());
  SECTION("it is changed") {
    bench.put(window_of_cell, window_at("00:00"));
  }
  SECTION("it is removed") {
    bench.erase(window_of_cell);
  }
  SECTION("the node is in a group with another window") {
    bench.put(key_of(KeyKind::window, {"shop"}), window_at("00:00"));
    REQUIRE(bench.order("n").empty());
    bench.put(key_of(KeyKind::node_info, {"n"}), R"({"labels":{"group":"shop"}})");
  }
  CHECK(bench.order("n") == "2");
}

TEST_CASE("of two nodes with closed windows, the one whose window opens first begins then") {
  Bench bench({"a", "b"});
  bench.store.put(window_of_cell, window_at("00:03"));
  bench.store.put(key_of(KeyKind::window, {"shop"}), window_at("00:01"));
  bench.store.put(key_of(KeyKind::node_info, {"b"}), R"({"labels":{"group":"shop"}})");
  bench.begin(0);
  bench.wish();
  for (int i = 0; i < 6; ++i)
    bench.wait(10'000);
  CHECK(bench.order("a").empty());
  CHECK(bench.order("b") == "2");
}

TEST_CASE("nodes keep their version when a person removes a desired version that moved no more") {
  Bench bench({"n"});
  bench.begin();
  bench.wish();
  bench.upgrade("n", UpgradePhase::staging);
  REQUIRE(bench.order("n") == "2");
  const std::string wish = key_of(KeyKind::desired, {"agent"});
  bench.put(wish, R"({"version":"2","refused":"rollout/r is undone"})");
  CHECK(bench.order("n") == "2");
  bench.erase(wish);
  CHECK(bench.order("n") == "1");
}

TEST_CASE("a node that a person has moved meanwhile has its whole time to come to its gate") {
  Bench bench({"n"}, {.staging_ms = 40'000});
  bench.begin();
  bench.wish();
  bench.upgrade("n", UpgradePhase::staging);
  bench.wait(10'000);
  bench.put(Bench::of(KeyKind::node_claim, "n"), R"({"by":"command/admin:anna"})");
  bench.wait(10'000);
  bench.wait(10'000);
  bench.erase(Bench::of(KeyKind::node_claim, "n"));
  for (int i = 0; i < 3; ++i)
    bench.wait(10'000);
  CHECK(bench.order("n") == "2");
  bench.wait(10'000);
  CHECK(bench.order("n") == "1");
}

TEST_CASE("a node waits at its gate for a place, and no two nodes take the same place") {
  Bench bench({"n"}, {.observe_ms = 0});
  const std::string place = key_of(KeyKind::place, {"site", place_value("north"), "0"});
  const std::string other = R"({"node":"m","by":"rollout/r","value":"north"})";
  for (const char* id : {"m", "n"})
    bench.store.put(key_of(KeyKind::node_info, {id}), R"({"labels":{"site":"north"}})");
  bench.store.put(key_of(KeyKind::node_active, {"m"}), R"({"instance":"i"})");
  bench.store.put(key_of(KeyKind::node_instance, {"m", "i"}), "{}");
  bench.store.put(key_of(KeyKind::settings), R"({"unavailable.site":"1"})");
  const bool is_taken = GENERATE(true, false);
  if (is_taken) bench.store.put(place, other);
  bench.begin();
  bench.wish();
  bench.upgrade("n", UpgradePhase::cutover_ready);
  const std::string next = key_of(KeyKind::node_instance, {"n", "new"});
  bench.store.put(next, R"({"version":"2","ready":true})");
  bench.tell(KeyChanged{*bench.store.find(next)});
  // The place is taken by a rollout after the driver has decided, if it was not taken before.
  if (!is_taken) {
    while (!std::holds_alternative<Commit>(bench.asked.front())) {
      bench.asked.erase(bench.asked.begin());
      bench.tell(LeaseGranted{7});
    }
    bench.store.put(place, other);
  }
  bench.settle();
  REQUIRE_FALSE(bench.is_told_to_stop("n"));
  if (!is_taken) bench.tell(KeyChanged{*bench.store.find(place)});
  bench.settle();
  REQUIRE_FALSE(bench.is_told_to_stop("n"));

  bench.erase(place);
  CHECK(bench.is_told_to_stop("n"));
  CHECK(read_record<BudgetPlace>(bench.store.find(place)->value).value() ==
        BudgetPlace{"n", "desired/agent", "north"});
}

}  // namespace

}  // namespace desired_driver_test

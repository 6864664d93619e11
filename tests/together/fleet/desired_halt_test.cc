// Tests how long a cell halts after a desired version has failed on a node, or a node has fallen
// silent at its gate: until the version is desired again, whatever happens to the node's records. desired_test.cc has the other tests of
// desired versions.
#include <catch2/catch.hpp>

#include "fleet/model/desired_decision.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"
#include "tests/together/fleet/test_store.h"

namespace desired_halt_test {
namespace {

using namespace fleet;

const std::string component = "agent";

// The records of a cell in a store, and a controller that brings its nodes to version 2.
struct Cell {
  fleet_test::TestStore store;
  DesiredView view{component};
  DesiredSettings settings{};
  DesiredMarks marks = {};
  Ms now = 0;

  Cell() {
    store.put(key_of(KeyKind::driver, {"desired"}), "{}");
    wish();
  }

  void node(const std::string& id, const std::string& version) {
    store.put(key_of(KeyKind::node_versions, {id}), write_record(Versions{{{component, version}}}));
    store.put(key_of(KeyKind::node_active, {id}), write_record(Active{.instance = "i"}));
    store.put(key_of(KeyKind::node_instance, {id, "i"}), write_record(Instance{.ready = true}));
  }
  void wish() {
    store.put(key_of(KeyKind::desired, {component}), write_record(Desired{.version = "2"}));
  }
  Desired wished() {
    const KeyValue* found = store.find(key_of(KeyKind::desired, {component}));
    return read_record<Desired>(found->value).value();
  }
  // Returns the version to which the node was ordered to move, or an empty string if there is none.
  std::string order(const std::string& id) {
    const KeyValue* found = store.find(key_of(KeyKind::node_desired, {id, component}));
    return found == nullptr ? "" : read_record<Desired>(found->value).value().version;
  }
  void upgrade(const std::string& id, UpgradePhase phase, const std::string& error) {
    const KeyValue* order = store.find(key_of(KeyKind::node_desired, {id, component}));
    store.put(key_of(KeyKind::node_upgrade, {id, component}),
              write_record(Upgrade{.phase = phase,
                                   .attempt = "desired." + std::to_string(order->modified) + ".1",
                                   .error = error,
                                   .to = "2"}));
  }

  // Commits the controller's transactions until the controller has nothing left to do at the time
  // `time` from now.
  void settle(Ms time = 0) {
    now += time;
    for (int i = 0; i < 100; ++i) {
      view.take_all(store.read({std::string(key_root)}));
      marks.look(view, now);
      const Revision fence = store.find(key_of(KeyKind::driver, {"desired"}))->created;
      const auto next = decide_desired(view, settings, marks, fence, 0, now);
      if (!next.transaction) return;
      REQUIRE(std::holds_alternative<Committed>(store.commit(*next.transaction)));
    }
    FAIL("it never comes to rest");
  }
};

TEST_CASE("a halt lasts until the next wish, even if the failed node is forgotten or moved") {
  Cell cell;
  cell.node("a", "1");
  cell.node("b", "1");
  cell.settle();
  REQUIRE(cell.order("a") == "2");
  cell.upgrade("a", UpgradePhase::failed, "broken");
  cell.settle();
  SECTION("it is forgotten") {
    const Transaction forget{.erases = {{.key = node_prefix("a"), .subtree = true}}};
    REQUIRE(std::holds_alternative<Committed>(cell.store.commit(forget)));
  }
  SECTION("a rollout moves it") {
    cell.store.put(key_of(KeyKind::node_desired, {"a", component}),
                   write_record(Desired{.version = "2", .why = "rollout/r", .trace = "r"}));
    cell.node("a", "2");
    cell.store.erase(key_of(KeyKind::node_upgrade, {"a", component}));
  }
  cell.settle(cell.settings.staging_ms);
  CHECK(cell.order("b").empty());
  CHECK(cell.wished() == Desired{.version = "2", .refused = "it has failed on a: broken"});

  cell.wish();
  cell.settle();
  CHECK(cell.order("b") == "2");
}

TEST_CASE("a halt is marked when no node is on the way, and late nodes are ordered back first") {
  Cell cell;
  cell.settings.uncommitted_percent = 100;
  cell.node("a", "1");
  cell.node("b", "1");
  cell.node("c", "2");
  cell.settle();
  cell.upgrade("a", UpgradePhase::failed, "");
  cell.upgrade("b", UpgradePhase::staging, "");
  cell.settle();
  CHECK(cell.wished().refused.empty());
  cell.settle(cell.settings.staging_ms);
  CHECK(cell.order("b") == "1");
  CHECK(cell.wished().refused == "it has failed on a, b");
}

TEST_CASE("a node that falls silent at its gate holds the others back until the next wish") {
  Cell cell;
  cell.node("a", "1");
  cell.node("b", "1");
  cell.settle();
  cell.upgrade("a", UpgradePhase::cutover_ready, "");
  cell.store.erase(key_of(KeyKind::node_instance, {"a", "i"}));
  cell.settle(2 * cell.settings.staging_ms);
  CHECK(cell.order("a") == "2");
  CHECK(cell.order("b").empty());
  CHECK(cell.wished().refused.empty());

  cell.wish();
  cell.settle();
  CHECK(cell.order("b") == "2");
}

}  // namespace

}  // namespace desired_halt_test

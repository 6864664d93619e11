// Tests the halt of a desired version. If the version has failed on a node, the controller moves no
// further node to it. The same holds if a node falls silent while its new version is ready and
// waits until it may take over. The halt must last until a person desires the version again, even
// if the node's records change or vanish. desired_test.cc has the other tests of desired versions.
#include <catch2/catch.hpp>

#include "tests/together/fleet/desired_cell.h"

namespace desired_halt_test {
namespace {

using namespace fleet;

const std::string& component = fleet_test::DesiredCell::component;

// A cell whose nodes are to be brought to version 2.
struct Cell : fleet_test::DesiredCell {
  Cell() { wish("2"); }

  void node(const std::string& id, const std::string& version) {
    store.put(key_of(KeyKind::node_versions, {id}), write_record(Versions{{{component, version}}}));
    store.put(key_of(KeyKind::node_active, {id}), write_record(Active{.instance = "i"}));
    store.put(key_of(KeyKind::node_instance, {id, "i"}), write_record(Instance{.ready = true}));
  }
  Desired wished() {
    const KeyValue* found = store.find(key_of(KeyKind::desired, {component}));
    return read_record<Desired>(found->value).value();
  }
  void upgrade(const std::string& id, UpgradePhase phase, const std::string& error) {
    store.put(
        key_of(KeyKind::node_upgrade, {id, component}),
        write_record(Upgrade{.phase = phase, .attempt = attempt(id), .error = error, .to = "2"}));
  }
};

TEST_CASE("a halt lasts until the next wish, even if the failed node is forgotten or moved") {
  Cell cell;
  cell.node("a", "1");
  cell.node("b", "1");
  cell.settle();
  REQUIRE(cell.order("a")->version == "2");
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
  cell.wait(cell.settings.staging_ms);
  CHECK_FALSE(cell.order("b"));
  CHECK(cell.wished() == Desired{.version = "2", .refused = "it has failed on a: broken"});

  cell.settle_on("2");
  CHECK(cell.order("b")->version == "2");
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
  cell.wait(cell.settings.staging_ms);
  CHECK(cell.order("b")->version == "1");
  CHECK(cell.wished().refused == "it has failed on a, b");
}

TEST_CASE("a node that falls silent at its gate holds the others back until the next wish") {
  Cell cell;
  cell.node("a", "1");
  cell.node("b", "1");
  cell.settle();
  cell.upgrade("a", UpgradePhase::cutover_ready, "");
  cell.store.erase(key_of(KeyKind::node_instance, {"a", "i"}));
  cell.wait(2 * cell.settings.staging_ms);
  CHECK(cell.order("a")->version == "2");
  CHECK_FALSE(cell.order("b"));
  CHECK(cell.wished().refused.empty());

  cell.settle_on("2");
  CHECK(cell.order("b")->version == "2");
}

}  // namespace
}  // namespace desired_halt_test

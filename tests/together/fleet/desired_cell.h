// A fixture: the records of a cell in a store, and the part of a controller that brings the nodes
// to their desired version. This part reads the records and writes its transactions to the store.
// The test writes the records of the nodes.
#pragma once

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model/desired/desired_decision.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "tests/together/fleet/test_store.h"

namespace fleet_test {

struct DesiredCell {
  static inline const std::string component = "agent";

  TestStore store;
  fleet::DesiredView view{component};
  fleet::DesiredSettings settings{};
  fleet::DesiredMarks marks = {};
  fleet::Ms now = 0;
  std::vector<fleet::Transaction> committed;
  std::optional<fleet::Ms> until;

  DesiredCell() { store.put(driver_key(), "{}"); }

  void wish(const std::string& version) {
    store.put(fleet::key_of(fleet::KeyKind::desired, {component}),
              fleet::write_record(fleet::Desired{.version = version}));
  }

  // Commits the controller's transactions until the controller has nothing left to do at the
  // current time.
  void settle() {
    for (int i = 0; i < 1'000; ++i) {
      view.take_all(store.read({std::string(fleet::key_root)}));
      marks.look(view, now);
      const fleet::DesiredDecision next =
          decide_desired(view, settings, marks, store.find(driver_key())->created, 0, now);
      until = next.until;
      if (!next.transaction) return;
      REQUIRE_FALSE(why_not_taken(*next.transaction));
      REQUIRE(std::holds_alternative<fleet::Committed>(store.commit(*next.transaction)));
      committed.push_back(*next.transaction);
    }
    FAIL("it never comes to rest");
  }
  void settle_on(const std::string& version) {
    wish(version);
    settle();
  }
  void wait(fleet::Ms time) {
    now += time;
    settle();
  }

  std::optional<fleet::Desired> order(const std::string& node) {
    const fleet::KeyValue* found = store.find(order_key(node));
    if (found == nullptr) return std::nullopt;
    return fleet::read_record<fleet::Desired>(found->value).value();
  }
  // Returns the id of the node's first attempt to reach its current desired version.
  std::string attempt(const std::string& node) {
    return "desired." + std::to_string(store.find(order_key(node))->modified) + ".1";
  }

 private:
  static std::string driver_key() { return fleet::key_of(fleet::KeyKind::driver, {"desired"}); }
  static std::string order_key(const std::string& node) {
    return fleet::key_of(fleet::KeyKind::node_desired, {node, component});
  }
};

}  // namespace fleet_test

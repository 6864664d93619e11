// Tests what the driver of a rollout does after a batch whose nodes were all moved by somebody
// else, so that the rollout had to leave them.
#include <catch2/catch.hpp>

#include "fleet/model/drivers/drivers.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "tests/together/fleet/test_store.h"

namespace rollout_left_test {

namespace {

using namespace fleet;

// A rollout of three batches with one node each, and its driver. The first batch is done, and a
// person's command has claimed the node n2 of the second batch.
struct Bench : fleet_test::DriverWork {
  RolloutDriver driver{"c1", "r", 100};

  explicit Bench(NodeStage first) {
    const Rollout rollout{.terms = {.component = "agent", .version = "2"},
                          .state = RolloutState::rolling,
                          .batch = 1,
                          .batches = 3};
    for (std::uint64_t batch = 0; batch < 3; ++batch) {
      store.put(key_of(KeyKind::rollout_batch, {"r"}, batch),
                write_record(RolloutBatch{.nodes = {"n" + std::to_string(batch + 1)}}));
    }
    store.put(key_of(KeyKind::rollout_node, {"r", "n1"}),
              write_record(RolloutNode{.stage = first}));
    store.put(key_of(KeyKind::node_claim, {"n2", "agent"}),
              write_record(Claim{.by = "command/admin:anna"}));
    store.put(key_of(KeyKind::rollout, {"r"}), write_record(rollout));
    tell(BeginDriving{});
  }

  void tell(const DriverEvent& event) {
    take(driver.step(event, 0));
    settle([this](const DriverEvent& next) { take(driver.step(next, 0)); },
           [](const DriverAction&) {});
  }

  Rollout rollout() const {
    return read_record<Rollout>(store.find(key_of(KeyKind::rollout, {"r"}))->value).value();
  }
  NodeStage stage(const std::string& node) const {
    const KeyValue* found = store.find(key_of(KeyKind::rollout_node, {"r", node}));
    return found == nullptr ? NodeStage::waiting
                            : read_record<RolloutNode>(found->value).value().stage;
  }
};

TEST_CASE("a rollout pauses after a batch that was left if no node has tried the version yet") {
  Bench bench(NodeStage::left);
  CHECK(bench.stage("n2") == NodeStage::left);
  CHECK(bench.stage("n3") == NodeStage::waiting);
  CHECK(bench.rollout().state == RolloutState::paused);
  CHECK(bench.rollout().reason == "left: n2, and no node has kept 2 so far");

  // A person lets the rollout continue.
  Rollout resumed = bench.rollout();
  resumed.state = RolloutState::rolling;
  const std::string key = key_of(KeyKind::rollout, {"r"});
  bench.store.put(key, write_record(resumed));
  bench.tell(KeyChanged{*bench.store.find(key)});
  CHECK(bench.stage("n3") == NodeStage::preparing);
}

TEST_CASE("a rollout goes on after a batch that was left if a node has kept the version") {
  const Bench bench(NodeStage::confirmed);
  CHECK(bench.stage("n2") == NodeStage::left);
  CHECK(bench.stage("n3") == NodeStage::preparing);
}

}  // namespace

}  // namespace rollout_left_test

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

  explicit Bench(NodeStage first) : Bench(first, {{"n1"}, {"n2"}, {"n3"}}, 1) {}
  Bench(NodeStage first, const std::vector<std::vector<std::string>>& batches, std::int64_t batch) {
    const Rollout rollout{
        .terms = {.component = "agent", .version = "2", .max_failed_unsaid = true},
        .state = RolloutState::rolling,
        .batch = batch,
        .batches = static_cast<std::int64_t>(batches.size()),
        .failed = first == NodeStage::failed ? 1 : 0};
    for (std::uint64_t each = 0; each < batches.size(); ++each) {
      store.put(key_of(KeyKind::rollout_batch, {"r"}, each),
                write_record(RolloutBatch{.nodes = batches[each]}));
      for (const std::string& node : batches[each])
        store.put(key_of(KeyKind::node_active, {node}), write_record(Active{}));
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

TEST_CASE("without --max-failed, a batch that failed or was left aborts the rollout") {
  const Bench bench(NodeStage::failed, {{"n1", "n2"}, {"n3"}}, 0);
  CHECK(bench.stage("n2") == NodeStage::left);
  CHECK(bench.stage("n3") == NodeStage::waiting);
  CHECK(bench.rollout().state == RolloutState::aborted);
  CHECK(bench.rollout().reason.starts_with(
      "1 failed, among them every node of the batch that has tried it"));
}

}  // namespace

}  // namespace rollout_left_test

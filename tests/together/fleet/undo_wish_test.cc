// Tests which desired version an undo of a rollout gives back to a node. The explorations
// (rollout_explore_test.cc) check that the undo writes this version.
#include <catch2/catch.hpp>

#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/rollout_decision.h"
#include "tests/together/fleet/test_store.h"

namespace undo_wish_test {
namespace {

using namespace fleet;

const Desired wish{.version = "3", .digest = "d3", .pinned = true, .trace = "desired-4"};

// Begins a rollout over a node that runs the version `running`, and whose own desired version is
// `wish`. `last` is the record of the node's last upgrade. A `?` in `last.attempt` is replaced with
// the revision of `wish`. Returns the desired version that an undo of the rollout would give back
// to the node.
Desired kept_for_undo(Upgrade last, const std::string& running = "1") {
  fleet_test::TestStore store;
  store.put(key_of(KeyKind::rollout_batch, {"r"}, 0), write_record(RolloutBatch{{"n"}}));
  store.put(key_of(KeyKind::rollout, {"r"}),
            write_record(Rollout{.terms = {.component = "agent", .version = "2"},
                                 .state = RolloutState::rolling,
                                 .batches = 1}));
  store.put(key_of(KeyKind::node_active, {"n"}), write_record(Active{}));
  store.put(key_of(KeyKind::node_versions, {"n"}), write_record(Versions{{{"agent", running}}}));
  store.put(key_of(KeyKind::node_desired, {"n", "agent"}), write_record(wish));
  const Revision revision = store.find(key_of(KeyKind::node_desired, {"n", "agent"}))->modified;
  if (const std::size_t at = last.attempt.find('?'); at != std::string::npos)
    last.attempt.replace(at, 1, std::to_string(revision));
  store.put(key_of(KeyKind::node_upgrade, {"n", "agent"}), write_record(last));
  RolloutView view{.id = "r"};
  view.take_all(store.read({std::string(key_root)}));
  const RolloutDecision first =
      decide(view, {.lease = StepLease{.batch = 0, .step = RolloutStep::prepare, .lease = 7}}, 0);
  REQUIRE(std::holds_alternative<Write>(first.what));
  REQUIRE(std::holds_alternative<Committed>(store.commit(std::get<Write>(first.what).transaction)));
  const KeyValue* found = store.find(key_of(KeyKind::rollout_node, {"r", "n"}));
  return read_record<RolloutNode>(found->value).value().desired_before.at(0);
}

TEST_CASE("an undo gives a node the wish from before the rollout") {
  CHECK(kept_for_undo({.phase = UpgradePhase::staging, .attempt = "desired.?.1", .to = "3"}) ==
        wish);
  // An earlier record of the node's desired version, at revision 1, also named version 3. The
  // failed attempt belongs to that record. The node has not tried the current record, `wish`, yet.
  CHECK(kept_for_undo({.phase = UpgradePhase::failed, .attempt = "desired.1.1", .to = "3"}) ==
        wish);
  CHECK(kept_for_undo({.phase = UpgradePhase::failed, .attempt = "r1.apply.1", .to = "3"}) == wish);
}

// Confirms a node whose own desired version was `wish` before the rollout, and is `now` today.
// Returns the desired version that an undo of the rollout would give back to the node.
std::vector<Desired> kept_when_confirmed(const std::optional<Desired>& now) {
  RolloutView view{.id = "r"};
  const auto put = [&view](const std::string& key, const std::string& value) {
    view.take({.key = key, .value = value, .created = 1, .modified = 1});
  };
  put(key_of(KeyKind::rollout, {"r"}),
      write_record(Rollout{.terms = {.component = "agent", .version = "2"},
                           .state = RolloutState::rolling,
                           .batches = 1}));
  put(key_of(KeyKind::rollout_batch, {"r"}, 0), write_record(RolloutBatch{{"n"}}));
  put(key_of(KeyKind::rollout_node, {"r", "n"}),
      write_record(RolloutNode{.stage = NodeStage::confirming,
                               .command = "r.confirm.1",
                               .attempt = 1,
                               .applied = true,
                               .before = "1",
                               .desired_before = {wish}}));
  put(key_of(KeyKind::node_upgrade, {"n", "agent"}),
      write_record(Upgrade{.phase = UpgradePhase::done, .attempt = "r.apply.1"}));
  if (now) put(key_of(KeyKind::node_desired, {"n", "agent"}), write_record(*now));
  const RolloutDecision last = decide(view, {}, 0);
  for (const Put& one : std::get<Write>(last.what).transaction.puts) {
    if (one.key == key_of(KeyKind::rollout_node, {"r", "n"}))
      return read_record<RolloutNode>(one.value).value().desired_before;
  }
  return {};
}

TEST_CASE("an undo does not bring back a wish that a person has removed during the rollout") {
  CHECK(kept_when_confirmed(wish) == std::vector<Desired>{wish});
  CHECK(kept_when_confirmed(std::nullopt).empty());
}

TEST_CASE("an undo gives a node that its wish has failed on the version that it runs") {
  const Upgrade failed{
      .phase = UpgradePhase::failed, .attempt = "desired.?.1", .error = "broken", .to = "3"};
  const Desired kept = kept_for_undo(failed);
  CHECK(kept.version == "1");
  CHECK(kept.digest.empty());
  CHECK(kept.why == "3 has failed: broken");
  CHECK(kept.trace == wish.trace);
  CHECK(kept.pinned);
  // The node reports that it runs `1 (debug)`, which is not a valid name for a version in a record.
  // So the undo cannot name that version, and gives the node its desired version from before the
  // rollout.
  CHECK(kept_for_undo(failed, "1 (debug)") == wish);
}

}  // namespace

}  // namespace undo_wish_test

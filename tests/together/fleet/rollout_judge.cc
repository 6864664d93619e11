// The judge of the explorations and simulations of rollouts. It checks every transaction of a
// rollout's driver, and how each rollout ends. To be independent of the driver's code, the rules
// here were written from the driver's description alone.
#include <algorithm>

#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "tests/together/fleet/rollout_world.h"

namespace fleet_test {

using namespace fleet;

namespace {

bool is_ended(NodeStage stage) {
  return stage == NodeStage::confirmed || stage == NodeStage::failed ||
         stage == NodeStage::unconfirmed || stage == NodeStage::rolled_back ||
         stage == NodeStage::left || stage == NodeStage::undone || stage == NodeStage::kept ||
         stage == NodeStage::not_judged;
}

template <class Record>
Record record_at(const TestStore& store, const std::string& key) {
  const KeyValue* found = store.find(key);
  if (found == nullptr) return {};
  auto record = read_record<Record>(found->value);
  return record ? record.value() : Record{};
}

}  // namespace

void RolloutWorld::is_wrong(const std::string& what) {
  if (wrong_.empty()) wrong_ = what;
}

// Injects a bug into a driver's transaction, to test whether the judge finds the bug.
void RolloutWorld::seed(Transaction& transaction) {
  const auto drop = [&transaction](const std::string& key) {
    std::erase_if(transaction.compares, [&](const Compare& one) { return one.key == key; });
  };
  const bool takes_key = transaction.puts[0].key == key_of(KeyKind::driver, {"r"});
  if (takes_key || setup_.seeded == Seeded::none) return;
  if (setup_.seeded == Seeded::no_fence) drop(key_of(KeyKind::driver, {"r"}));
  if (setup_.seeded == Seeded::no_fence) drop(key_of(KeyKind::rollout, {"r"}));
  if (setup_.seeded == Seeded::no_stop) drop(key_of(KeyKind::stop));
  if (setup_.seeded == Seeded::no_revision) drop(key_of(KeyKind::rollout, {"r"}));
  if (setup_.seeded == Seeded::no_stage) {
    std::erase_if(transaction.puts,
                  [](const Put& put) { return parse_key(put.key)->kind == KeyKind::rollout_node; });
  }
  const bool is_undo = rollout().state == RolloutState::undoing;
  if (setup_.seeded == Seeded::keep_wish && is_undo) {
    std::erase_if(transaction.erases, [](const Erase& erase) {
      return parse_key(erase.key)->kind == KeyKind::node_desired;
    });
  }
  if (setup_.seeded == Seeded::lose_pin) {
    for (const std::string& id : ids_)
      drop(key_of(KeyKind::node_desired, {id, "agent"}));
  }
  for (Put& put : transaction.puts) {
    const auto key = parse_key(put.key);
    if (key && key->kind == KeyKind::rollout_node && setup_.seeded == Seeded::blame_good) {
      RolloutNode node = read_record<RolloutNode>(put.value).value();
      if (node.stage == NodeStage::confirmed) node.stage = NodeStage::failed;
      put.value = write_record(node);
    }
    if (!key || key->kind != KeyKind::node_command) continue;
    Command command = read_record<Command>(put.value).value();
    if (setup_.seeded == Seeded::confirm_early && command.action == CommandAction::apply) {
      command.action = CommandAction::confirm;
    }
    if (setup_.seeded == Seeded::confirm_unjudged && command.action == CommandAction::rollback) {
      command.action = CommandAction::confirm;
    }
    if (setup_.seeded == Seeded::undo_elsewhere && command.undo) command.version = "0";
    put.value = write_record(command);
  }
}

// Checks a driver's transaction before it is committed.
void RolloutWorld::judge(const Transaction& transaction, Revision fence) {
  const KeyValue* driver = store_.find(key_of(KeyKind::driver, {"r"}));
  const bool takes_key = transaction.puts[0].key == key_of(KeyKind::driver, {"r"});
  if (!takes_key && (driver == nullptr || driver->created != fence)) {
    is_wrong("a driver has written whose key is not its own: " + fleet::words(transaction));
  }
  for (const Put& put : transaction.puts) {
    const auto key = parse_key(put.key);
    if (!key) return is_wrong(put.key + " is no key");
    if (key->kind == KeyKind::node_command) {
      judge_order(key->names[0], read_record<Command>(put.value).value());
    }
    judge_wish(put.key);
  }
  for (const Erase& erase : transaction.erases)
    judge_wish(erase.key);
}

std::vector<std::string> RolloutWorld::batch_of(const std::string& node) const {
  const auto number = batch_number(node);
  const KeyValue* found = store_.find(key_of(KeyKind::rollout_batch, {"r"}, number));
  return found == nullptr ? std::vector<std::string>{}
                          : read_record<RolloutBatch>(found->value).value().nodes;
}

// Returns the number of the batch that has this node. If no batch has the node, returns the number
// of batches.
std::uint64_t RolloutWorld::batch_number(const std::string& node) const {
  for (std::uint64_t i = 0;; ++i) {
    const KeyValue* found = store_.find(key_of(KeyKind::rollout_batch, {"r"}, i));
    if (found == nullptr) return i;
    const auto nodes = read_record<RolloutBatch>(found->value).value().nodes;
    if (std::binary_search(nodes.begin(), nodes.end(), node)) return i;
  }
}

// Checks a command to apply the new version. Only one node of a site may be moving at a time, so no
// other node of this node's site may be moving now. An undo with --now moves all nodes at once.
void RolloutWorld::judge_place(const std::string& node, const std::string& order) {
  if (setup_.sites.empty() || (rollout().state == RolloutState::undoing && rollout().undo_now))
    return;
  const auto site = [this](const std::string& id) {
    const auto found = std::find(ids_.begin(), ids_.end(), id);
    return setup_.sites[static_cast<std::size_t>(found - ids_.begin())];
  };
  for (const std::string& id : ids_) {
    const RolloutNode other = record(id).value_or(RolloutNode{});
    const bool begun = other.stage != NodeStage::waiting && !is_ended(other.stage);
    if (id != node && begun && site(id) == site(node)) {
      is_wrong(order + " was ordered of " + node + " while " + id + " of the same site moved");
    }
  }
}

// Checks a command of an undo. The command must name the version that the node had before the
// rollout. Unless the undo has --now, all nodes of later batches must have gone back already,
// except those that cannot go back.
void RolloutWorld::judge_undo(const std::string& node, const Command& command) {
  const Rollout now = rollout();
  if (now.state != RolloutState::undoing) is_wrong(command.id + " was ordered before the undo");
  if (command.version != "1") is_wrong(node + " was told to go back to " + command.version);
  if (command.action != CommandAction::confirm && !nodes_.at(node).committed) {
    is_wrong(command.id + " was ordered of " + node + ", which has not kept the version");
  }
  if (now.undo_now) return;
  for (const std::string& id : ids_) {
    const NodeStage stage = record(id).value_or(RolloutNode{}).stage;
    const bool is_later = batch_number(id) > batch_number(node);
    if (is_later && nodes_.at(id).committed && stage != NodeStage::kept) {
      is_wrong(command.id + " was ordered of " + node + " before " + id + " had gone back");
    }
  }
}

// Checks a write or an erasure of a node's own desired version: the driver may not replace a
// version that a person has given the node after the rollout's first order to it.
void RolloutWorld::judge_wish(const std::string& key) {
  const KeyValue* there = store_.find(key);
  if (there == nullptr || parse_key(key)->kind != KeyKind::node_desired) return;
  if (read_record<Desired>(there->value).value().why == "after the order")
    is_wrong("the rollout has replaced the later " + key);
}

// Checks a command `confirm`. The driver that gives the command must have asked the rollout's gate
// (a question such as one to Prometheus) after the last command `apply`, and the answer must be
// `well`. Once the confirmation of a batch has begun, its remaining nodes need no new answer.
void RolloutWorld::judge_verdict(const std::string& node, const Command& command) {
  if (!setup_.has_gate || command.undo) return;
  if (command.action == CommandAction::apply) gate_said_ = GateSays::unknown;
  const bool is_begun = rollout().phase == BatchPhase::confirming;
  if (command.action == CommandAction::confirm && !is_begun && gate_said_ != GateSays::well) {
    is_wrong(command.id + " was ordered of " + node + " although its gate has not said well");
  }
}

void RolloutWorld::judge_order(const std::string& node, const Command& command) {
  if (nodes_.at(node).gone)
    is_wrong(command.id + " was ordered of " + node + ", which was forgotten");
  if (command.undo) judge_undo(node, command);
  judge_verdict(node, command);
  const bool begins = !command.undo && (command.action == CommandAction::prepare ||
                                        command.action == CommandAction::apply);
  const Rollout now = rollout();
  if (begins && store_.find(key_of(KeyKind::stop)) != nullptr) {
    is_wrong(command.id + " was ordered while there was a stop");
  }
  if (begins && (now.state != RolloutState::rolling || now.order == RolloutOrder::abort)) {
    is_wrong(command.id + " was ordered of a rollout that is to abort, or pauses");
  }
  if (command.action == CommandAction::apply) judge_place(node, command.id);
  const auto batch = batch_of(node);
  const auto number = batch_number(node);
  for (const std::string& id : ids_) {
    const NodeStage stage = record(id).value_or(RolloutNode{}).stage;
    const bool is_at_once = now.state == RolloutState::undoing && now.undo_now;
    if (batch_number(id) < number && !is_ended(stage) && !is_at_once) {
      is_wrong(command.id + " was ordered of " + node + " before " + id + " had ended");
    }
  }
  for (const std::string& id : batch) {
    // The records of a forgotten node no longer show what it has done.
    if (nodes_.at(id).forgotten) continue;
    const RolloutNode other = record(id).value_or(RolloutNode{});
    const Answer answer = record_at<Answer>(store_, key_of(KeyKind::node_answer, {id, "agent"}));
    const Upgrade upgrade =
        record_at<Upgrade>(store_, key_of(KeyKind::node_upgrade, {id, "agent"}));
    const bool unprepared =
        other.stage == NodeStage::waiting ||
        (other.stage == NodeStage::not_judged && other.again < now.again) ||
        (other.stage == NodeStage::preparing && answer.command != other.command);
    if (command.action == CommandAction::apply && unprepared) {
      is_wrong(command.id + " was ordered before " + id + " was prepared");
    }
    const bool soaks = other.stage == NodeStage::applying && upgrade.phase == UpgradePhase::soaking;
    // A node whose `apply` was interrupted prepares again. If a stop keeps it from beginning, the
    // other nodes of the batch are confirmed without it.
    const bool is_held = other.applied && store_.find(key_of(KeyKind::stop)) != nullptr;
    if (command.action == CommandAction::confirm && ((unprepared && !is_held) || soaks)) {
      is_wrong(command.id + " was ordered before " + id + " had soaked");
    }
  }
  const Upgrade own = record_at<Upgrade>(store_, key_of(KeyKind::node_upgrade, {node, "agent"}));
  if (command.action == CommandAction::confirm && !nodes_.at(node).forgotten &&
      (own.phase == UpgradePhase::unknown || own.phase == UpgradePhase::soaking)) {
    is_wrong(node + " was told to confirm before it had soaked");
  }
}

// Checks the state that a completed undo leaves. Returns the first rule that this state breaks, or
// an empty text. No node that can go back may run the new version. Each undone node must have the
// desired version from before the rollout. The cell's desired version must be marked as refused.
std::string RolloutWorld::wrong_undo() const {
  for (const auto& [id, node] : nodes_) {
    // The records that show how to bring back a node are erased when a person forgets the node.
    if (node.forgotten) continue;
    const RolloutNode at = record(id).value_or(RolloutNode{});
    if (node.committed && at.stage != NodeStage::kept) {
      return id + " runs what was undone, and is recorded as " + std::string(text_of(at.stage));
    }
    if (at.stage != NodeStage::undone) continue;
    if (node.committed) return id + " is recorded as undone and is not";
    const KeyValue* wish = store_.find(key_of(KeyKind::node_desired, {id, "agent"}));
    const bool is_as_before =
        id == ids_.front()
            ? wish != nullptr && read_record<Desired>(wish->value).value().why == "before"
            : wish == nullptr;
    const bool is_pinned = wish != nullptr && read_record<Desired>(wish->value).value().pinned;
    if (!is_as_before && !is_pinned) return "the wish of " + id + " is not what it was";
  }
  const Desired wish = record_at<Desired>(store_, key_of(KeyKind::desired, {"agent"}));
  return wish.refused.empty() ? "the cell still wishes what was undone" : "";
}

std::string RolloutWorld::wrong_end() const {
  const Rollout end = rollout();
  if (end.state == RolloutState::undone) {
    if (auto wrong = wrong_undo(); !wrong.empty()) return wrong;
  }
  std::int64_t failed = 0;
  std::int64_t bad = 0;
  std::int64_t confirmed = 0;
  for (const auto& [id, node] : nodes_) {
    const RolloutNode at = record(id).value_or(RolloutNode{});
    if (at.stage == NodeStage::failed) ++failed;
    if (at.stage == NodeStage::failed && at.applied) ++bad;
    const bool committed = at.stage == NodeStage::confirmed;
    if (committed) ++confirmed;
    if (committed && !node.committed) return id + " is recorded as confirmed and is not";
    // A node in one of these three stages may run the old version or the new one. An `unconfirmed`
    // node was not confirmed in time, or has not answered. A node in `left` was left as it was when
    // the rollout ended. A node in `kept` could not be brought back by the undo.
    const bool unheard = at.stage == NodeStage::unconfirmed || at.stage == NodeStage::left ||
                         at.stage == NodeStage::kept;
    if (node.committed && at.stage != NodeStage::confirmed && !unheard) {
      return id + " is committed, and recorded as something else";
    }
    if (at.stage == NodeStage::failed && node.nature == Nature::good && !node.was_absent)
      return id + " has failed, and has done all that it was told in time";
    if (at.stage == NodeStage::failed && node.gone) return id + " was forgotten, and has failed";
    const bool ended = at.stage == NodeStage::waiting || is_ended(at.stage);
    const bool claimed = store_.find(key_of(KeyKind::node_claim, {id, "agent"})) != nullptr;
    const bool told = store_.find(key_of(KeyKind::node_command, {id, "agent"})) != nullptr;
    if (ended && (claimed || told)) return id + " has ended, and its command or claim is there";
    if (!ended) return id + " has not ended";
    if (end.state == RolloutState::completed && at.stage == NodeStage::waiting) {
      return "completed without " + id;
    }
  }
  if (failed != end.failed) return std::to_string(failed) + " failed, and not as many are counted";
  if (!setup_.max_failed_unsaid && bad > setup_.max_failed + setup_.batch)
    return "a bad release went too far";
  if (end.state != RolloutState::completed && end.state != RolloutState::aborted &&
      end.state != RolloutState::paused && end.state != RolloutState::undone) {
    return "the rollout does not end";
  }
  if (end.state == RolloutState::completed && !setup_.max_failed_unsaid &&
      failed >= setup_.max_failed) {
    return "completed although too many have failed";
  }
  if (end.state == RolloutState::completed && confirmed == 0 && !nodes_.empty()) {
    return "completed although no node has kept the version";
  }
  if (store_.find(key_of(KeyKind::driver, {"r"})) != nullptr && end.state != RolloutState::paused) {
    return "its driver goes on";
  }
  return "";
}

}  // namespace fleet_test

// A rollout as its driver sees it: the records on which decisions depend. Each record is parsed
// once, when it is read or has changed. Besides this view, a decision depends only on DriverFacts
// (rollout_decision.h) and on the time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/records/keys.h"
#include "fleet/model/records/node_records.h"
#include "fleet/model/records/rollout_records.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// The parts of one node's records on which decisions about the rollout depend.
struct NodeSight {
  // True if the node has registered in the cell, and nobody has removed it from the cell since.
  bool is_in_cell = false;
  // The processes of fleet-agent on the node that are connected to the store. The node is silent if
  // there are none.
  std::set<std::string> instances = {};
  RolloutNode node = {};
  Answer answer = {};
  Upgrade upgrade = {};
  std::string running = {};  // the component's running version, as the node reports it
  // The name in the claim, the record that says which rollout or person moves the node now; empty
  // if there is no claim.
  std::string claimed_by = {};
  std::optional<Desired> desired = {};
  Revision desired_revision = 0;

  bool operator==(const NodeSight&) const = default;
};

struct RolloutView {
  std::string id = {};
  // The rollout's record; no value if the rollout does not exist.
  std::optional<Rollout> rollout = {};
  Revision revision = 0;  // the revision of the rollout's record
  Revision created = 0;   // the revision at which the rollout's record was created
  // The revision at which the record `epoch` was created, that is, at which a person has first
  // called `fleetctl restored`. 0 if the store was never restored.
  Revision restored = 0;
  // True if the record `stop` exists, so that nothing may begin.
  bool stopped = false;
  std::map<std::int64_t, std::vector<std::string>> batches = {};
  std::map<std::string, NodeSight> nodes = {};
  std::vector<std::string> everyone = {};  // the nodes of all batches, sorted
  std::optional<Desired> wish = {};        // the cell's desired version of the component
  Revision wish_revision = 0;
  std::string damage = {};  // why a record of the rollout cannot be read

  bool operator==(const RolloutView&) const = default;

  // Returns the nodes of the batch under way. After the last batch, returns no nodes. While an undo
  // takes back all batches at the same time, returns all nodes of the rollout.
  [[nodiscard]] const std::vector<std::string>& batch() const;
  // Returns what this view knows of the node. The reference is valid until the view changes. A node
  // that this view does not know has an empty NodeSight.
  [[nodiscard]] const NodeSight& sight(const std::string& node) const;

  // Stores a record in this view (take), or removes the record at the key (take_absent). Ignores
  // keys that do not matter to this rollout.
  void take(const KeyValue& record);
  void take_absent(const std::string& key);

  // Replaces all records in this view with the records of the reading.
  void take_all(const Reading& reading);

 private:
  void take_text(const std::string& key, const std::string* text, Revision modified);
  void take_rollout(const std::string* text);
  void take_batch(std::int64_t number, const std::string* text);
  void take_of_node(const ParsedKey& key, const std::string* text, Revision modified);
};

// The most times that the same order is given to a node. An order is repeated if its outcome is
// unknown.
inline constexpr std::int64_t attempts_max = 3;

// Returns a number that identifies the batch under way. RolloutMarks, StepLease, gates and the
// judge name a batch by this number. A batch gets a new number when it is done again or undone.
[[nodiscard]] std::int64_t turn_of(const Rollout& rollout);

// Returns whether an undo of the rollout is under way.
[[nodiscard]] bool is_undoing(const RolloutView& view);

// A store that was restored from a snapshot may have lost a rollout of the same name, whose
// commands the nodes still know. So the ids of commands end with some bytes of the rollout's random
// trace, called the rollout's life. Only a rollout that was created after the first restore has a
// life.
inline constexpr std::size_t life_bytes = 6;

// Returns the end of the ids of the rollout's commands to this node: a dot and the rollout's life
// (some bytes of its trace), or an empty string if the rollout has no life. Also returns an empty
// string if an older version of fleet-controller, which does not use lives, has begun to move the
// node: the ids then stay as they are.
[[nodiscard]] std::string id_end(const RolloutView& view, const NodeSight& sight);

// Returns the string with which the ids of the rollout's requests to nodes of the control group
// end: a dot and the rollout's life, or an empty string if the rollout has no life.
[[nodiscard]] std::string id_end(const RolloutView& view);

// Returns `rollout/NAME`, which names this rollout in the records of claims and of budget places.
[[nodiscard]] std::string claim_of(const RolloutView& view);

// The state of a node of the batch, as the node's records show it. Time limits are not considered.
enum class Standing {
  waiting,      // the node has got no order yet, or begins anew
  left,         // the rollout does not move the node: somebody else moves it, or `why` says more
  pending,      // the node has not answered its order yet
  ready,        // the node has prepared or soaked, and waits for the next order
  interrupted,  // the outcome of the order is unknown: the order is given again
  confirmed,
  failed,
  unconfirmed,
  rolled_back,
  ended,  // the node has ended: is_end() is true for its stage
};

struct Stand {
  Standing what = Standing::waiting;
  std::string why = {};  // why the node has failed or cannot be moved; empty otherwise
};

// Returns whether this rollout has begun the node's last upgrade, according to the upgrade's id.
// During an undo of the node, only an upgrade by the undo counts. If the batch is done again,
// upgrades of earlier tries do not count. After a restore of the store, an upgrade by a lost
// rollout of the same name does not count.
[[nodiscard]] bool is_upgrade_of(const RolloutView& view, const NodeSight& sight);

[[nodiscard]] Stand stand_of(const RolloutView& view, const NodeSight& sight);

// Returns the evidence (capsule) that the node has reported for the failure of its last order, or
// an empty list if it has reported none.
[[nodiscard]] std::vector<Capsule> evidence_of(const RolloutView& view, const std::string& node);

}  // namespace fleet

// A rollout as its driver sees it: the records that matter for decisions, which are parsed once, as
// they are read or change. The driver decides from this view alone, so that a driver that adopts
// the rollout, and has read the same records, decides the same.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/keys.h"
#include "fleet/model/node_records.h"
#include "fleet/model/rollout_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The records of the store about one node.
struct NodeSight {
  RolloutNode node = {};
  Answer answer = {};
  Upgrade upgrade = {};
  std::string running = {};     // the component's version that the node has found
  std::string claimed_by = {};  // empty if nobody claims the node
  std::optional<Desired> desired = {};

  bool operator==(const NodeSight&) const = default;
};

struct RolloutView {
  std::string id = {};
  std::optional<Rollout> rollout = {};  // no value if the rollout does not exist
  Revision revision = 0;                // of the rollout's record
  bool stopped = false;                 // the record `stop` exists
  std::map<std::int64_t, std::vector<std::string>> batches = {};
  std::map<std::string, NodeSight> nodes = {};
  std::vector<std::string> everyone = {};  // the nodes of all batches, sorted
  std::optional<Desired> wish = {};        // the cell's wish for this component
  Revision wish_revision = 0;
  std::string damage = {};  // why a record of the rollout cannot be read

  bool operator==(const RolloutView&) const = default;

  // Returns the nodes of the batch under way, or none after the last batch. Returns all nodes while
  // all batches are undone at once.
  [[nodiscard]] const std::vector<std::string>& batch() const;
  [[nodiscard]] NodeSight sight(const std::string& node) const;

  // Takes in a record, or the news that a key is absent. A key that does not matter to this rollout
  // changes nothing.
  void take(const KeyValue& record);
  void take_absent(const std::string& key);

  // Replaces everything: a record that the reading does not have is absent.
  void take_all(const Reading& reading);

 private:
  void take_text(const std::string& key, const std::string* text);
  void take_rollout(const std::string* text);
  void take_batch(std::int64_t number, const std::string* text);
  void take_of_node(const ParsedKey& key, const std::string* text);
};

// The number of times that an order is given if its outcome remains unknown.
inline constexpr std::int64_t attempts_max = 3;

// Returns a number for the batch under way, for marks, leases, gates and the judge: each time that
// a batch is done has a number of its own, and so have the batches of an undo.
[[nodiscard]] std::int64_t turn_of(const Rollout& rollout);

// Returns whether an undo of the rollout is under way.
[[nodiscard]] bool is_undoing(const RolloutView& view);

// Returns `rollout/RID`, the name of the rollout in claims.
[[nodiscard]] std::string claim_of(const RolloutView& view);

// The state of a node of the batch, from its records alone.
enum class Standing {
  waiting,      // nothing was ordered of it yet
  claimed,      // another run or command moves it
  pending,      // an order is not answered yet
  ready,        // prepared or soaked, and ready for the next order
  interrupted,  // the outcome of the order is unknown: it is given again, as another attempt
  confirmed,
  failed,
  unconfirmed,
  rolled_back,
  ended,  // its end is recorded already
};

struct Stand {
  Standing what = Standing::waiting;
  std::string why = {};  // the error, in words
};

[[nodiscard]] Stand stand_of(const RolloutView& view, const std::string& node);

}  // namespace fleet

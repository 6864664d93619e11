// A rollout as its driver sees it: the records that decide, taken apart once, as they are read or
// change. The driver decides on this alone, so that one who adopts the rollout, and has read the
// same records, decides the same.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/node_records.h"
#include "fleet/model/rollout_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The records of the store about one node.
struct NodeSight {
  RolloutNode node = {};
  Answer answer = {};
  Upgrade upgrade = {};
  std::string running = {};     // the component's version, as the node found it
  std::string claimed_by = {};  // empty: by nobody

  bool operator==(const NodeSight&) const = default;
};

struct RolloutView {
  std::string id = {};
  std::optional<Rollout> rollout = {};  // none: it is not there
  Revision revision = 0;                // of its record
  bool stopped = false;                 // `stop` is there
  std::map<std::int64_t, std::vector<std::string>> batches = {};
  std::map<std::string, NodeSight> nodes = {};
  std::string damage = {};  // why a record of the rollout cannot be read

  bool operator==(const RolloutView&) const = default;

  // The nodes of the batch under way; none behind the last.
  [[nodiscard]] const std::vector<std::string>& batch() const;
  [[nodiscard]] NodeSight sight(const std::string& node) const;

  // Takes a record in, or that its key is absent. Keys that do not matter to this
  // rollout change nothing.
  void take(const KeyValue& record);
  void take_absent(const std::string& key);

  // Everything anew: what was not found is absent.
  void take_all(const Reading& reading);

 private:
  void take_text(const std::string& key, const std::string* text);
  void take_rollout(const std::string* text);
};

// `rollout/RID`, in claims.
[[nodiscard]] std::string claim_of(const RolloutView& view);

// The standing of a node of the batch, from its records alone.
enum class Standing {
  waiting,      // nothing was ordered
  claimed,      // something else moves it
  pending,      // an order is not answered yet
  ready,        // prepared, or soaked: for the next order
  interrupted,  // nobody knows what came of the order: it is given again, as another attempt
  confirmed,
  failed,
  unconfirmed,
  rolled_back,
  ended,  // recorded already
};

struct Stand {
  Standing what = Standing::waiting;
  std::string why = {};  // the error, in words
};

[[nodiscard]] Stand stand_of(const RolloutView& view, const std::string& node);

}  // namespace fleet

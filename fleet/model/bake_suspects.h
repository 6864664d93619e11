// Helps a person to find out why a node has become degraded: names each rollout that may be the
// cause. A rollout may be the cause if it bakes (all its batches are done, but it is still being
// judged) and the node has kept the rollout's new version. Adds how many of the rollout's nodes are
// degraded or have failed, and how many of all other nodes, so that a person sees whether the
// rollout is to blame. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "fleet/model/keys.h"
#include "fleet/model/rollout_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

class BakeSuspects {
 public:
  // Updates what is known about nodes, from a written or erased record of a rollout, of a node in a
  // rollout, or of an instance. Ignores all other records.
  void take(const ParsedKey& key, const KeyValue& record);
  void take_absent(const ParsedKey& key);

  // Returns a text such as `; maybe by rollout r1 (agent 1.1.0), which bakes: 3 of its 40 nodes do
  // badly, 1 of 60 others` for each rollout that may be the cause, or an empty text if there is
  // none.
  [[nodiscard]] std::string words(const std::string& node) const;

 private:
  struct Watched {
    std::string what = {};  // component and version: `agent 1.1.0`
    bool bakes = false;
    std::map<std::string, NodeStage> nodes = {};
  };

  [[nodiscard]] bool does_badly(const std::string& node) const;

  // The rollouts that are under way. Those that have ended are forgotten.
  std::map<std::string, Watched> rollouts_;
  // For each node, its living processes of fleet-agent, by id. The value is true if the process
  // reports that the node is degraded.
  std::map<std::string, std::map<std::string, bool>> nodes_;
};

// The first words of each text that words() returns. With them, the text can be found inside the
// text of an event.
inline constexpr const char* suspects_mark = "; maybe by rollout ";

}  // namespace fleet

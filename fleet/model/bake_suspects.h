// Names the rollouts that may be the cause when a node becomes degraded: those that bake, and in
// which this node has kept the version. Says how many of their nodes do badly, and how many others,
// so that a person sees whether the rollout is to blame. Pure.
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
  // Takes in a record of a rollout or a node's instance, or the news that it is absent. Ignores all
  // others.
  void take(const ParsedKey& key, const KeyValue& record);
  void take_absent(const ParsedKey& key);

  // Returns `; maybe by rollout r1 (agent 1.1.0), which bakes: 3 of its 40 nodes do badly, 1 of 60
  // others` for each rollout that may be the cause; an empty text if there is none.
  [[nodiscard]] std::string words(const std::string& node) const;

 private:
  struct Watched {
    std::string what = {};  // `agent 1.1.0`
    bool bakes = false;
    std::map<std::string, NodeStage> nodes = {};
  };

  [[nodiscard]] bool does_badly(const std::string& node) const;

  // The rollouts that are under way. Those that have ended are forgotten.
  std::map<std::string, Watched> rollouts_;
  // for each node, its instances that live and whether each is degraded
  std::map<std::string, std::map<std::string, bool>> nodes_;
};

// The mark at which the words of suspects begin in the text of an event.
inline constexpr const char* suspects_mark = "; maybe by rollout ";

}  // namespace fleet

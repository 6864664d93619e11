// The release watcher queries the sources of releases that the settings name, and publishes new
// releases. If the setting `watch.COMPONENT.then` is `desire`, it then makes the release the
// desired version; if the setting is `rollout`, it rolls the release out. Only one controller of a
// cell does this: the one that writes the cell's history. The store refuses the transactions of all
// others. This file does no input or output: next() returns each query as a step, and the caller
// makes the query and passes in the answer.
//
// The watcher tries each release only once. With `desire` or `rollout`, it tries no new release in
// these cases:
//
// - The record `stop` exists, a plan is under way, or a rollout of the component is under way.
// - `desire`: a node that reports does not run the desired version yet.
// - The watcher began the component's last rollout, and this rollout was aborted or undone. A
//   person has to start another rollout.
// - `desire`: a node has failed to move to the desired version. A person has to desire another
//   version, or bring the node to this one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fleet/model/records/settings.h"
#include "fleet/model/records/time.h"
#include "fleet/model/records/transaction.h"
#include "fleet/model/releases/release_list.h"
#include "fleet/model/rollouts/rollout_draft.h"

namespace fleet {

using CellRecords = std::map<std::string, KeyValue, std::less<>>;

// If the release watcher has begun a rollout, the rollout's record names this word, and not a
// person, in the member `who`.
inline constexpr std::string_view watch_who = "watch";

class ReleaseWatcher {
 public:
  struct Rest {
    std::optional<Ms> until = {};
  };
  struct AskSource {
    std::string url = {};
  };
  // Asks the caller to fetch the manifests at `urls`, each with its signature.
  struct AskManifests {
    std::string version = {};  // the version that the manifests must have
    std::vector<std::string> urls = {};
    std::string component = {};
  };
  struct Order {
    Transaction transaction = {};
    std::string news = {};
  };
  using Step = std::variant<Rest, AskSource, AskManifests, Order>;

  struct Moment {
    // The revision at which this controller created its key `driver/events`, which shows that it
    // writes the history. 0 if a different controller has that key.
    Revision fence = 0;
    Ms now = 0;
    std::string time = {};
    std::string trace = {};
  };

  // Returns the next step. Returns Rest until the caller has reported the outcome of the last step.
  [[nodiscard]] Step next(const CellRecords& records, const Moment& moment);

  // The caller reports the outcome of each step by one of the next four functions: source_said(),
  // manifests_came(), source_failed() or written(). Those that return a string return a line for
  // the log, or an empty string if there is nothing to log.
  [[nodiscard]] std::string source_said(const CellRecords& records, const std::string& text);
  [[nodiscard]] std::string manifests_came(const agent_protocol::Result<Release>& release);
  void source_failed() { under_way_.clear(); }
  // Handles the outcome of the transaction of an Order. If the store has denied it, drops the new
  // version, and considers it again after the next query to the source.
  [[nodiscard]] std::string written(const Outcome& outcome);

 private:
  struct Watched {
    Ms ask_at = 0;
    // the new version to publish, and then perhaps to desire or roll out; empty if there is none
    std::string version = {};
    std::optional<IndexedRelease> offer = {};
    std::optional<Release> release = {};  // the release with its manifests
    // The rollout whose records are being written; no value if there is none.
    std::optional<Rollout> wanted = {};
    RolloutDraft draft = {};
    std::string refused = {};  // the invalid versions that the last warning named
    std::string told = {};     // the last line about a version that cannot be rolled out
  };

  [[nodiscard]] std::optional<Step> take(const CellRecords& records, const std::string& component,
                                         Watched& watched, const Moment& moment);
  [[nodiscard]] std::optional<Step> roll_out(const CellRecords& records,
                                             const std::string& component, Watched& watched,
                                             const KeyValue& release, const Moment& moment);

  [[nodiscard]] std::optional<Step> complain(const CellRecords& records,
                                             const std::string& component, Watched& watched,
                                             const std::string& reason, const Moment& moment);
  [[nodiscard]] std::string complaint_of(const std::string& component,
                                         const std::vector<FoundRelease>& releases);

  CellSettings settings_;
  std::map<std::string, Watched> watched_;  // the watched components, by their names
  std::string under_way_;                   // the component whose step is under way
};

// Returns the name of the rollout for a release, such as `watch-agent-1.2.0`. If this name is too
// long, or has a character that a rollout's name may not have, the name is changed. A changed name
// ends in a hash, so that it differs from all other names: `watch-agent-1.2.0-rc-5d2a91c0`.
[[nodiscard]] std::string watch_rollout_id(std::string_view component, std::string_view version);

}  // namespace fleet

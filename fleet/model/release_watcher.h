// The release watcher follows sources of releases. If a source has a new release, the watcher
// publishes it. If the settings say so, it then makes the release the desired version, or rolls it
// out. Only the controller that is the driver of the history does this. The store refuses each of
// the transactions if this controller is not that driver any more. This file does no input or
// output: next() returns each query to a source as a step, and the caller makes the query and
// passes in the answer.
//
// A release that was tried once is never tried again automatically. Under the setting `desire` or
// `rollout`, no new release is taken while the record `stop` exists, while any plan is under way,
// or while a rollout of the component is under way. Under `desire`, no new release is taken before
// all nodes that report run the desired version. After two kinds of failures, a person has to act
// first. If the last rollout of the component was begun by the watcher, and was aborted or undone,
// the person has to start another one. If, under `desire`, a node has failed to move to the desired
// version, the person has to change the desired version, or bring the node to it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fleet/model/release_list.h"
#include "fleet/model/rollout_draft.h"
#include "fleet/model/settings.h"
#include "fleet/model/time.h"
#include "fleet/model/transaction.h"

namespace fleet {

using CellRecords = std::map<std::string, KeyValue, std::less<>>;

// The value of the member `who` in a rollout's record, if the release watcher, and not a person,
// has begun the rollout.
inline constexpr std::string_view watch_who = "watch";

// Returns the state of a component whose source is watched. The state follows from the cell's
// records.
[[nodiscard]] WatchState watch_state(const CellRecords& records, const std::string& component,
                                     const WatchSettings& settings);

class ReleaseWatcher {
 public:
  struct Rest {
    std::optional<Ms> until = {};
  };
  struct AskSource {
    std::string url = {};
  };
  // The step to fetch the manifests at `urls`, each with its signature.
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
    // If this controller is the driver of the history (the one controller that writes the cell's
    // history), the revision at which the key of this driver was created, called the fence.
    // Otherwise 0.
    Revision fence = 0;
    Ms now = 0;
    std::string time = {};
    std::string trace = {};
  };

  // Returns the next step. As long as the outcome of the previous step is awaited, returns Rest.
  [[nodiscard]] Step next(const CellRecords& records, const Moment& moment);

  // Handles the answer of a source. The caller reports the outcome of each step by one of four
  // functions: this one and the three below. Returns a line for the log, or an empty string if the
  // step has succeeded.
  [[nodiscard]] std::string source_said(const CellRecords& records, const std::string& text);
  [[nodiscard]] std::string manifests_came(const agent_protocol::Result<Release>& release);
  void source_failed() { under_way_.clear(); }
  // Handles the outcome of a transaction (an Order). If the store has denied the transaction, drops
  // the new version that the transaction would have made the desired one, and returns a line for
  // the log. That version is considered again only after the next query to the component's source.
  // Otherwise returns an empty string.
  [[nodiscard]] std::string written(const Outcome& outcome);

 private:
  struct Watched {
    Ms ask_at = 0;
    std::string version = {};  // the version to take; may be empty
    std::optional<IndexedRelease> offer = {};
    std::optional<Release> release = {};  // the release with its manifests
    // The rollout whose records are being written; no value if there is none.
    std::optional<Rollout> wanted = {};
    RolloutDraft draft = {};
    std::string refused = {};  // the invalid versions in the last warning of this kind
  };

  [[nodiscard]] std::optional<Step> take(const CellRecords& records, const std::string& component,
                                         Watched& watched, const Moment& moment);
  [[nodiscard]] std::optional<Step> roll_out(const CellRecords& records,
                                             const std::string& component, Watched& watched,
                                             const KeyValue& release, const Moment& moment);

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

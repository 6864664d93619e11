// Follows sources of releases. If a source has a new release, publishes it, makes it the desired
// version, or rolls it out, as the settings say. Only the controller that writes the history does
// so, and each transaction compares that it still does. Pure: next() returns each query to a source
// as a step; the caller makes the query and passes in the answer.
//
// A release that was tried once is never tried again automatically. Nothing new begins while a
// rollout or plan is under way, or if the last rollout that was begun here has failed. In the
// latter case, a person has to start a rollout or to change the desired version.
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

// The text in the member `who` of the record of a rollout, if a controller, and no person, has
// begun the rollout for a new release.
inline constexpr std::string_view watch_who = "watch";

// Returns the state of a component whose source is watched, from the records of the cell.
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
  // A step: fetch the manifests at `urls`, each with its signature.
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
    // The fence of the history's driver; 0 if another controller is that driver.
    Revision fence = 0;
    Ms now = 0;
    std::string time = {};
    std::string trace = {};
  };

  // Returns the next step. As long as the outcome of a step is awaited, the next step is Rest.
  [[nodiscard]] Step next(const CellRecords& records, const Moment& moment);

  // Handles the outcome of the step. Returns a line for the log, or an empty text if the step has
  // succeeded.
  [[nodiscard]] std::string source_said(const CellRecords& records, const std::string& text);
  [[nodiscard]] std::string manifests_came(const agent_protocol::Result<Release>& release);
  void source_failed() { under_way_.clear(); }
  void written() { under_way_.clear(); }

 private:
  struct Watched {
    Ms ask_at = 0;
    std::string version = {};  // the version to take; may be empty
    std::optional<IndexedRelease> offer = {};
    std::optional<Release> release = {};  // the release with its manifests
    // The rollout whose records are being written; no value if there is none.
    std::optional<Rollout> wanted = {};
    RolloutDraft draft = {};
    std::string refused = {};  // the invalid versions that were logged last
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

// Returns the name of the rollout for a release, such as `watch-agent-1.2.0`. A name that would be
// too long, or has a character that is not valid in the name of a rollout, is changed. A changed
// name ends in a hash, so that it differs from other names: `watch-agent-1.2.0-rc-5d2a91c0`.
[[nodiscard]] std::string watch_rollout_id(std::string_view component, std::string_view version);

}  // namespace fleet

// Follows sources of releases, and does with what is new as the settings say: publishes it, desires
// it, or rolls it out. The controller that writes the history does this, too, and compares in each
// transaction that it still does. Pure: what is to be asked of a source is a step, and its answer
// comes back.
//
// A release that was tried once is never tried again by itself, and while something is under way,
// or the last rollout that began here has failed, nothing begins: a person goes on by a rollout or
// a wish.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fleet/model/release_index.h"
#include "fleet/model/rollout_draft.h"
#include "fleet/model/settings.h"
#include "fleet/model/time.h"
#include "fleet/model/transaction.h"

namespace fleet {

using CellRecords = std::map<std::string, KeyValue, std::less<>>;

// The beginner of a rollout that no person asked for.
inline constexpr std::string_view watch_who = "watch";

// The state of a component whose source is watched, by the records.
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
  // Each of these, and its signature.
  struct AskManifests {
    std::string version = {};  // that they are to be of
    std::vector<std::string> urls = {};
    std::string component = {};
  };
  struct Order {
    Transaction transaction = {};
    std::string news = {};
  };
  using Step = std::variant<Rest, AskSource, AskManifests, Order>;

  struct Moment {
    Revision fence = 0;  // of the driver's key; 0: it is not ours
    Ms now = 0;
    std::string time = {};
    std::string trace = {};
  };

  // One thing at a time: while one is under way, a rest.
  [[nodiscard]] Step next(const CellRecords& records, const Moment& moment);

  // Takes the outcome of the step. Returns a line for the log, or an empty text if all is well.
  [[nodiscard]] std::string source_said(const CellRecords& records, const std::string& text);
  [[nodiscard]] std::string manifests_came(const agent_protocol::Result<Release>& release);
  void source_failed() { under_way_.clear(); }
  void written() { under_way_.clear(); }

 private:
  struct Watched {
    Ms ask_at = 0;
    std::string version = {};  // that is to be taken; empty: none
    std::optional<IndexedRelease> offer = {};
    std::optional<Release> release = {};  // with its manifests
    std::optional<Rollout> wanted = {};   // that is being written
    RolloutDraft draft = {};
    std::string refused = {};  // versions of its source that were complained of
  };

  [[nodiscard]] std::optional<Step> take(const CellRecords& records, const std::string& component,
                                         Watched& watched, const Moment& moment);
  [[nodiscard]] std::optional<Step> roll_out(const CellRecords& records,
                                             const std::string& component, Watched& watched,
                                             const KeyValue& release, const Moment& moment);

  [[nodiscard]] std::string complaint_of(const std::string& component,
                                         const std::vector<FoundRelease>& releases);

  CellSettings settings_;
  std::map<std::string, Watched> watched_;  // by component
  std::string under_way_;                   // the component
};

// `watch-agent-1.2.0`: what a rollout of it is called. One whose name would be too long for a
// rollout, or hold what no id does, ends in digits that tell it apart:
// `watch-agent-1.2.0-rc-5d2a91c0`.
[[nodiscard]] std::string watch_rollout_id(std::string_view component, std::string_view version);

}  // namespace fleet

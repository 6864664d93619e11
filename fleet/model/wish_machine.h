// A node's part for the version that is wished of one component: fetches it, has it verified
// and started beside the old one, shows `cutover-ready`, and goes when it is told to. Pure.
//
// It obeys node/ID/desired/COMPONENT, which whoever drives the cell's wish writes when this node
// may begin, or a person who wants this node elsewhere. Each writing is a wish of its own and is
// tried once: its revision is in the attempt's name, and how the attempt ended stands in
// node/ID/upgrade/COMPONENT, so that reading it again, or a restart, tries nothing anew.
//
//   phase of the attempt | happens               | then
//   none                 | a wish not yet tried  | fetch: staging
//   staging              | fetched               | ask: verifying
//   verifying            | ready, at the gate    | cutover-ready
//   cutover-ready        | told to stop          | confirm: going
//   any but going        | the wish has changed  | cancel; when it has ended: the new one
//   any                  | failed                | failed, in words
//   (the new instance)   | committed             | done
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fleet/model/cell_records.h"
#include "fleet/model/node_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

struct Wish {
  Revision revision = 0;
  Desired desired = {};

  bool operator==(const Wish&) const = default;
};

// `desired.REVISION.1`: what an attempt at a wish is called.
[[nodiscard]] std::string attempt_at(const Wish& wish);

// Whether an upgrade of this name was begun for a wish.
[[nodiscard]] bool is_attempt(const std::string& upgrade);

// ---- what has happened

// This instance acts, for good: it is the first, the fallback, or it is committed. `failure` is
// that of the upgrade that led here, where there was one.
struct Settled {
  std::string version = {};
  Upgrade recorded = {};  // as node/ID/upgrade/COMPONENT says
  bool committed = false;
  std::string failure = {};
};
// Wish and claim as they stand at one revision of the store: a rollout's end takes the claim away
// and writes the wish at once, and the wish before that is not to be begun in between.
struct WishSeen {
  std::optional<Wish> wish = {};
  bool claimed = false;  // somebody else moves this node, and wishes wait
};
// The version that runs now, also if a command has brought it.
struct RunsSeen {
  std::string version = {};
};
struct Fetched {
  std::string attempt = {};
  std::string error = {};  // empty: it is on disk, and verified
};
struct GateReached {};
struct StopOrdered {};
// The upgrade has ended, and this instance still acts.
struct AttemptEnded {
  std::string error = {};
};
using WishEvent =
    std::variant<Settled, RunsSeen, WishSeen, Fetched, GateReached, StopOrdered, AttemptEnded>;

// ---- what is to be done

struct FetchRelease {
  std::string attempt = {};
  Desired desired = {};

  bool operator==(const FetchRelease&) const = default;
};
struct AskUpgrade {
  std::string attempt = {};
  std::string version = {};
  bool downgrade = false;  // also to an older version than the one that runs

  bool operator==(const AskUpgrade&) const = default;
};
struct ConfirmUpgrade {
  bool operator==(const ConfirmUpgrade&) const = default;
};
struct CancelUpgrade {
  std::string reason = {};

  bool operator==(const CancelUpgrade&) const = default;
};
struct ReportUpgrade {
  Upgrade upgrade = {};

  bool operator==(const ReportUpgrade&) const = default;
};
using WishAction =
    std::variant<FetchRelease, AskUpgrade, ConfirmUpgrade, CancelUpgrade, ReportUpgrade>;
using WishActions = std::vector<WishAction>;

class WishMachine {
 public:
  // `now` is a time as people read it; nothing is decided by it.
  [[nodiscard]] WishActions step(const WishEvent& event, const std::string& now);

  // Whether an upgrade of this name is still wanted, and has not reached its gate.
  [[nodiscard]] bool asks_for(const std::string& attempt) const {
    return stage_ == Stage::asking && upgrade_.attempt == attempt;
  }
  [[nodiscard]] bool is_cutover_ready() const { return stage_ == Stage::gate; }
  [[nodiscard]] const Upgrade& upgrade() const { return upgrade_; }

 private:
  enum class Stage { idle, fetching, asking, gate, going, cancelling };

  void take(const Settled& settled);
  void take(const RunsSeen& seen);
  void take(const WishSeen& seen);
  void take(const Fetched& fetched);
  void take(const GateReached& reached);
  void take(const StopOrdered& ordered);
  void take(const AttemptEnded& ended);

  void consider();
  void begin(const Wish& wish);
  void give_up();
  void fail(const std::string& error);
  void report(UpgradePhase phase, const std::string& error = {});
  [[nodiscard]] bool was_tried(const Wish& wish) const;

  bool settled_ = false;
  bool claimed_ = false;
  std::string version_;
  std::optional<Wish> wish_;  // the last that was seen
  std::optional<Wish> under_way_;
  Stage stage_ = Stage::idle;
  Upgrade upgrade_;  // as it is, or will be, recorded
  std::string now_;
  WishActions actions_;
};

}  // namespace fleet

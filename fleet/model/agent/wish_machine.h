// WishMachine, a state machine, moves a node to the desired version of one component. It fetches
// the release, and asks the upgrader to start the new version beside the old one. When the new
// version is ready, it records the phase `cutover-ready`, and waits for a command `stop`. Then the
// new version replaces the old one. This file does no input or output.
//
// - Wish: the node reads its desired version from the record node/ID/desired/COMPONENT. A
//   controller writes this record when the node may begin. A person may write it, too, to give this
//   node another version than the rest of the cell. Each write of the record is a wish, even if the
//   version stays the same.
// - Attempt: one try to carry out a wish. Its id contains the wish's revision. The record
//   node/ID/upgrade/COMPONENT says how the attempt ended. After a success or a failure, the wish is
//   not tried again, even after a restart. After a cancellation by the node itself, it may be.
// - Claim: the record of a rollout or person that moves this component of the node now. No attempt
//   begins as long as the claim exists.
// - Restore: a store that was restored from a snapshot gives out revisions a second time. A new
//   wish may then have the revision of a wish that is lost. So the attempt for a lost wish is
//   forgotten (StoreLife).
//
//   phase of the attempt | event                 | next phase, and what is done
//   none                 | an untried wish       | staging: fetch the release
//   staging              | release fetched       | verifying: ask the upgrader for the upgrade
//   verifying            | new version is ready  | cutover-ready: the new version waits
//   cutover-ready        | a command to stop     | going: confirm the upgrade. A command for an
//                        |                       | earlier attempt is ignored
//   any but going        | a different wish      | cancel the attempt, then begin the new wish
//   staging              | a claim on the node   | let the fetch end, then rolled-back
//   verifying            | a claim on the node   | cancel the attempt, then rolled-back
//   cutover-ready        | a claim on the node   | cancel the attempt, then rolled-back
//   rolled-back          | the claim is gone     | staging, as a new attempt
//   any                  | the upgrade fails     | failed, with the error
//   any                  | the upgrade is        | done. After an upgrade of fleet-agent itself,
//                        | committed             | the new instance reports this
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/node_records.h"
#include "fleet/model/records/transaction.h"
#include "fleet/model/signer/store_snapshots.h"

namespace fleet {

struct Wish {
  Revision revision = 0;
  Desired desired = {};

  bool operator==(const Wish&) const = default;
};

// Returns whether `upgrade` is the id of an attempt, that is, of an upgrade to a desired version.
[[nodiscard]] bool is_attempt(const std::string& upgrade);
// Returns whether `upgrade` is the id of an attempt for the version that was desired at the
// revision `wish`.
[[nodiscard]] bool is_attempt_at(const std::string& upgrade, Revision wish);
// Returns the id of the command to stop the old version, so that the new version of this attempt
// replaces it.
[[nodiscard]] std::string stop_id(const std::string& attempt);

// ---- events

// The first event that a WishMachine gets: this instance (process) of fleet-agent is active and
// will stay active. If it was started by an upgrade, that upgrade is committed. If a command began
// the last upgrade, NodeCommander reports how that upgrade ended, and WishMachine does not.
struct Settled {
  // How far the upgrader has come with the upgrade in `recorded`. `no`: the upgrader is not
  // carrying out this upgrade. `waits`: the new version starts, or waits for its confirmation.
  // `goes`: the old version was ordered to stop.
  enum class Upgrading { no, waits, goes };

  std::string version = {};
  Upgrade recorded = {};               // the record node/ID/upgrade/COMPONENT in the store
  bool committed = false;              // the upgrade of `recorded` was committed
  std::string failure = {};            // the error of the last upgrade; empty if it has not failed
  std::vector<Capsule> evidence = {};  // at most one: the evidence of this failure
  Upgrading upgrading = Upgrading::no;
};
// The node's wish (its desired version) and claim (a rollout or person moves the node now), both
// read at the same revision of the store. When a rollout ends, one transaction erases the claim and
// writes a new wish. A node that saw the old wish without the claim would begin the old wish.
struct WishSeen {
  std::optional<Wish> wish = {};
  bool claimed = false;  // the wish has to wait, since a rollout, person or command moves this node
  Revision at = 1;       // the store's revision at which wish and claim were read
  StoreLife life = {};   // the last restore of the store before the revision `at`
  // The record node/ID/upgrade/COMPONENT in the store. Needed only if knows(life) is false: the
  // store was restored since the last event.
  Upgrade recorded = {};
};
// A different version of the component runs now. A wish, a rollout or a person may have been the
// cause.
struct RunsSeen {
  std::string version = {};
};
struct Fetched {
  std::string attempt = {};
  // Why the release could not be fetched or verified; empty if it is on disk.
  std::string error = {};
  std::vector<Capsule> evidence = {};
};
// The new version is ready beside the old one.
struct GateReached {};
struct StopOrdered {
  std::string command = {};  // the id of the command
};
// The upgrade has ended without success: this instance is still active.
struct AttemptEnded {
  std::string error = {};
  std::vector<Capsule> evidence = {};
};
using WishEvent =
    std::variant<Settled, RunsSeen, WishSeen, Fetched, GateReached, StopOrdered, AttemptEnded>;

// ---- actions

struct FetchRelease {
  std::string attempt = {};
  Desired desired = {};

  bool operator==(const FetchRelease&) const = default;
};
struct AskUpgrade {
  std::string attempt = {};
  std::string version = {};
  bool downgrade = false;  // allows a version that is older than the running one

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
// Forget the last attempt (upgrade) in reports: the store was restored from a snapshot, and has
// lost the desired version for which the attempt was made.
struct ForgetUpgrade {
  bool operator==(const ForgetUpgrade&) const = default;
};
using WishAction = std::variant<FetchRelease, AskUpgrade, ConfirmUpgrade, CancelUpgrade,
                                ReportUpgrade, ForgetUpgrade>;
using WishActions = std::vector<WishAction>;

class WishMachine {
 public:
  // `now` is only written into records for people. No decision depends on it.
  [[nodiscard]] WishActions step(const WishEvent& event, const std::string& now);

  // Returns whether a command has to wait. A command `stop`, whose id names an attempt, waits until
  // the new version of this attempt is ready. Other commands wait until the upgrader has ended the
  // upgrade of an attempt, since an upgrader carries out one upgrade at a time.
  [[nodiscard]] bool must_wait(const Command& command) const;
  // Returns whether the upgrader was asked for the upgrade of this attempt (try to reach a desired
  // version), and the new version is not ready yet. Returns false if the attempt was cancelled.
  [[nodiscard]] bool asks_for(const std::string& attempt) const {
    return stage_ == Stage::asking && upgrade_.attempt == attempt;
  }
  // Returns whether this attempt (upgrade to a desired version) has ordered the old version to
  // stop, and has not ended yet.
  [[nodiscard]] bool confirms(const std::string& attempt) const {
    return stage_ == Stage::going && upgrade_.attempt == attempt;
  }
  [[nodiscard]] bool is_cancelling() const { return stage_ == Stage::cancelling; }
  [[nodiscard]] const Upgrade& upgrade() const { return upgrade_; }
  // Returns false if the store was restored from a snapshot since the last event WishSeen.
  [[nodiscard]] bool knows(const StoreLife& life) const { return life_ == life; }

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
  void forget_lost(const Upgrade& recorded);
  void give_up(const std::string& why);
  void abandon(const std::string& why);
  void fail(const std::string& error, const std::vector<Capsule>& evidence = {});
  void report(UpgradePhase phase, const std::string& error = {},
              const std::vector<Capsule>& evidence = {});
  [[nodiscard]] bool was_tried(const Wish& wish) const;
  [[nodiscard]] std::string next_attempt(const Wish& wish) const;
  [[nodiscard]] std::string why_unwanted() const;

  bool settled_ = false;
  bool claimed_ = false;
  Revision at_ = 1;  // the revision at which the desired version and the claim were read
  std::optional<StoreLife> life_;  // the last restore of the store before the revision `at_`
  std::string version_;
  std::optional<Wish> wish_;  // the node's desired version, as last seen
  std::optional<Wish> under_way_;
  Stage stage_ = Stage::idle;
  Upgrade upgrade_;  // the record node/ID/upgrade/COMPONENT, as written or to be written
  std::string now_;
  WishActions actions_;
};

}  // namespace fleet

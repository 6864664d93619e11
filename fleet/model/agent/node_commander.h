// This file executes the commands for one component (a program that is upgraded) on one node, as a
// state machine. A controller writes a command into the store. If the command is for this instance
// (process) of fleet-agent and was not answered before, the node waits for the command's delay.
// Then it executes the command in five steps:
//
//     save      write the command's id to the ledger on disk
//     ask       ask the store, by a transaction without writes, whether the command is unchanged,
//               this instance is active, and the record `stop` is absent (if the command begins
//               something). Go on only if the store says yes within the command's time limit
//     act       prepare a release, begin, commit or cancel an upgrade, let the new version that
//               waits replace the old one, or reboot
//     save      write the answer to the ledger on disk
//     report    write answer and progress to the store, if this instance is still active
//
// - If a controller writes an answered command again, the node only reports the stored answer
//   again.
// - If fleet-agent was restarted during a command, the upgrader reports how the command's upgrade
//   has ended, or that the new version is still on trial: it runs, but is not committed. If the
//   upgrader does not know the upgrade, the answer is `interrupted`.
// - An upgrade begins only with a release that a command `prepare` has prepared since the last
//   upgrade.
// - A command with `undo` brings back the version that ran just before the current one, according
//   to the ledger, and no other version. It is executed even if the record `stop` exists.
// - An order to the upgrader (to commit an upgrade, or to go back) may get lost or be refused. It
//   is repeated until the upgrade has ended. The upgrader refuses to go back while the old version
//   stops, so this order is sent again as soon as the new version is active.
// - After a command `apply`, the new version is on trial. It has soaked when it has been active for
//   soak_ms. If no command `confirm` comes within confirm_ms of the activation, by this node's
//   clock, the node goes back to the old version. If confirm_ms is 0, three times soak_ms is used,
//   but at least five minutes. `confirm` is answered with `done` only when the upgrade is
//   committed.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fleet/model/agent/node_ledger.h"
#include "fleet/model/records/time.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// A question that the store has not answered, and a report that the store has not committed, are
// sent again after this time.
inline constexpr Ms ask_again_ms = 1'000;

// An order to commit or to go back that has not reached the upgrader, or was refused, is sent again
// after this time.
inline constexpr Ms tell_again_ms = 1'000;

struct NodeIdentity {
  std::string node = {};
  std::string component = {};
  std::string instance = {};
  std::string boot_id = {};
};

// Returns how long an upgrade by this command stays on trial if no command `confirm` comes.
[[nodiscard]] Ms confirm_within(const Command& command);

enum class UpgradeEnding { committed, failed, rolled_back };

// ---- events

// The first event after a start of fleet-agent: the state of the last upgrade, as the upgrader
// reports it.
struct Restarted {
  std::string under_way = {};  // the id of the upgrade that is under way; empty if there is none
  // How long ago the new version became active; no value if it is not active.
  std::optional<Ms> activated_ago = {};
  std::string ended = {};  // the id of the upgrade that ended last; empty if none has ended
  UpgradeEnding ending = UpgradeEnding::failed;
  std::string why = {};
  bool expired = false;  // the upgrade `ended` went back, since no commit came in time
  bool reboot_required = false;
  std::vector<Capsule> evidence = {};  // at most one: why the upgrade `ended` has failed
};
// Says whether this instance (process) of fleet-agent is active, that is, acts for the node. If so,
// `revision` is the revision of the record `active`, which names this instance. Otherwise
// `revision` is 0.
struct ActiveIs {
  Revision revision = 0;
};
struct CommandSeen {
  Command command = {};
  Revision revision = 0;
};
struct CommandGone {};
struct StopIsGone {};
// If `differs` is true, the store was restored from a snapshot, and this node does nothing until a
// person accepts the restored store. If `differs` is false, a person has accepted it.
struct EpochDiffers {
  bool differs = true;
};
struct Saved {};
struct AskEnded {
  Outcome outcome = {};
};
struct ReportEnded {
  Outcome outcome = {};
};
struct PrepareEnded {
  std::string command = {};
  // Why the release could not be fetched or verified; empty if it is on disk.
  std::string error = {};
  std::vector<Capsule> evidence = {};
};
struct UpgradeActivated {
  std::string command = {};
};
// The program that reboots the machine has ended. If it could not be started or has failed, `error`
// says why. Otherwise `error` is empty: the machine will reboot soon, and the next process of
// fleet-agent answers the command.
struct RebootEnded {
  std::string command = {};
  std::string error = {};
};
// An order to commit or to go back has not reached the upgrader, or the upgrader has refused it.
struct NotTold {
  std::string upgrade = {};
};
struct UpgradeEnded {
  std::string command = {};
  UpgradeEnding ending = UpgradeEnding::failed;
  std::string why = {};
  bool expired = false;
  bool reboot_required = false;
  std::vector<Capsule> evidence = {};  // at most one: why the upgrade has failed
};
// This version of the component runs now, whether a command, a desired version or a person has
// brought it.
struct RunsNow {
  std::string version = {};
};
struct NodeTimePassed {};

using NodeEvent =
    std::variant<Restarted, ActiveIs, CommandSeen, CommandGone, StopIsGone, EpochDiffers, Saved,
                 AskEnded, ReportEnded, PrepareEnded, RebootEnded, UpgradeActivated, NotTold,
                 UpgradeEnded, RunsNow, NodeTimePassed>;

// ---- actions

struct Save {
  NodeLedger ledger = {};

  bool operator==(const Save&) const = default;
};
struct Ask {
  Transaction question = {};

  bool operator==(const Ask&) const = default;
};
struct Report {
  Transaction transaction = {};

  bool operator==(const Report&) const = default;
};
struct DoPrepare {
  Command command = {};

  bool operator==(const DoPrepare&) const = default;
};
// Begins an upgrade with the id of the command. If trial_ms is 0, the upgrader itself decides when
// the new version is committed. Otherwise the upgrader brings back the old version after trial_ms,
// unless SendCommit comes first.
struct BeginUpgrade {
  Command command = {};
  Ms trial_ms = 0;

  bool operator==(const BeginUpgrade&) const = default;
};
struct SendCommit {
  std::string upgrade = {};

  bool operator==(const SendCommit&) const = default;
};
struct GoBack {
  std::string upgrade = {};
  std::string reason = {};

  bool operator==(const GoBack&) const = default;
};
// Lets the new version, which was started beside the old one and is ready, replace the old one.
struct PassGate {
  std::string command = {};
  std::string reason = {};
  Ms deadline_ms = 0;

  bool operator==(const PassGate&) const = default;
};
struct Reboot {
  std::string command = {};

  bool operator==(const Reboot&) const = default;
};

using NodeAction =
    std::variant<Save, Ask, Report, DoPrepare, BeginUpgrade, SendCommit, GoBack, PassGate, Reboot>;
using NodeActions = std::vector<NodeAction>;

class NodeCommander {
 public:
  NodeCommander(NodeIdentity identity, NodeLedger ledger);

  [[nodiscard]] NodeActions step(const NodeEvent& event, Ms now);
  // Returns the time at which the caller must send the event NodeTimePassed, or no value if there
  // is no need to.
  [[nodiscard]] std::optional<Ms> next_deadline() const;

  // Returns whether the last order for this upgrade was to commit it.
  [[nodiscard]] bool commits(const std::string& upgrade) const {
    return run_ && run_->command.id == upgrade && run_->commit_sent && !run_->told;
  }

  // Returns whether an upgrade that a command has begun is under way.
  [[nodiscard]] bool has_run() const { return run_.has_value(); }
  [[nodiscard]] const NodeLedger& ledger() const { return ledger_; }
  // Returns the whole state as a string, with times relative to `now`. Tests compare states by
  // these strings.
  [[nodiscard]] std::string words(Ms now) const;

 private:
  // The command that is being executed.
  struct Job {
    enum class Stage { saving, asking, acting };

    Command command = {};
    Revision revision = 0;
    Ms not_after = 0;
    Stage stage = Stage::saving;
    std::optional<Ms> ask_at = {};  // when to ask the store again
  };
  // The upgrade that has begun and has not ended.
  struct Run {
    Command command = {};
    std::optional<Ms> activated = {};
    bool soaked = false;
    bool commit_sent = false;
    bool late = false;  // no `confirm` came in time, so the node goes back
    bool late_told = false;
    bool told = false;               // a command has ordered to go back
    std::string reason = {};         // the reason that this command gives
    std::optional<Ms> tell_at = {};  // when to send the order to the upgrader again
  };

  void take(const Restarted& event);
  void take(const ActiveIs& event);
  void take(const CommandSeen& event);
  void take(const CommandGone& event);
  void take(const StopIsGone& event);
  void take(const EpochDiffers& event);
  void take(const Saved& event);
  void take(const AskEnded& event);
  void take(const ReportEnded& event);
  void take(const PrepareEnded& event);
  void take(const RebootEnded& event);
  void take(const UpgradeActivated& event);
  void take(const NotTold& event);
  void take(const UpgradeEnded& event);
  void take(const RunsNow& event);
  void take(const NodeTimePassed& event);

  void resolve_begun(const Restarted& event);
  void resume_run(const Restarted& event);
  void consider();
  [[nodiscard]] std::string why_not(const Command& command) const;
  void begin(const Command& command);
  void act();
  void begin_upgrade(const Command& command);
  void tell_upgrader();
  void answer(const std::string& id, std::string_view result,
              const std::vector<Capsule>& evidence = {});
  void progress(UpgradePhase phase, const std::string& error,
                const std::vector<Capsule>& evidence = {});
  void settle();
  void report();
  [[nodiscard]] Transaction question() const;
  [[nodiscard]] Transaction report_of(const std::string& answered) const;
  // Returns whether the last command was to reboot the machine, and the machine has rebooted since.
  [[nodiscard]] bool has_rebooted() const {
    return ledger_.begun.action == CommandAction::reboot && identity_.boot_id != ledger_.boot_id;
  }
  [[nodiscard]] bool may_act() const { return active_ != 0 && !epoch_differs_; }

  NodeIdentity identity_;
  NodeLedger ledger_;
  NodeLedger saved_;
  std::optional<Job> job_;
  std::optional<Run> run_;
  std::optional<CommandSeen> seen_;
  Ms seen_at_ = 0;
  std::optional<Ms> begin_at_;  // when the delay of the command in `seen_` is over
  std::string dropped_;   // the id of a command that missed its time limit, and must not begin
  std::string repeated_;  // the id of the command whose answer is reported to the store
  std::optional<Upgrade> reported_;
  std::string reported_answer_;
  std::optional<Ms> report_at_;  // when to repeat a report that may be lost
  // The id of the command that the store is being asked about; empty if no question is under way.
  std::string asked_;
  std::string running_;  // the running version of the component
  Revision active_ = 0;
  bool epoch_differs_ = false;
  bool saving_ = false;
  bool reporting_ = false;
  Upgrade reporting_progress_;
  std::string reporting_answer_;
  Ms now_ = 0;
  NodeActions actions_;
};

}  // namespace fleet

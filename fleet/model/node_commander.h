// A node's handling of the commands for one component, as a state machine.
//
// A command that is for this node and this instance, and was not answered yet, goes this way, once
// its delay has passed since it was received:
//
//     save      the ledger has its id, and is on the disk
//     ask       in one question to the store: the command is unchanged, this instance is active,
//               and, for what begins something, `stop` is absent. No answer, or its not-after has
//               passed on this clock: nothing is done
//     act       prepare, begin an upgrade, commit it, go back, reboot
//     save      the answer is on the disk
//     report    answer and progress are written, as long as this instance is active
//
// The same id again is reported again and never done again. After a restart what the upgrader says
// decides what came of a command that was begun: its ending, or that it is on trial; otherwise it
// is `interrupted`. An upgrade begins only with a release that was prepared since the last one.
//
// A commit, or that it is to go back, is told to the upgrader until it could be sent, and told
// again when it was refused, until the upgrade has ended. The upgrader refuses to cancel while the
// old version stops; the new one, once activated, is therefore told to go back again.
//
// An upgrade by `apply` stays on trial: it has soaked when soak_ms have passed in health, and goes
// back by itself when no `confirm` came within confirm_ms of its activation (0: the longer of three
// soaks and five minutes), on this clock. `confirm` is answered `done` at the commit alone.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fleet/model/node_ledger.h"
#include "fleet/model/time.h"
#include "fleet/model/transaction.h"

namespace fleet {

// Between two questions of which the first was not answered.
inline constexpr Ms ask_again_ms = 1'000;

// Between two tries to tell the upgrader to commit or to go back.
inline constexpr Ms tell_again_ms = 1'000;

struct NodeIdentity {
  std::string node = {};
  std::string component = {};
  std::string instance = {};
  std::string boot_id = {};
};

// How long an upgrade by this command stays on trial.
[[nodiscard]] Ms confirm_within(const Command& command);

enum class UpgradeEnding { committed, failed, rolled_back };

// ---- events

// The upgrader's status when the ledger has just been read. The first event.
struct Restarted {
  std::string under_way = {};            // the id of the upgrade that is; empty: none
  std::optional<Ms> activated_ago = {};  // none: the new version is not activated yet
  std::string ended = {};                // the id of the last that has ended; empty: none
  UpgradeEnding ending = UpgradeEnding::failed;
  std::string why = {};
  bool expired = false;  // it went back since its trial was over without a commit
  bool reboot_required = false;
};
// This instance is active, by a record of that revision; 0: it is not any more.
struct ActiveIs {
  Revision revision = 0;
};
struct CommandSeen {
  Command command = {};
  Revision revision = 0;
};
struct CommandGone {};
struct StopIsGone {};
// The store was restored from a snapshot: nothing is done until somebody accepts that.
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
  std::string error = {};  // empty: the release is on the disk, and verified
};
struct UpgradeActivated {
  std::string command = {};
};
// The upgrader could not be told to commit or to go back, or has refused that.
struct NotTold {
  std::string upgrade = {};
};
struct UpgradeEnded {
  std::string command = {};
  UpgradeEnding ending = UpgradeEnding::failed;
  std::string why = {};
  bool expired = false;
  bool reboot_required = false;
};
struct NodeTimePassed {};

using NodeEvent = std::variant<Restarted, ActiveIs, CommandSeen, CommandGone, StopIsGone,
                               EpochDiffers, Saved, AskEnded, ReportEnded, PrepareEnded,
                               UpgradeActivated, NotTold, UpgradeEnded, NodeTimePassed>;

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
// The upgrade's id is the command's. Its trial ends after trial_ms, with a commit only where one is
// sent; 0: the upgrader commits it by itself.
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
// Lets the version that waits take the place of this one.
struct PassGate {
  std::string reason = {};
  Ms deadline_ms = 0;

  bool operator==(const PassGate&) const = default;
};
struct Reboot {
  bool operator==(const Reboot&) const = default;
};

using NodeAction =
    std::variant<Save, Ask, Report, DoPrepare, BeginUpgrade, SendCommit, GoBack, PassGate, Reboot>;
using NodeActions = std::vector<NodeAction>;

class NodeCommander {
 public:
  NodeCommander(NodeIdentity identity, NodeLedger ledger);

  [[nodiscard]] NodeActions step(const NodeEvent& event, Ms now);
  // When NodeTimePassed is due; none: never.
  [[nodiscard]] std::optional<Ms> next_deadline() const;

  // Whether the upgrade of this name is still to be committed.
  [[nodiscard]] bool commits(const std::string& upgrade) const {
    return run_ && run_->command.id == upgrade && run_->commit_sent && !run_->told;
  }

  [[nodiscard]] const NodeLedger& ledger() const { return ledger_; }
  // All that decides what it does next, times relative to `now`, for tests that compare states.
  [[nodiscard]] std::string words(Ms now) const;

 private:
  // A command that is being executed.
  struct Job {
    enum class Stage { saving, asking, acting };

    Command command = {};
    Revision revision = 0;
    Ms not_after = 0;
    Stage stage = Stage::saving;
    std::optional<Ms> ask_at = {};  // again
  };
  // An upgrade that was begun and has not ended.
  struct Run {
    Command command = {};
    std::optional<Ms> activated = {};
    bool soaked = false;
    bool commit_sent = false;
    bool late = false;  // is to go back since no confirmation came
    bool late_told = false;
    bool told = false;               // told to go back by a command
    std::string reason = {};         // why it was told that
    std::optional<Ms> tell_at = {};  // to commit, or to go back: again
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
  void take(const UpgradeActivated& event);
  void take(const NotTold& event);
  void take(const UpgradeEnded& event);
  void take(const NodeTimePassed& event);

  void resolve_begun(const Restarted& event);
  void resume_run(const Restarted& event);
  void consider();
  [[nodiscard]] std::string why_not(const Command& command) const;
  void begin(const Command& command);
  void act();
  void begin_upgrade(const Command& command);
  void tell_upgrader();
  void answer(const std::string& id, std::string_view result);
  void progress(UpgradePhase phase, const std::string& error);
  void settle();
  void report();
  [[nodiscard]] Transaction question() const;
  [[nodiscard]] Transaction report_of(const std::string& answered) const;
  [[nodiscard]] bool may_act() const { return active_ != 0 && !epoch_differs_; }

  NodeIdentity identity_;
  NodeLedger ledger_;
  NodeLedger saved_;
  std::optional<Job> job_;
  std::optional<Run> run_;
  std::optional<CommandSeen> seen_;
  Ms seen_at_ = 0;
  std::optional<Ms> begin_at_;  // what was seen: its delay has not passed
  std::string dropped_;         // a command whose not-after has passed
  std::string repeated_;        // a command whose answer is to be reported again
  std::optional<Upgrade> reported_;
  std::string reported_answer_;
  std::optional<Ms> report_at_;  // again
  std::string asked_;            // the command of the question under way
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

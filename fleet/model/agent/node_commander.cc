#include "fleet/model/agent/node_commander.h"

#include <algorithm>
#include <utility>

#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/rollout_draft.h"

namespace fleet {
namespace {

std::string release_of(const Command& command) {
  return command.version + " " + command.digest;
}

}  // namespace

Ms confirm_within(const Command& command) {
  return confirm_ms({.soak_ms = command.soak_ms, .confirm_ms = command.confirm_ms});
}

NodeCommander::NodeCommander(NodeIdentity identity, NodeLedger ledger)
    : identity_(std::move(identity)), ledger_(std::move(ledger)), saved_(ledger_) {}

NodeActions NodeCommander::step(const NodeEvent& event, Ms now) {
  now_ = now;
  actions_.clear();
  std::visit([this](const auto& what) { take(what); }, event);
  settle();
  return std::exchange(actions_, {});
}

// ---- commands

void NodeCommander::take(const ActiveIs& event) {
  active_ = event.revision;
  reported_.reset();
  report_at_.reset();
  consider();
}

void NodeCommander::take(const CommandSeen& event) {
  const bool same = seen_ && seen_->command.id == event.command.id;
  if (!same) seen_at_ = now_;
  if (ledger_.answer_to(event.command.id) != nullptr) {
    // The command was answered before. If the controller has written the command again (with a new
    // revision), the controller asks for the answer again, so report the answer again.
    if (!seen_ || !same || seen_->revision != event.revision) reported_answer_.clear();
    repeated_ = event.command.id;
  }
  seen_ = event;
  if (job_ && same) job_->revision = event.revision;
  // If this event replaces a command that has not begun, drop the replaced command. The store may
  // just be checking that command: the result is then ignored.
  const bool replaces = job_ && job_->command.id != event.command.id;
  if (replaces && job_->stage != Job::Stage::acting) job_.reset();
  consider();
}

void NodeCommander::take(const CommandGone&) {
  seen_.reset();
  begin_at_.reset();
  // Drop a command that still waits for the disk or the store. A command that is already being
  // executed continues to its end.
  if (job_ && job_->stage != Job::Stage::acting) job_.reset();
}

void NodeCommander::take(const StopIsGone&) {
  consider();
}

void NodeCommander::take(const EpochDiffers& event) {
  epoch_differs_ = event.differs;
  consider();
}

void NodeCommander::consider() {
  begin_at_.reset();
  if (!seen_ || !may_act()) return;
  const Command& command = seen_->command;
  if (!command.instance.empty() && command.instance != identity_.instance) return;
  if (ledger_.answer_to(command.id) != nullptr || dropped_ == command.id) return;
  if (job_ && job_->command.id == command.id) return;
  // An earlier process of fleet-agent has begun this command. Its upgrade is still under way, so
  // the command must not begin a second time.
  if (run_ && run_->command.id == command.id) return;
  if (now_ < seen_at_ + command.delay_ms) {
    begin_at_ = seen_at_ + command.delay_ms;
    return;
  }
  // This `confirm` comes too late: the node already goes back to the old version. The answer waits
  // until the node reports the phase `unconfirmed`. Without that phase, the answer would look like
  // a failure of the new version.
  if (command.action == CommandAction::confirm && run_ && run_->late) return;
  const std::string why = why_not(command);
  if (!why.empty()) return answer(command.id, why);
  begin(command);
}

// Returns an empty string if the command must begin. Otherwise returns the answer to it: an error,
// or a result if there is nothing left to do.
std::string NodeCommander::why_not(const Command& command) const {
  const bool ours = run_ && run_->command.trace == command.trace;
  const bool preparing =
      job_ && job_->stage == Job::Stage::acting && job_->command.action == CommandAction::prepare;
  switch (command.action) {
    case CommandAction::unknown:
      return "this fleet-agent does not know the action";
    case CommandAction::prepare:
    case CommandAction::apply:
    case CommandAction::upgrade:
      if (run_) return "busy with " + run_->command.id;
      if (preparing) return "busy with " + job_->command.id;
      if (command.undo && !ledger_.ran_before(command.version, running_)) {
        return "this node did not run " + command.version + " just before " + running_;
      }
      if (command.action == CommandAction::prepare) return "";
      return ledger_.prepared == release_of(command) ? "" : "not prepared";
    case CommandAction::confirm:
      if (ours && run_->soaked && !run_->late && !run_->told) return "";
      if (ours && run_->activated) return "has not soaked, or is on its way back";
      return "nothing to confirm";
    case CommandAction::rollback:
      if (ours) return "";
      return std::string(ledger_.committed == command.trace && !command.trace.empty()
                             ? result_committed
                             : result_done);
    case CommandAction::reboot:
      return ledger_.reboot_wanted ? "" : "no upgrade has asked for a reboot";
    case CommandAction::stop:
    case CommandAction::status:
      return "";
  }
  return "";
}

void NodeCommander::begin(const Command& command) {
  job_ = Job{.command = command, .revision = seen_->revision, .not_after = 0};
  job_->not_after = seen_at_ + command.not_after_ms;
  ledger_.begun = command;
  if (command.action == CommandAction::reboot) ledger_.boot_id = identity_.boot_id;
}

void NodeCommander::take(const AskEnded& event) {
  const std::string asked = std::exchange(asked_, "");
  if (!job_ || job_->stage != Job::Stage::asking || job_->command.id != asked) return;
  if (job_->command.not_after_ms > 0 && now_ >= job_->not_after) {
    dropped_ = job_->command.id;
    job_.reset();
  } else if (std::holds_alternative<Committed>(event.outcome) && may_act()) {
    act();
  } else if (std::holds_alternative<Refused>(event.outcome)) {
    // The command, the record `active` or the record `stop` has changed, and an event will soon
    // report the change. Nothing was done, so this command may still begin later.
    job_.reset();
  } else {
    job_->ask_at = now_ + ask_again_ms;
  }
}

void NodeCommander::act() {
  job_->stage = Job::Stage::acting;
  const Command command = job_->command;
  switch (command.action) {
    case CommandAction::prepare:
      actions_.emplace_back(DoPrepare{command});
      return;
    case CommandAction::apply:
    case CommandAction::upgrade:
      return begin_upgrade(command);
    case CommandAction::confirm:
      if (!run_) return answer(command.id, "nothing to confirm");
      run_->commit_sent = true;
      return tell_upgrader();
    case CommandAction::rollback:
      if (!run_) return answer(command.id, result_done);
      run_->told = true;
      run_->reason = command.reason;
      return tell_upgrader();
    case CommandAction::reboot:
      actions_.emplace_back(Reboot{command.id});
      return;
    case CommandAction::stop:
      actions_.emplace_back(PassGate{command.id, command.reason, command.deadline_ms});
      return answer(command.id, result_done);
    case CommandAction::status:
    case CommandAction::unknown:
      return answer(command.id, result_done);
  }
}

void NodeCommander::begin_upgrade(const Command& command) {
  ledger_.prepared.clear();
  ledger_.reboot_wanted = false;
  ledger_.upgrade = command;
  ledger_.leaves = running_;
  run_ = Run{.command = command};
  progress(UpgradePhase::staging, "");
  actions_.emplace_back(
      BeginUpgrade{command, command.action == CommandAction::apply ? confirm_within(command) : 0});
}

// Sends the upgrader the order to commit the new version or to go back. An order to go back
// replaces an earlier order to commit.
void NodeCommander::tell_upgrader() {
  run_->tell_at.reset();
  if (run_->told) {
    actions_.emplace_back(GoBack{run_->command.id, run_->reason});
  } else if (run_->late) {
    actions_.emplace_back(GoBack{run_->command.id, "no confirmation came in time"});
  } else if (run_->commit_sent) {
    actions_.emplace_back(SendCommit{run_->command.id});
  }
}

void NodeCommander::answer(const std::string& id, std::string_view result,
                           const std::vector<Capsule>& evidence) {
  ledger_.answer({id, brief(result), identity_.instance, evidence});
  // Report this answer, unless a newer command was already answered: the controller then waits only
  // for the answer to the newer command.
  const bool another_stands =
      seen_ && seen_->command.id != id && ledger_.answer_to(seen_->command.id) != nullptr;
  if (!another_stands) repeated_ = id;
  if (job_ && job_->command.id == id) job_.reset();
}

void NodeCommander::progress(UpgradePhase phase, const std::string& error,
                             const std::vector<Capsule>& evidence) {
  ledger_.progress.phase = phase;
  ledger_.progress.evidence = evidence;
  ledger_.progress.error = brief(error);
  ledger_.progress.attempt = ledger_.upgrade.id;
  ledger_.progress.to = ledger_.upgrade.version;
}

// ---- outcomes of commands

void NodeCommander::take(const PrepareEnded& event) {
  if (!job_ || job_->command.id != event.command) return;
  if (event.error.empty()) ledger_.prepared = release_of(job_->command);
  answer(event.command, event.error.empty() ? std::string(result_done) : event.error,
         event.evidence);
  consider();
}

void NodeCommander::take(const RebootEnded& event) {
  if (!event.error.empty()) answer(event.command, event.error);
}

void NodeCommander::take(const UpgradeActivated& event) {
  if (!run_ || run_->command.id != event.command) return;
  run_->activated = now_;
  if (run_->told) tell_upgrader();
  if (run_->command.action != CommandAction::apply) return;
  progress(UpgradePhase::soaking, "");
  answer(event.command, result_done);
}

void NodeCommander::take(const NotTold& event) {
  if (run_ && run_->command.id == event.upgrade) run_->tell_at = now_ + tell_again_ms;
}

void NodeCommander::take(const UpgradeEnded& event) {
  if (!run_ || run_->command.id != event.command) return;
  const Run run = *std::exchange(run_, std::nullopt);
  const bool committed = event.ending == UpgradeEnding::committed;
  const bool back = event.ending == UpgradeEnding::rolled_back;
  ledger_.reboot_wanted = committed && event.reboot_required;
  if (committed) {
    ledger_.committed = run.command.trace;
    ledger_.came_from = ledger_.leaves;
    ledger_.came_to = run.command.version;
    progress(UpgradePhase::done, "");
  } else if (back && (run.late || (event.expired && !run.commit_sent))) {
    progress(UpgradePhase::unconfirmed, "no confirmation came in time");
  } else if (back && run.told) {
    progress(UpgradePhase::rolled_back, "");
  } else {
    progress(UpgradePhase::failed, event.why.empty() ? "failed without a word" : event.why,
             event.evidence);
  }
  const std::string_view success = event.reboot_required ? result_reboot_required : result_done;
  const std::string error = ledger_.progress.error.empty() ? "went back" : ledger_.progress.error;
  if (ledger_.answer_to(run.command.id) == nullptr) {
    answer(run.command.id, committed ? success : std::string_view(error),
           ledger_.progress.evidence);
  }
  if (!job_ || job_->stage != Job::Stage::acting) return consider();
  const Command& now = job_->command;
  if (now.action == CommandAction::confirm)
    answer(now.id, committed ? result_done : error);
  else if (now.action == CommandAction::rollback) {
    answer(now.id, committed ? result_committed : result_done);
  }
  consider();
}

// Writes the running version into the ledger, but not during an upgrade, which may still be undone.
void NodeCommander::take(const RunsNow& event) {
  running_ = event.version;
  if (!run_) ledger_.runs(running_);
}

void NodeCommander::take(const NodeTimePassed&) {
  if (begin_at_ && now_ >= *begin_at_) consider();
  if (report_at_ && now_ >= *report_at_) report_at_.reset();
  if (job_ && job_->ask_at && now_ >= *job_->ask_at) {
    job_->ask_at.reset();
    // The stage `saving` makes settle() ask the store again.
    job_->stage = Job::Stage::saving;
  }
  if (run_ && run_->tell_at && now_ >= *run_->tell_at) tell_upgrader();
  if (!run_ || !run_->activated || run_->command.action != CommandAction::apply) return;
  if (!run_->soaked && !run_->told && now_ >= *run_->activated + run_->command.soak_ms) {
    run_->soaked = true;
    progress(UpgradePhase::soaked, "");
  }
  if (!run_->commit_sent && !run_->told && !run_->late &&
      now_ >= *run_->activated + confirm_within(run_->command)) {
    run_->late = true;
    // The ledger is saved before the node tells the upgrader to go back. So if this process is
    // killed after that, the next process knows the reason for going back.
    ledger_.late = run_->command.id;
  }
}

}  // namespace fleet

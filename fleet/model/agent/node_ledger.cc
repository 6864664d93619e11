// This file implements the ledger of a component (the file in which fleet-agent notes its
// commands), and the functions of NodeCommander that use it. After a restart of fleet-agent, these
// functions find out how a command of the earlier process ended. They also save the ledger, ask the
// store and report to it, each at most once at a time. And they compute the time of the next event
// NodeTimePassed.
#include <utility>

#include "fleet/model/agent/node_commander.h"
#include "fleet/model/agent/node_ledger.h"
#include "fleet/model/desired/desired_view.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

// Returns whether the ledger already says how the last upgrade ended.
bool is_ended(const NodeLedger& ledger) {
  if (ledger.progress.attempt != ledger.upgrade.id) return false;
  return ledger.progress.phase == UpgradePhase::done ||
         ledger.progress.phase == UpgradePhase::failed ||
         ledger.progress.phase == UpgradePhase::unconfirmed ||
         ledger.progress.phase == UpgradePhase::rolled_back;
}

bool begins_something(const Command& command) {
  const CommandAction action = command.action;
  if (command.undo) return false;
  return action == CommandAction::prepare || action == CommandAction::apply ||
         action == CommandAction::upgrade || action == CommandAction::reboot;
}

}  // namespace

const Answer* NodeLedger::answer_to(std::string_view id) const {
  for (const Answer& answer : answers) {
    if (answer.command == id) return &answer;
  }
  return nullptr;
}

void NodeLedger::answer(const Answer& answer) {
  if (answer_to(answer.command) != nullptr) return;
  if (answers.size() == answers_kept) answers.erase(answers.begin());
  answers.push_back(answer);
}

void NodeLedger::runs(std::string_view version) {
  if (version.empty() || is_same_version(version, came_to)) return;
  came_from.clear();
  came_to.clear();
}

bool NodeLedger::ran_before(std::string_view version, std::string_view running) const {
  return !came_from.empty() && is_same_version(came_from, version) &&
         (running.empty() || is_same_version(came_to, running));
}

// ---- after a restart

void NodeCommander::take(const Restarted& event) {
  if (has_rebooted()) ledger_.reboot_wanted = false;
  const bool unanswered =
      !ledger_.begun.id.empty() && ledger_.answer_to(ledger_.begun.id) == nullptr;
  // The last command has no answer. The earlier process may have requested the command's upgrade,
  // and may have exited before it wrote the upgrade into the ledger. So add the upgrade now.
  const bool upgrades = ledger_.begun.action == CommandAction::apply ||
                        ledger_.begun.action == CommandAction::upgrade;
  if (unanswered && upgrades) {
    ledger_.prepared.clear();
    ledger_.upgrade = ledger_.begun;
  }
  if (!event.under_way.empty() && event.under_way == ledger_.upgrade.id) resume_run(event);
  if (!event.ended.empty() && event.ended == ledger_.upgrade.id && !is_ended(ledger_)) {
    resume_run(event);
    take(UpgradeEnded{event.ended, event.ending, event.why, event.expired, event.reboot_required,
                      event.evidence});
  }
  if (unanswered) resolve_begun(event);
}

void NodeCommander::resume_run(const Restarted& event) {
  run_ = Run{.command = ledger_.upgrade};
  if (event.activated_ago) run_->activated = now_ - *event.activated_ago;
  run_->late = ledger_.late == ledger_.upgrade.id;
  run_->soaked = ledger_.progress.phase == UpgradePhase::soaked;
  run_->told = ledger_.begun.action == CommandAction::rollback &&
               ledger_.begun.trace == ledger_.upgrade.trace;
  if (run_->told) run_->reason = ledger_.begun.reason;
  if (run_->activated && !run_->soaked && run_->command.action == CommandAction::apply) {
    progress(UpgradePhase::soaking, "");
  }
}

void NodeCommander::resolve_begun(const Restarted& event) {
  const Command begun = ledger_.begun;
  const bool ended = event.ended == ledger_.upgrade.id && !event.ended.empty();
  const bool committed = ended && event.ending == UpgradeEnding::committed;
  if (ledger_.answer_to(begun.id) != nullptr) return;
  switch (begun.action) {
    case CommandAction::apply:
      if (run_ && run_->activated) answer(begun.id, result_done);
      if (!run_) answer(begun.id, result_interrupted);
      return;  // the answer follows when the new version is activated
    case CommandAction::upgrade:
      if (!run_) answer(begun.id, result_interrupted);
      return;
    case CommandAction::confirm:
      if (!ended) return answer(begun.id, result_interrupted);
      return answer(begun.id, committed ? std::string(result_done) : "went back");
    case CommandAction::rollback:
      if (!ended) return answer(begun.id, result_interrupted);
      return answer(begun.id, committed ? result_committed : result_done);
    case CommandAction::reboot:
      return answer(begun.id, has_rebooted() ? std::string(result_done) : "did not reboot");
    case CommandAction::prepare:
    case CommandAction::stop:
    case CommandAction::status:
    case CommandAction::unknown:
      return answer(begun.id, result_interrupted);
  }
}

// ---- the saves of the ledger, and the questions and reports to the store

void NodeCommander::take(const Saved&) {
  saving_ = false;
}

void NodeCommander::settle() {
  if (saving_) return;
  if (ledger_ != saved_) {
    saving_ = true;
    saved_ = ledger_;
    actions_.emplace_back(Save{ledger_});
    return;
  }
  if (run_ && run_->late && !run_->late_told) {
    run_->late_told = true;
    tell_upgrader();
  }
  if (job_ && job_->stage == Job::Stage::saving && may_act() && asked_.empty()) {
    job_->stage = Job::Stage::asking;
    asked_ = job_->command.id;
    actions_.emplace_back(Ask{question()});
  }
  report();
}

Transaction NodeCommander::question() const {
  Transaction asked{
      .compares = {{.key = key_of(KeyKind::node_command, {identity_.node, identity_.component}),
                    .revision = job_->revision},
                   {.key = key_of(KeyKind::node_active, {identity_.node}), .revision = active_}}};
  if (begins_something(job_->command)) {
    asked.compares.push_back({.key = key_of(KeyKind::stop)});
  }
  return asked;
}

void NodeCommander::report() {
  if (reporting_ || report_at_ || !may_act()) return;
  const bool news = reported_ != ledger_.progress || reported_answer_ != repeated_;
  if (!news) return;
  reporting_ = true;
  reporting_progress_ = ledger_.progress;
  reporting_answer_ = repeated_;
  actions_.emplace_back(Report{report_of(repeated_)});
}

// Returns the transaction that reports both the answer and the progress of the upgrade.
Transaction NodeCommander::report_of(const std::string& answered) const {
  Transaction both{
      .compares = {{.key = key_of(KeyKind::node_active, {identity_.node}), .revision = active_}}};
  if (!ledger_.progress.attempt.empty()) {
    both.puts.push_back(
        {.key = key_of(KeyKind::node_upgrade, {identity_.node, identity_.component}),
         .value = write_record(ledger_.progress)});
  }
  if (const Answer* stored = ledger_.answer_to(answered)) {
    both.puts.push_back({.key = key_of(KeyKind::node_answer, {identity_.node, identity_.component}),
                         .value = write_record(*stored)});
  }
  return both;
}

void NodeCommander::take(const ReportEnded& event) {
  reporting_ = false;
  if (std::holds_alternative<Committed>(event.outcome)) {
    reported_ = reporting_progress_;
    reported_answer_ = reporting_answer_;
  } else {
    // The report may not have been written, so it is sent again later. If the store has refused it
    // because another instance is active, the event ActiveIs comes first, and this process sends no
    // report any more.
    report_at_ = now_ + ask_again_ms;
  }
}

std::optional<Ms> NodeCommander::next_deadline() const {
  std::optional<Ms> first;
  const auto consider = [&first](std::optional<Ms> at) {
    if (at && (!first || *at < *first)) first = at;
  };
  consider(report_at_);
  consider(begin_at_);
  if (job_) consider(job_->ask_at);
  if (run_) consider(run_->tell_at);
  if (run_ && run_->activated && run_->command.action == CommandAction::apply && !run_->told) {
    if (!run_->soaked) consider(*run_->activated + run_->command.soak_ms);
    if (!run_->commit_sent && !run_->late) {
      consider(*run_->activated + confirm_within(run_->command));
    }
  }
  return first;
}

std::string NodeCommander::words(Ms now) const {
  std::string text = "active @" + std::to_string(active_) + " asked " + asked_ + " dropped " +
                     dropped_ + " repeats " + repeated_ + " reported " + reported_answer_ + " " +
                     std::string(text_of(reported_.value_or(Upgrade{}).phase)) +
                     (saving_ ? " saving" : "") + (reporting_ ? " reporting" : "") +
                     (report_at_ ? " later" : "");
  if (begin_at_) text += " begins " + std::to_string(now - *begin_at_);
  if (job_) {
    text += " job " + job_->command.id + " " + std::to_string(static_cast<int>(job_->stage)) +
            (job_->ask_at ? " again" : "");
  }
  if (run_) {
    text += " run " + run_->command.id +
            (run_->activated ? " for " + std::to_string(now - *run_->activated) : "") +
            (run_->soaked ? " soaked" : "") + (run_->commit_sent ? " commit" : "") +
            (run_->late ? " late" : "") + (run_->late_told ? "!" : "") +
            (run_->told ? " told" : "") + (run_->tell_at ? " tells again" : "");
  }
  text += " begun " + ledger_.begun.id + " upgrade " + ledger_.upgrade.id + " prepared " +
          ledger_.prepared + " progress " + std::string(text_of(ledger_.progress.phase)) +
          " runs " + running_ + " leaves " + ledger_.leaves + " came " + ledger_.came_from + " " +
          ledger_.came_to;
  for (const Answer& answer : ledger_.answers)
    text += " " + answer.command + "=" + answer.result;
  return text;
}

}  // namespace fleet

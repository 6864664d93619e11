// The part of NodeCommander that uses the disk and the store. At most one save, one question to the
// store and one report are under way at a time. This part also decides when the next event
// NodeTimePassed must come.
#include <utility>

#include "fleet/model/enum_text.h"
#include "fleet/model/keys.h"
#include "fleet/model/node_commander.h"
#include "fleet/model/record_text.h"

namespace fleet {
namespace {

bool begins_something(const Command& command) {
  const CommandAction action = command.action;
  if (command.undo) return false;
  return action == CommandAction::prepare || action == CommandAction::apply ||
         action == CommandAction::upgrade || action == CommandAction::reboot;
}

}  // namespace

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
    // The report may not have been written, so it is sent again later. If it was refused because
    // another instance is active by now, the event ActiveIs comes first and prevents the
    // repetition.
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

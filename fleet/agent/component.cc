#include "fleet/agent/component.h"

#include <unistd.h>

#include <utility>

#include "fleet/common/log_line.h"
#include "fleet/common/release_draft.h"

namespace fleet {
namespace {

// The pause after a failed write of the ledger (the file with the commands that were begun). A
// write fails, for example, if the disk is full.
constexpr std::chrono::milliseconds save_again{1'000};

}  // namespace

void NodeDesk::log(const std::string& text) const {
  log_line("fleet-agent", text);
}

void NodeDesk::set_trouble(const std::string& component, const std::string& why) {
  std::string& there = troubles[component];
  if (std::exchange(there, why) == why) return;
  if (!why.empty()) log(component + ": " + why);
  if (troubled) troubled();
}

Component::Component(uv_loop_t& loop, NodeDesk& desk, Settings settings, Hands hands)
    : desk_(desk),
      settings_(std::move(settings)),
      hands_(std::move(hands)),
      fetcher_(loop, settings_.releases),
      file_(settings_.ledger) {}

std::string Component::key(KeyKind kind) const {
  return key_of(kind, {desk_.node, settings_.name});
}

void Component::begin(NodeLedger ledger, const Restarted& restarted, const std::string& running) {
  running_ = running;
  last_command_ = ledger.begun.id;
  // The last upgrade was for a desired version if the record `upgrade` names such an upgrade, and
  // the ledger (the file with the commands that were begun) contains no newer upgrade that is still
  // under way.
  wish_reports_ = !attempt_recorded().empty() && !is_under_way(ledger.progress.phase);
  commander_.emplace(NodeIdentity{desk_.node, settings_.name, desk_.instance, desk_.boot_id},
                     std::move(ledger));
  take(restarted);
  take(RunsNow{running});
  take(ActiveIs{desk_.active});
}

void Component::runs(const std::string& version) {
  if (std::exchange(running_, version) != version) take(RunsNow{version});
}

// Passes an event to the NodeCommander, the state machine that decides how to obey a command. Then
// performs the actions that the NodeCommander returns. If the event reports the end of an upgrade,
// this function first checks whether the file `reboot_asked` exists: the new version creates it to
// ask for a reboot.
void Component::take(NodeEvent event) {
  if (!commander_) return;
  const auto is_asked = [this] { return access(desk_.reboot_asked.c_str(), F_OK) == 0; };
  if (auto* ended = std::get_if<UpgradeEnded>(&event)) ended->reboot_required = is_asked();
  if (auto* before = std::get_if<Restarted>(&event)) before->reboot_required = is_asked();
  for (const NodeAction& action : commander_->step(event, desk_.timers.now().count())) {
    std::visit([this](const auto& deed) { perform(deed); }, action);
  }
  last_command_ = commander_->ledger().begun.id;
  expect_deadline();
}

void Component::expect_deadline() {
  deadline_ = nullptr;
  const auto next = commander_->next_deadline();
  if (!next) return;
  const std::chrono::milliseconds left(std::max<Ms>(*next - desk_.timers.now().count(), 0));
  deadline_ = desk_.timers.after(left, [this] { take(NodeTimePassed{}); });
}

void Component::look() {
  if (!commander_ || desk_.active == 0 || desk_.is_doubtful) return;
  look_at_wish();
  look_at_command();
}

// Passes a new command from the local copy of the records to the NodeCommander. Holds the command
// back while it has to wait for the end of an upgrade to a desired version.
void Component::look_at_command() {
  const std::string place = key(KeyKind::node_command);
  const KeyValue* there = desk_.mirror.find(place);
  const auto command = desk_.find<Command>(place);
  if (!command || command->id.empty()) {
    if (seen_.second != 0) take(CommandGone{});
    seen_ = {};
    return;
  }
  const std::pair<std::string, Revision> now{command->id, there->modified};
  const bool waits = machine_.must_wait(*command) && commander_->ledger().begun.id != command->id;
  if (waits || std::exchange(seen_, now) == now) return;
  take(CommandSeen{*command, there->modified});
}

// ---- actions of NodeCommander

void Component::perform(const Save& save) {
  save_until_done(save.ledger);
  const Upgrade& progress = save.ledger.progress;
  const bool was_desired = desired_ == progress.attempt;
  if (progress.phase == UpgradePhase::done && !was_desired) {
    desired_ = progress.attempt;
    fetcher_.desire(progress.to);
  } else if (progress.phase != UpgradePhase::done && !is_under_way(progress.phase) && was_desired) {
    desired_.clear();  // the upgrade failed: make the old version the desired one again
    if (!before_.empty()) fetcher_.desire(before_);
  }
}

void Component::save_until_done(const NodeLedger& ledger) {
  const std::string why = file_.write(ledger);
  desk_.set_trouble(settings_.name, why.empty() ? "" : "nothing is begun: " + why);
  // Do not call take(Saved) directly: take() may be our caller, and must perform all its actions
  // before it gets the next event. A timer without delay calls take() afterwards.
  save_ = desk_.timers.after(why.empty() ? std::chrono::milliseconds(0) : save_again,
                             [this, ledger, is_saved = why.empty()] {
                               if (is_saved) return take(Saved{});
                               save_until_done(ledger);
                             });
}

void Component::perform(const Ask& ask) {
  desk_.store.commit(ask.question, [this](const Outcome& outcome) {
    if (!std::holds_alternative<Committed>(outcome))
      desk_.log(settings_.name + ": the command is not obeyed now: " + words(outcome));
    take(AskEnded{outcome});
    // Another process has changed a record, so the store has refused the transaction. Forget the
    // command, so that look_at_command() passes it on again after the next change of the records.
    if (std::holds_alternative<Refused>(outcome)) seen_ = {};
  });
}

// Writes the records that report how a command is obeyed. If the last upgrade was for a desired
// version, the WishMachine (the state machine for desired versions) writes the record `upgrade`, so
// this function leaves that record out.
void Component::perform(const Report& report) {
  Transaction transaction = report.transaction;
  if (wish_reports_) {
    std::erase_if(transaction.puts,
                  [this](const Put& put) { return put.key == key(KeyKind::node_upgrade); });
  }
  desk_.store.commit(std::move(transaction),
                     [this](const Outcome& outcome) { take(ReportEnded{outcome}); });
}

void Component::perform(const DoPrepare& order) {
  const Command& command = order.command;
  desk_.log(settings_.name + ": " + command.id + ": prepare " + command.version);
  const Wanted wanted{.version = command.version,
                      .digest = command.digest,
                      .downgrade = command.downgrade || command.undo,
                      .then = [this, id = command.id](const std::string& error) {
                        take(PrepareEnded{id, error, evidence_of_prepare(error)});
                      }};
  command.undo ? prepare_on_disk(wanted) : prepare(wanted);
}

// Asks the upgrader to upgrade. Looks up the path of the new version's executable on disk, since
// this process does not know the path if an earlier process of fleet-agent has fetched the release.
void Component::perform(const BeginUpgrade& begin) {
  wish_reports_ = false;
  before_ = running_;
  desk_.records.forget(key(KeyKind::node_upgrade));
  const Fetcher::Order order{.version = begin.command.version,
                             .older_is_wanted = begin.command.downgrade || begin.command.undo,
                             .running = running_};
  fetcher_.locate(order, [this, begin](const Fetcher::Result& result) {
    std::string why = result.error;
    if (why.empty()) {
      why = hands_.ask({.id = begin.command.id,
                        .executable = result.executable,
                        .version = begin.command.version,
                        .gate = false,
                        .trial_ms = begin.trial_ms});
    }
    if (why.empty()) return;
    take(UpgradeEnded{
        .command = begin.command.id, .why = why, .evidence = desk_.evidence_of("request", why)});
  });
}

// Commits an upgrade. Before the commit, marks the new version as the desired one in the directory
// of releases. Otherwise a program that upgrades itself to the version that the directory desires
// would go back to the old version.
void Component::perform(const SendCommit& commit) {
  desired_ = commit.upgrade;
  fetcher_.desire(commander_->ledger().upgrade.version,
                  [this, commit](const Fetcher::Result&) { commit_now(commit.upgrade); });
}

void Component::commit_now(const std::string& upgrade) {
  // Do not commit the upgrade if it has ended in the meantime, or if it must now be undone.
  if (!commander_->commits(upgrade)) return;
  const std::string why = hands_.commit(upgrade);
  if (why.empty()) return;
  desk_.log(settings_.name + ": cannot commit: " + why);
  take(NotTold{upgrade});
}

void Component::perform(const GoBack& back) {
  const std::string why = hands_.go_back(back.upgrade, back.reason);
  if (why.empty()) return;
  desk_.log(settings_.name + ": cannot go back: " + why);
  take(NotTold{back.upgrade});
}

void Component::perform(const PassGate& pass) {
  desk_.log(settings_.name + ": stop (" + pass.reason + ")");
  feed(StopOrdered{pass.command});
}

void Component::perform(const Reboot& reboot) {
  desk_.log(settings_.name + ": a reboot is ordered");
  desk_.reboot([this, id = reboot.command](const std::string& error) {
    take(RebootEnded{id, error});
  });
}

}  // namespace fleet

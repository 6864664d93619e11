#include "fleet/agent/neighbour.h"

#include <cstring>
#include <utility>

#include "agent-protocol/cpp/control/request_line.h"
#include "base/check.h"

namespace fleet {
namespace {

// How often to read the control directory even if no change of it is reported. The directory may
// not exist yet, or its file system may not report changes.
constexpr std::uint64_t look_interval_ms = 1'000;

// How long fleet-agent repeats a request to upgrade until an upgrader accepts it. If the old
// version crashes again and again, its upgrader exits each time, and may exit before it accepts the
// request.
constexpr std::chrono::seconds patience{30};

}  // namespace

Neighbour::Neighbour(uv_loop_t& loop, NodeDesk& desk, Settings settings,
                     std::function<void()> changed)
    : desk_(desk),
      component_(loop, desk, settings.component, hands()),
      control_(settings.control),
      watch_({settings.control, settings.component.releases.directory,
              settings.component.releases.name},
             desk.evidence),
      health_(loop, desk, settings.component.name, settings.measures),
      changed_(std::move(changed)) {
  watch(loop);
}

// Returns how an upgrade ended. It counts as rolled back, and not as failed, if a request or a
// missing confirmation ended it, since the new version is not to blame then.
UpgradeEnded Neighbour::ended(const upgraderctl::Ending& ending) const {
  const bool is_expired =
      ending.stage == "trial" && ending.reason.starts_with("did not say healthy");
  const bool was_told =
      ending.stage == "cancel" || ending.reason.starts_with("rolled back by the control");
  UpgradeEnded told{.command = ending.id, .ending = UpgradeEnding::failed};
  if (ending.outcome == "committed") told.ending = UpgradeEnding::committed;
  if (is_expired || was_told) told.ending = UpgradeEnding::rolled_back;
  const std::string reason = reason_at(watch_.level(), ending.reason);
  told.why = ending.stage.empty() ? ending.outcome : ending.stage + ": " + reason;
  told.expired = is_expired;
  if (told.ending == UpgradeEnding::failed) told.evidence = watch_.evidence_of(ending);
  return told;
}

Component::Hands Neighbour::hands() {
  return {.ask = [this](const Component::Request& request) { return ask(request); },
          .confirm =
              [this](const std::string& id) {
                return send(upgraderctl::ConfirmRequest{next_name(), id});
              },
          .commit =
              [this](const std::string& id) {
                told_ = next_name();
                return send(upgraderctl::CommitRequest{told_, id});
              },
          .go_back = [this](const std::string& id,
                            const std::string& reason) { return go_back(id, reason); }};
}

std::string Neighbour::ask(const Component::Request& request) {
  asked_ = request.id;
  watch_.begin(version_, request.version);
  was_ready_ = false;
  was_activated_ = false;
  upgraderctl::UpgradeRequest line{.request = next_name(),
                                   .id = request.id,
                                   .executable = request.executable,
                                   .args = {},
                                   .terms = {}};
  if (request.gate) line.terms.gate = "confirm";
  if (request.trial_ms != 0) {
    line.terms.commit = "healthy";
    line.terms.trial_ms = request.trial_ms;
  }
  if (const auto text = upgraderctl::line_of(line); !text) return text.reason();
  pending_.emplace(std::move(line));
  patience_ = desk_.timers.after(patience, [this] { lose_patience(); });
  const std::string why = offer(control_.status().status);
  if (!why.empty()) desk_.log(name() + ": " + request.id + " waits for the upgrader: " + why);
  return "";
}

// Sends the pending request to the upgrader that has written this status, unless it was sent there
// before. If the upgrader has accepted the request, drops it. Returns why the request cannot be
// sent now, or an empty string.
std::string Neighbour::offer(const std::optional<upgraderctl::Status>& status) {
  if (!status) return "it is not there";
  if (pending_->was_taken(*status)) {
    close_request();
    return "";
  }
  if (pending_->has(*status)) return "";
  if (!pending_->is_due(*status)) return "it takes no upgrade now";
  pending_->rename(next_name());
  std::string why = send(pending_->request());
  if (why.empty()) pending_->written(*status);
  return why;
}

// Returns whether the pending request was sent to an upgrader that still runs and may still accept
// the request.
bool Neighbour::may_be_obeyed() {
  const bool is_heard = control_.open() == 0;
  control_.close();
  return is_heard && pending_->is_written();
}

void Neighbour::lose_patience() {
  patience_.reset();
  if (may_be_obeyed()) return;
  give_up(UpgradeEnding::failed, control_.path() +
                                     ": no upgrader has taken the request to upgrade within " +
                                     std::to_string(patience.count()) + " s");
}

// Gives up the pending request: reports to the component that the upgrade has ended before it
// began.
void Neighbour::give_up(UpgradeEnding ending, const std::string& why) {
  close_request();
  if (asked_.empty()) return;
  UpgradeEnded told{.command = std::exchange(asked_, ""), .ending = ending, .why = why};
  if (ending == UpgradeEnding::failed) told.evidence = desk_.evidence_of("request", why);
  component_.upgrade_ended(told);
}

// Forgets the pending request, which an upgrader has accepted or refused, or which was given up.
void Neighbour::close_request() {
  pending_.reset();
  patience_.reset();
}

std::string Neighbour::go_back(const std::string& id, const std::string& reason) {
  if (pending_ && id == asked_ && !may_be_obeyed()) {
    pending_.reset();
    // A step of the component's state machine calls this function, and must be complete before the
    // next step begins. So a timer without delay begins the next step.
    patience_ = desk_.timers.after(std::chrono::milliseconds(0),
                                   [this, reason] { give_up(UpgradeEnding::rolled_back, reason); });
    return "";
  }
  patience_.reset();
  told_ = next_name();
  if (was_activated_) return send(upgraderctl::RollbackRequest{told_, id, reason});
  return send(upgraderctl::CancelRequest{told_, id, reason});
}

void Neighbour::watch(uv_loop_t& loop) {
  timer_ = upgrader::make_handle(uv_timer_init, &loop, this);
  event_ = upgrader::make_handle(uv_fs_event_init, &loop, this);
  UPGRADER_CHECK(timer_ != nullptr && event_ != nullptr);
  static constexpr uv_timer_cb tick = [](uv_timer_t* handle) {
    static_cast<Neighbour*>(handle->data)->look_at_status();
  };
  UPGRADER_CHECK(uv_timer_start(timer_.get(), tick, 0, look_interval_ms) == 0);
  const auto changed = [](uv_fs_event_t* handle, const char*, int, int) {
    // Let the timer read the directory, at most once in each turn of the event loop, however many
    // changes are reported.
    auto* const timer = static_cast<Neighbour*>(handle->data)->timer_.get();
    UPGRADER_CHECK(uv_timer_start(timer, tick, 0, look_interval_ms) == 0);
  };
  // A failure is harmless, since the timer reads the directory anyway.
  static_cast<void>(uv_fs_event_start(event_.get(), changed, control_.path().c_str(), 0));
}

// Returns a new name for a request to the upgrader. The name contains this process's random id, so
// that no other process of fleet-agent uses the same name.
std::string Neighbour::next_name() {
  return desk_.instance.substr(0, 36) + "." + std::to_string(++requests_);
}

std::string Neighbour::send(const upgraderctl::Request& request) {
  const auto line = upgraderctl::line_of(request);
  if (!line) return line.reason();
  if (const int error = control_.open(); error != 0)
    return control_.path() + " takes no requests: " + std::strerror(error);
  const upgraderctl::WriteOutcome outcome = control_.write(line.value());
  control_.close();
  if (outcome == upgraderctl::WriteOutcome::written) return "";
  return control_.path() + " takes no requests now";
}

void Neighbour::look_at_status() {
  if (desk_.active == 0) return;
  const upgraderctl::StatusFile file = control_.status();
  if (!file.status || file.status->ended) return;
  const std::string life = file.status->upgrader.started;
  const bool is_another = !life_.empty() && life_ != life;
  life_ = life;
  if (is_another) end_with_life(*file.status);
  if (pending_) static_cast<void>(offer(file.status));
  take_status(*file.status);
  look_at_health(*file.status, is_another);
}

// Counts failures of the component outside of upgrades, for the record `health`. An exit of its
// upgrader is a failure, unless the exit status was 0: an exit with status 0 was ordered.
void Neighbour::look_at_health(const upgraderctl::Status& status, bool is_another_life) {
  if (is_another_life) {
    const upgraderctl::StatusFile before = control_.previous();
    const bool was_told = before.status && before.status->ended &&
                          before.status->ended->exit_status == std::int64_t{0};
    if (!was_told) health_.watch().ended();
  }
  const bool is_silent = status.active && status.active->silent;
  if (is_silent && !was_silent_) health_.watch().failed_health();
  was_silent_ = is_silent;
  health_.watch().runs(version_);
  health_.look(component_.ledger());
}

UpgradeEnded Neighbour::ended_with_life(const std::string& id) const {
  const std::string why = "its upgrader has ended";
  return {.command = id, .why = why, .evidence = desk_.evidence_of("upgrader", why)};
}

// Called when a new upgrader process has replaced the old one. If the old process was asked to
// upgrade but did not accept the request, and the timer `patience_` still runs, the new process
// will get it. Otherwise reports the result of the requested upgrade from the last status of the
// old process, or a failure if that status has no result.
void Neighbour::end_with_life(const upgraderctl::Status& status) {
  told_.clear();
  if (asked_.empty() || (pending_ && pending_->has(status))) return;
  const upgraderctl::StatusFile before = control_.previous();
  if (pending_ && patience_ && !(before.status && pending_->was_taken(*before.status)))
    return pending_->take_back();
  close_request();
  const upgraderctl::Ending* ending = before.status ? find_ending(*before.status, asked_) : nullptr;
  const std::string id = std::exchange(asked_, "");
  component_.upgrade_ended(ending != nullptr ? ended(*ending) : ended_with_life(id));
}

void Neighbour::take_status(const upgraderctl::Status& status) {
  const std::string version = status.active ? status.active->version : "";
  component_.runs(version);
  if (std::exchange(version_, version) != version) changed_();
  if (!component_.has_begun()) return begin(status);
  look_at_answer(status);
  look_at_attempt(status);
  look_at_refusal(status);
}

// Makes the component obey commands. The upgrader's status shows what has become of an upgrade that
// an earlier process of fleet-agent has requested.
void Neighbour::begin(const upgraderctl::Status& status) {
  auto ledger = component_.ledger_on_disk();
  if (!ledger) {
    if (std::exchange(unreadable_, true)) return;
    return desk_.log("no command is obeyed: " + ledger.reason());
  }
  const std::string id = ledger.value().upgrade.id;
  Restarted restarted;
  if (!id.empty() && is_under_way(status, id)) {
    restarted.under_way = id;
    asked_ = id;
    was_activated_ = status.upgrade->activated.has_value();
    // The upgrader's status says when the trial began only by the wall clock, which may be wrong.
    // So assume that the trial begins now: it may then end late, but never early.
    if (was_activated_) restarted.activated_ago = 0;
  } else if (const upgraderctl::Ending* ending = id.empty() ? nullptr : find_ending(status, id)) {
    const UpgradeEnded told = ended(*ending);
    restarted.ended = id;
    restarted.ending = told.ending;
    restarted.why = told.why;
    restarted.expired = told.expired;
    restarted.evidence = told.evidence;
  }
  component_.begin(ledger.value(), restarted, version_);
  settle(status);
  look_at_attempt(status);
}

// Tells the component what has become of an upgrade to a desired version that an earlier process of
// fleet-agent has begun: it has ended, or is still under way. Called once after the start.
void Neighbour::settle(const upgraderctl::Status& status) {
  const std::string attempt = component_.attempt_recorded();
  if (!attempt.empty() && is_under_way(status, attempt)) {
    asked_ = attempt;
    was_activated_ = status.upgrade->activated.has_value();
    return component_.resume(attempt, was_activated_);
  }
  const upgraderctl::Ending* ending = find_ending(status, attempt);
  if (ending == nullptr) return component_.settle("", "");
  const UpgradeEnded told = ended(*ending);
  const bool is_good = told.ending == UpgradeEnding::committed;
  component_.settle(is_good ? told.command : "", is_good ? "" : told.why, told.evidence);
}

// Ends the upgrade if the upgrader has refused the request for it. If the upgrader was only busy,
// lets the request be sent again instead.
void Neighbour::look_at_answer(const upgraderctl::Status& status) {
  if (!pending_) return;
  const upgraderctl::Answer* answer = find_answer(status, pending_->request().request);
  if (answer == nullptr) return;
  if (patience_ && PendingRequest::is_busy(answer->reason)) return pending_->take_back();
  close_request();
  const std::string id = std::exchange(asked_, "");
  component_.upgrade_ended({.command = id,
                            .why = "request: " + answer->reason,
                            .evidence = desk_.evidence_of("request", answer->reason)});
}

// Tells the component if the upgrader has refused to commit or to undo the upgrade. For example, an
// upgrader does not cancel an upgrade while the old version is stopping.
void Neighbour::look_at_refusal(const upgraderctl::Status& status) {
  if (told_.empty()) return;
  const upgraderctl::Answer* answer = find_answer(status, told_);
  if (answer == nullptr) return;
  told_.clear();
  if (answer->ok != false || asked_.empty()) return;
  desk_.log(name() + ": " + asked_ + ": refused: " + answer->reason);
  component_.take(NotTold{asked_});
}

void Neighbour::look_at_attempt(const upgraderctl::Status& status) {
  if (asked_.empty()) return;
  if (is_under_way(status, asked_)) {
    const bool waits = status.phase == "confirming";
    if (waits && !std::exchange(was_ready_, true)) component_.gate_reached(asked_);
    const bool works = status.upgrade->activated.has_value();
    watch_.see(works ? status.active : status.candidate);
    if (works && !std::exchange(was_activated_, true)) component_.take(UpgradeActivated{asked_});
    return;
  }
  const upgraderctl::Ending* ending = find_ending(status, asked_);
  if (ending == nullptr) return;
  asked_.clear();
  const UpgradeEnded told = ended(*ending);
  if (told.ending == UpgradeEnding::failed && was_activated_) health_.watch().fell_back();
  component_.upgrade_ended(told);
}

}  // namespace fleet

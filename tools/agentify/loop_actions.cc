// Performs the actions of agentify's state machine (adapter.h).
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errno_name.h"
#include "tools/agentify/family.h"
#include "tools/agentify/journal.h"
#include "tools/agentify/loop.h"

namespace agentify {

// ---- messages to the upgrader. If the protocol does not allow a message at this moment,
// libagent-protocol does not send the message. That is not an error, because such a message is no
// longer needed.

void Loop::perform(const SayReady&) {
  static_cast<void>(agent_.ready());
}

void Loop::perform(const SayUnfit& action) {
  agent_.unfit(fit_for_reason(with_last_words(action.reason)));
}

void Loop::perform(const SayHealthy&) {
  agent_.healthy();
}

void Loop::perform(const SayStopped&) {
  static_cast<void>(agent_.stopped());
}

void Loop::perform(const SayHeartbeat&) {
  agent_.heartbeat();
}

void Loop::perform(const SayStatus& action) {
  agent_.status(fit_for_status(action.text));
}

void Loop::perform(const SayExtend& action) {
  agent_.extend(std::clamp(action.time, Duration{1}, duration_max));
}

// ---- actions that run the command of --check, or that start, probe, signal or kill the daemon

void Loop::perform(const RunCheck&) {
  const Options& options = *prepared_.options;
  check_.emplace();
  if (!check_->begin(*options.check, options, prepared_.surroundings->check, true)) {
    check_.reset();
    return feed(CheckEnded{false, "cannot be run: " + in_words(upgrader::SystemError{errno})});
  }
  const bool watched = check_watch_.begin(loop_, check_->news_descriptor(), UV_READABLE, [this] {
    look_at_check();
  }) && check_output_watch_.begin(loop_, check_->output_descriptor(), UV_READABLE, [this] {
    look_at_check();
  });
  if (!watched) return feed(CheckEnded{false, "cannot be watched"});
  check_limit_.set(options.check_timeout);
}

void Loop::perform(const StartDaemon&) {
  ready_prober_.remember_file();
  prepared_.keeper.order(
      {.kind = Order::Kind::start, .value = static_cast<int>(watchdog_.count())});
}

void Loop::perform(const CancelStart&) {
  prepared_.keeper.order({.kind = Order::Kind::cancel_start});
}

void Loop::perform(const SignalDaemon& action) {
  prepared_.keeper.order({.kind = Order::Kind::signal, .value = action.signal});
}

void Loop::perform(const AdoptMain& action) {
  prepared_.keeper.order({.kind = Order::Kind::adopt, .value = action.pid});
}

void Loop::perform(const KillFamily&) {
  prepared_.keeper.order({.kind = Order::Kind::kill_family});
}

void Loop::perform(const KillOrphans&) {
  ready_prober_.end();
  health_prober_.end();
  sweep_.emplace();
  go_on_sweeping();
}

void Loop::perform(const AskDaemon& action) {
  const Probe probe = action.probe;
  Prober& prober = probe == Probe::readiness ? ready_prober_ : health_prober_;
  prober.ask(probe == Probe::readiness, [this, probe](const ProbeOutcome& outcome) {
    feed(ProbeAnswered{probe, outcome.good, outcome.words});
  });
}

// ---- actions that begin and end the watch of a directory of releases (--follow)

void Loop::perform(const Follow&) {
  if (!following_) return;
  const bool watched = releases_watch_.begin(loop_, following_->descriptor(), UV_READABLE,
                                             [this] { following_->dispatch(); });
  if (!watched) return log_line("--follow: the directory cannot be watched");
  if (past_failure_) following_->upgrade_failed(*past_failure_);
  following_->begin();
}

void Loop::perform(const EndFollowing&) {
  releases_watch_.end();
}

// ---- actions that write agentify's log, or make agentify exit

void Loop::perform(const Log& action) {
  log_line(action.text);
}

void Loop::perform(const ReportFailure& action) {
  const std::string text = with_last_words(action.text);
  log_line(text);
  agent_.status(fit_for_status(text));
}

// Saves the last lines of the daemon's output in the file of --last-words, because the daemon has
// failed. Returns `reason` with the last line of the daemon's output appended.
std::string Loop::with_last_words(const std::string& reason) const {
  if (prepared_.words == nullptr) return reason;
  const std::string line = prepared_.words->last_line();
  if (line.empty()) return reason;
  if (const auto& file = prepared_.options->last_words_file) {
    if (const auto wrong = write_last_words(*prepared_.words, *file)) {
      log_line("--last-words: " + *wrong);
    }
  }
  return reason + "; its last line: " + line;
}

void Loop::perform(const Leave& action) {
  leave({DaemonEnding::How::exited, action.status});
}

void Loop::perform(const LeaveLike& action) {
  leave(action.ending);
}

// Stops the loop. uv_stop() is needed if a timer calls this function, because libuv waits for input
// after it has called the timers, and this wait could last for ever.
void Loop::leave(const DaemonEnding& ending) {
  leaving_ = ending;
  uv_stop(loop_);
}

// Closes all handles, and waits until the keeper, the daemon's parent process, has exited. agentify
// must not exit before its keeper, because the keeper holds the daemon's lock until the keeper
// exits.
void Loop::close_all() {
  ready_prober_.close();
  health_prober_.close();
  if (check_) check_->give_up();
  check_.reset();
  for (Watch* const watch : {&agent_watch_, &keeper_watch_, &notify_watch_, &ready_watch_,
                             &check_watch_, &check_output_watch_, &releases_watch_}) {
    watch->end();
  }
  for (Timer* const timer : {&deadline_, &check_limit_, &sweep_timer_})
    timer->end();
  passed_signals_.end();
  interrupt_.end();
  prepared_.keeper.dismiss();
}

}  // namespace agentify

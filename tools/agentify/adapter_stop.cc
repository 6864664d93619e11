// The part of agentify's state machine (adapter.h) that handles the end of a daemon: a requested
// stop, the exit of the daemon's main process, and the processes that this exit leaves behind.
#include <signal.h>

#include <algorithm>
#include <utility>

#include "tools/agentify/adapter.h"

namespace agentify {

void Adapter::on(const StopAsked& event) {
  if (stop_asked_) return;
  stop_asked_ = true;
  if (stage_ == Stage::starting) {
    stage_ = Stage::stopping;
    end_following();
    forget_readiness();
    stop_limit_ = event.deadline;
    order(CancelStart{});
  } else if (lives()) {
    begin_stop(event.deadline);
  }
}

void Adapter::begin_stop(std::optional<Duration> deadline) {
  stage_ = Stage::stopping;
  end_following();
  forget_readiness();
  moments_ = schedule(terms_.stop, now_, deadline);
  send_due_signals();
}

void Adapter::send_due_signals() {
  while (!moments_.empty() && moments_.front().at <= now_) {
    const int signal = moments_.front().signal;
    moments_.erase(moments_.begin());
    if (moments_.empty() && !terms_.stop.names(signal)) {
      log("the daemon has not stopped in time, and is killed; if it always has to be, say so by "
          "--stop=TERM:10s,KILL, and its stop counts as clean");
    }
    order(SignalDaemon{signal});
    // A suspended daemon cannot handle the signal before it is continued.
    if (signal != SIGKILL) order(SignalDaemon{SIGCONT});
  }
}

void Adapter::on(const DaemonEnded& event) {
  if (!lives() && stage_ != Stage::stopping) return;
  const bool went_well = event.ending == DaemonEnding{DaemonEnding::How::exited, 0};
  if (lives() && went_well && event.heir != 0) {
    log("the daemon goes on as process " + std::to_string(event.heir));
    order(AdoptMain{event.heir});
    return;
  }
  if (!stop_asked_) report_failure("the daemon " + in_words(event.ending));
  ending_ = event.ending;
  clean_ =
      event.ending.how == DaemonEnding::How::exited ||
      (event.ending.how == DaemonEnding::How::signalled && terms_.stop.names(event.ending.value));
  sweep();
  order(KillFamily{});
}

// Reports a failure of the daemon. On trial, sends `unfit`, so that the upgrader knows the reason
// when it rolls the upgrade back. Outside of a trial, logs the failure before agentify exits.
void Adapter::report_failure(const std::string& text) {
  if (!on_trial_ || unfit_) return order(ReportFailure{text});
  log(text);
  say_unfit(text);
}

void Adapter::sweep() {
  stage_ = Stage::sweeping;
  end_following();
  moments_.clear();
  forget_readiness();
}

void Adapter::forget_readiness() {
  ready_at_.reset();
  probe_at_.reset();
  judge_at_.reset();
  end_settling();
}

void Adapter::on(const FamilyGone& event) {
  if (!active() || lives()) return;
  if (event.killed > 0) {
    log(std::to_string(event.killed) + (event.killed == 1 ? " process" : " processes") +
        " that the daemon had left had to be killed");
  }
  if (stop_asked_ && (clean_ || !ending_)) {
    order(SayStopped{});
    return leave(0);
  }
  if (gives_up_) return leave(exit_failed);
  leave_like_daemon();
}

// Handles the death of the keeper, the daemon's parent process. Kills all processes of the daemon
// if it has been started, because without the keeper agentify would not notice the daemon's exit.
void Adapter::on(const KeeperLost&) {
  if (!active()) {
    order(SayUnfit{"the process that keeps the daemon has been killed"});
    return leave(exit_failed);
  }
  const std::string text = "the process that keeps the daemon has been killed";
  if (stop_asked_) {
    log(text);
  } else {
    report_failure(text + ", so all processes of the daemon are");
  }
  if (!ending_) ending_ = DaemonEnding{};
  sweep();
  order(KillOrphans{});
}

// Gives the daemon the time that it has requested with EXTEND_TIMEOUT_USEC, for its start or its
// stop. Sends `extend`, so that the upgrader waits longer, too. During a stop, also delays the
// signals that are still to be sent.
void Adapter::put_off(Duration time) {
  if (stage_ == Stage::running && readiness_) order(SayExtend{time});
  if (stage_ != Stage::stopping || moments_.empty()) return;
  const Duration late = std::max(Duration{0}, now_ + time - moments_.front().at);
  for (StopMoment& moment : moments_)
    moment.at += late;
  order(SayExtend{std::min(duration_max, moments_.back().at - now_ + stop_margin(duration_max))});
}

void Adapter::leave_like_daemon() {
  if (!ending_ || ending_->how == DaemonEnding::How::unknown) return leave(exit_failed);
  stage_ = Stage::over;
  order(LeaveLike{*ending_});
}

}  // namespace agentify

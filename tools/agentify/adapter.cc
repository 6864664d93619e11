#include "tools/agentify/adapter.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace agentify {
namespace {

// The exit statuses of agentify if the daemon cannot be started. A shell uses the same exit
// statuses for a program that it cannot run.
constexpr int exit_not_found = 127;
constexpr int exit_not_executable = 126;

// How many heartbeats agentify sends within `watchdog_ms`. If the upgrader gets no heartbeat for
// `watchdog_ms`, it regards the agent as silent.
constexpr int heartbeats_in_watchdog = 3;

}  // namespace

Terms terms_of(const Options& options) {
  Terms terms{.check = options.check.has_value(),
              .ready_text = options.ready_text,
              .settle = options.settle,
              .vouch = options.vouch,
              .health = options.health.has_value(),
              .health_interval = options.health_interval,
              .health_failures = options.health_failures,
              .health_action = options.health_action,
              .stop = options.stop,
              .follow = options.follow.has_value()};
  if (std::holds_alternative<ProbeKind>(options.ready)) terms.ready_by = ReadyBy::probe;
  if (std::holds_alternative<ByNotify>(options.ready)) terms.ready_by = ReadyBy::word;
  if (std::holds_alternative<ByDescriptor>(options.ready)) terms.ready_by = ReadyBy::word;
  if (const auto* by_time = std::get_if<ByTime>(&options.ready)) {
    terms.ready_by = ReadyBy::time;
    terms.ready_time = by_time->time;
  }
  return terms;
}

Actions Adapter::begin() {
  if (terms_.check) return {RunCheck{}};
  stage_ = Stage::held;
  return {SayReady{}};
}

Actions Adapter::step(const Event& event, Time now) {
  if (stage_ == Stage::over) return {};
  now_ = now;
  std::visit([this](const auto& known) { on(known); }, event);
  now_ = Time{0};
  return std::exchange(actions_, {});
}

std::optional<Time> Adapter::next_deadline() const {
  if (!active()) return std::nullopt;
  std::optional<Time> next;
  const auto consider = [&next](std::optional<Time> time) {
    if (time && (!next || *time < *next)) next = time;
  };
  consider(heartbeat_at_);
  consider(ready_at_);
  consider(probe_at_);
  consider(judge_at_);
  // While a probe of the daemon is running, agentify must not say `healthy`, because the probe may
  // fail. So the time to say `healthy` is ignored until the probe has ended.
  if (!probing_) consider(settled_at_);
  if (!moments_.empty()) consider(moments_.front().at);
  return next;
}

void Adapter::log(std::string text) {
  order(Log{std::move(text)});
}

void Adapter::leave(int status) {
  stage_ = Stage::over;
  order(Leave{status});
}

// ---- events before agentify is activated

void Adapter::on(const CheckEnded& event) {
  if (stage_ != Stage::checking) return;
  if (event.good) {
    stage_ = Stage::held;
    order(SayReady{});
    return;
  }
  log("the check failed: " + event.words);
  order(SayUnfit{"check: " + event.words});
  leave(exit_failed);
}

void Adapter::on(const Welcomed& event) {
  on_trial_ = event.candidate || event.boot;
  readiness_ = event.readiness;
  must_say_healthy_ = !event.candidate;
  watchdog_ = event.watchdog;
}

// ---- the start of the daemon

void Adapter::on(const Activated& event) {
  if (stage_ != Stage::held) return;
  stage_ = Stage::starting;
  activated_at_ = now_;
  begin_trial(event);
  if (watchdog_) heartbeat_at_ = now_;
  if (terms_.health && terms_.health_action == HealthAction::silence && !watchdog_) {
    log("--health: init has no watchdog here, so a daemon that falls sick behind its trial is only "
        "logged and shown; --health-action=exit has it started anew");
  }
  order(StartDaemon{});
  beat_if_due();
  follow();
}

void Adapter::on(const DaemonWaits& event) {
  if (stage_ != Stage::starting) return;
  const std::string holder = event.holder.empty() ? "" : ": its lock is held by " + event.holder;
  log("waits until the processes of the daemon before this one have gone" + holder);
  note_not_ready("waits for the daemon before" + holder);
}

void Adapter::on(const DaemonRefused& event) {
  if (stage_ != Stage::starting && stage_ != Stage::stopping) return;
  log("cannot start the daemon: " + event.words);
  if (stop_asked_) {
    order(SayStopped{});
    return leave(0);
  }
  if (on_trial_) say_unfit("cannot start the daemon: " + event.words);
  leave(event.error == ENOENT ? exit_not_found : exit_not_executable);
}

void Adapter::on(const DaemonStarted& event) {
  if (stage_ == Stage::stopping) {
    moments_ = schedule(terms_.stop, now_, stop_limit_);
    return send_due_signals();
  }
  if (stage_ != Stage::starting) return;
  stage_ = Stage::running;
  log("the daemon is process " + std::to_string(event.pid));
  switch (terms_.ready_by) {
    case ReadyBy::start:
      return become_ready();
    case ReadyBy::word:
      return note_not_ready("it has not said so");
    case ReadyBy::time:
      ready_at_ = now_ + terms_.ready_time;
      return note_not_ready("it has not lived for long enough");
    case ReadyBy::probe:
      not_ready_ = "it has not answered (--ready=" + terms_.ready_text + ")";
      probe_at_ = now_;
      return probe_if_due();
  }
}

// ---- heartbeats to the upgrader

void Adapter::beat_if_due() {
  if (!heartbeat_at_ || *heartbeat_at_ > now_) return;
  if (daemon_beats_) return heartbeat_at_.reset();
  const Duration interval = std::max(Duration{1}, *watchdog_ / heartbeats_in_watchdog);
  heartbeat_at_ = now_ + interval;
  if (!sick_) order(SayHeartbeat{});
}

// ---- notifications from the daemon, and signals for it

void Adapter::on(const NotifyReceived& event) {
  const NotifyMessage& message = event.message;
  const bool stopping = stage_ == Stage::stopping && !moments_.empty();
  if (!lives() && !stopping) return;
  if (message.main_process) order(AdoptMain{*message.main_process});
  if (message.status) order(SayStatus{*message.status});
  if (message.extend) put_off(*message.extend);
  if (message.alive) {
    daemon_beats_ = true;
    heartbeat_at_.reset();
    if (watchdog_ && !sick_) order(SayHeartbeat{});
  }
  if (message.failed) find_sick("it has said WATCHDOG=trigger");
  const bool awaited = stage_ == Stage::running && terms_.ready_by == ReadyBy::word;
  if (message.ready && awaited) become_ready();
}

void Adapter::on(const SignalTaken& event) {
  if (lives()) order(SignalDaemon{event.signal});
}

void Adapter::on(const Committed&) {
  on_trial_ = false;
  judge_at_.reset();
  unfit_ = false;  // the upgrader ignores an `unfit` that arrives after the commit
  if (settling_ && must_say_healthy_) order(SayHealthy{});
  end_settling();
  follow();
}

// ---- following a directory of releases, except on trial and during a stop

void Adapter::follow() {
  const bool may = lives() || stage_ == Stage::starting;
  if (!terms_.follow || on_trial_ || !may || std::exchange(follows_, true)) return;
  order(Follow{});
}

void Adapter::end_following() {
  if (std::exchange(follows_, false)) order(EndFollowing{});
}

void Adapter::on(const TimePassed&) {
  if (!active()) return;
  if (ready_at_ && *ready_at_ <= now_ && stage_ == Stage::running) become_ready();
  settle_if_due();
  judge_if_due();
  send_due_signals();
  probe_if_due();
  beat_if_due();
}

// ---- the state of the state machine as a string

namespace {

std::string in_words(const std::optional<Time>& time, Time now) {
  return time ? std::to_string((*time - now).count()) : "-";
}

}  // namespace

std::string Adapter::describe(Time now) const {
  std::string text = name_of(stage_);
  const auto flag = [&text](const char* name, bool set) {
    if (set) text += std::string(" ") + name;
  };
  flag("trial", on_trial_);
  flag("readiness", readiness_);
  flag("must_say_healthy", must_say_healthy_);
  flag("watchdog", watchdog_.has_value());
  flag("daemon_beats", daemon_beats_);
  flag("sick", sick_);
  flag("stop_asked", stop_asked_);
  flag("gives_up", gives_up_);
  flag("clean", clean_);
  flag("settling", settling_);
  flag("unfit", unfit_);
  flag("commit_healthy", commit_healthy_);
  if (trial_) text += " trial " + std::to_string(trial_->count());
  flag("follows", follows_);
  if (probing_) text += *probing_ == Probe::readiness ? " asks_readiness" : " asks_health";
  text += " heartbeat " + in_words(heartbeat_at_, now) + " ready " + in_words(ready_at_, now) +
          " probe " + in_words(probe_at_, now) + " judge " + in_words(judge_at_, now) +
          " settled " + in_words(settled_at_, now) + " failures " + std::to_string(failures_);
  if (stop_limit_) text += " limit " + std::to_string(stop_limit_->count());
  for (const StopMoment& moment : moments_) {
    text += " signal " + std::to_string(moment.signal) + " in " + in_words(moment.at, now);
  }
  if (ending_) text += " " + agentify::in_words(*ending_);
  return text;
}

const char* name_of(Adapter::Stage stage) {
  switch (stage) {
    case Adapter::Stage::checking:
      return "checking";
    case Adapter::Stage::held:
      return "held";
    case Adapter::Stage::starting:
      return "starting";
    case Adapter::Stage::running:
      return "running";
    case Adapter::Stage::serving:
      return "serving";
    case Adapter::Stage::stopping:
      return "stopping";
    case Adapter::Stage::sweeping:
      return "sweeping";
    case Adapter::Stage::over:
      return "over";
  }
  return "";
}

}  // namespace agentify

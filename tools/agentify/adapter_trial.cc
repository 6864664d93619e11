// The part of agentify's state machine (adapter.h) that judges whether the daemon is ready and
// healthy, and sends `healthy` and `unfit`.
#include <algorithm>
#include <utility>

#include "tools/agentify/adapter.h"

namespace agentify {
namespace {

constexpr int trial_margin_divisor = 10;

// A daemon on trial, whose version is not committed yet, must stay well for some time (--settle)
// after it has become ready, before agentify says `healthy`. In that time, agentify checks the
// daemon's health at least this many times.
constexpr int answers_while_settling = 3;

Duration trial_margin(Duration trial) {
  return std::min(trial_margin_max, trial / trial_margin_divisor);
}

std::string in_ms(Duration time) {
  return std::to_string(time.count()) + " ms";
}

}  // namespace

// ---- the beginning of a trial, and the judgement before its end

void Adapter::begin_trial(const Activated& event) {
  if (!on_trial_ || !event.trial) return;
  trial_ = event.trial;
  commit_healthy_ = event.commit_healthy;
  if (*trial_ > Duration{0}) judge_at_ = now_ + *trial_ - trial_margin(*trial_);
}

void Adapter::say_unfit(std::string reason) {
  if (std::exchange(unfit_, true)) return;
  end_settling();
  order(SayUnfit{std::move(reason)});
}

// Judges a daemon on trial shortly before the trial ends, and sends `unfit` if the daemon does not
// work. Without this message, the upgrader would commit a daemon that does not work, or would roll
// the upgrade back without knowing the reason. An `extend` does not delay the judgement, because
// `extend` does not prolong a trial.
void Adapter::judge_if_due() {
  if (!judge_at_ || *judge_at_ > now_) return;
  judge_at_.reset();
  if (stage_ == Stage::starting || stage_ == Stage::running) {
    return say_unfit("the daemon is not ready: " + not_ready_);
  }
  if (stage_ != Stage::serving) return;
  if (failures_ > 0) return say_unfit("the daemon is not well: " + not_well_);
  if (settling_ && commit_healthy_) {
    say_unfit("the trial is about to end, and the daemon has not been ready and well for " +
              in_ms(settle_time()));
  }
}

// Returns how long a daemon must stay ready without a failure before agentify says `healthy`. This
// is at most half of the trial, so that the daemon has the other half to become ready.
Duration Adapter::settle_time() const {
  return trial_ ? std::min(terms_.settle, *trial_ / 2) : terms_.settle;
}

// Starts the period in which the daemon must stay well before agentify says `healthy`. With health
// checks, the period starts only at the first good result.
void Adapter::settle() {
  settling_ = true;
  if (terms_.health) {
    probe_at_ = now_;
    probe_if_due();
  } else {
    settled_at_ = now_ + settle_time();
  }
}

void Adapter::end_settling() {
  settling_ = false;
  settled_at_.reset();
}

// Says `healthy` when the daemon has stayed well for long enough. If a health check is running,
// does nothing until its result has come, because the result may be bad.
void Adapter::settle_if_due() {
  if (!settled_at_ || *settled_at_ > now_ || probing_) return;
  end_settling();
  order(SayHealthy{});
}

// ---- finding out whether the daemon works

bool Adapter::may_say_healthy() const {
  if (unfit_) return false;
  if (must_say_healthy_) return readiness_;
  return terms_.vouch;
}

void Adapter::note_not_ready(const std::string& words) {
  const bool asked = stage_ == Stage::running;
  const std::string why = words + (asked ? " (--ready=" + terms_.ready_text + ")" : "");
  if (std::exchange(not_ready_, why) != why) order(SayStatus{"not ready: " + why});
}

void Adapter::become_ready() {
  stage_ = Stage::serving;
  ready_at_.reset();
  probe_at_.reset();
  const bool waits = on_trial_ && may_say_healthy() && settle_time() > Duration{0};
  if (!waits && may_say_healthy()) order(SayHealthy{});
  order(SayStatus{"the daemon is ready after " + in_ms(now_ - activated_at_)});
  if (waits) return settle();
  if (terms_.health) probe_at_ = now_ + terms_.health_interval;
}

void Adapter::on(const ReadySaid&) {
  if (stage_ == Stage::running && terms_.ready_by == ReadyBy::word) become_ready();
}

void Adapter::on(const ProbeAnswered& event) {
  if (probing_ != event.probe) return;
  probing_.reset();
  if (event.probe == Probe::readiness && stage_ == Stage::running) {
    if (event.good) return become_ready();
    note_not_ready(event.words);
    probe_at_ = now_ + ready_interval;
  }
  if (event.probe == Probe::health && stage_ == Stage::serving) {
    note_health(event);
    settle_if_due();
    if (stage_ == Stage::serving) probe_at_ = now_ + health_interval();
  }
}

void Adapter::probe_if_due() {
  if (!probe_at_ || *probe_at_ > now_ || probing_) return;
  probe_at_.reset();
  probing_ = stage_ == Stage::running ? Probe::readiness : Probe::health;
  order(AskDaemon{*probing_});
}

// ---- health checks

Duration Adapter::health_interval() const {
  if (!settling_) return terms_.health_interval;
  return std::clamp(settle_time() / answers_while_settling, Duration{1}, terms_.health_interval);
}

void Adapter::note_health(const ProbeAnswered& answer) {
  if (answer.good) {
    failures_ = 0;
    if (settling_ && !settled_at_) settled_at_ = now_ + settle_time();
    if (!sick_) return;
    sick_ = false;
    log("the daemon is healthy again");
    return order(SayStatus{"the daemon is healthy again"});
  }
  settled_at_.reset();
  not_well_ = answer.words;
  if (failures_ >= terms_.health_failures) return;  // the daemon is known to be sick already
  ++failures_;
  if (failures_ == terms_.health_failures) find_sick(answer.words);
}

void Adapter::find_sick(const std::string& why) {
  if (sick_ || !lives()) return;
  log("the daemon is sick: " + why);
  sick_ = true;
  if (on_trial_) return say_unfit("the daemon is sick: " + why);
  order(SayStatus{"the daemon is sick: " + why});
  if (terms_.health_action == HealthAction::exit) {
    gives_up_ = true;
    begin_stop(std::nullopt);
  }
}

}  // namespace agentify

// Prints agentify's state machine (adapter.h) as a text, for tests that visit all its states.
#include "tools/agentify/adapter.h"

namespace agentify {
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

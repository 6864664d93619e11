#include "tools/agentify/doctor/start_watch.h"

namespace agentify {
namespace {

using upgrader::Duration;

constexpr Duration watched_max{30'000};
// The start of a daemon is regarded as finished if no new listener has appeared for this time. A
// daemon may open several listeners one after the other.
constexpr Duration quiet_time{1'500};

}  // namespace

bool StartWatch::look(const StartLook& look, Duration now, Findings& findings) {
  if (now >= begun_ + watched_max) return true;
  if (look.main == 0) return false;
  if (first_ == 0) {
    first_ = look.main;
    changed_ = now;
    started_after_ = now - begun_;
  }
  if (look.main != first_) findings.forks = true;
  if (look.listeners != findings.listeners || look.notifies != findings.notifies) {
    changed_ = now;
    findings.ready_after = now - begun_;
    findings.listeners = look.listeners;
    findings.notifies = look.notifies;
  }
  const bool is_silent = !findings.notifies && findings.listeners.empty();
  if (is_silent && look.busy) changed_ = now;
  return now - changed_ > (is_silent ? silent_time(started_after_) : quiet_time);
}

}  // namespace agentify

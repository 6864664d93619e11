#include "tools/upgraderctl/core/todays_clock.h"

#include <chrono>

namespace upgraderctl {
namespace {

// Two times that differ by less than this are regarded as equal, and the clock as unchanged. Clocks
// are adjusted slightly all the time, and an upgrader's start time is measured by two methods.
constexpr std::chrono::seconds tolerance{2};

class Correction {
 public:
  Correction(Moment now, Duration age, Duration by) : now_(now), age_(age), by_(by) {}

  [[nodiscard]] bool is_due(const std::optional<Moment>& when) const {
    return when && (now_ - *when > age_ + tolerance || *when > now_ + tolerance);
  }
  void correct(std::optional<Moment>& when) const {
    if (is_due(when)) *when += by_;
  }
  void correct(std::optional<AgentStatus>& agent) const {
    if (!agent) return;
    correct(agent->started);
    correct(agent->activated);
  }
  void move(std::optional<Moment>& when) const {
    if (when) *when += by_;
  }

 private:
  Moment now_;
  Duration age_;
  Duration by_;
};

}  // namespace

Status in_todays_clock(Status status, Moment now, Duration age) {
  if (!status.upgrader.since) return status;
  const Duration by = (now - age) - *status.upgrader.since;
  if (by < tolerance && by > -tolerance) return status;
  const Correction clock(now, age, by);
  // A deadline in the future may be right, or may have been written before the clock was set. It
  // was written together with status.since, the start of the phase. So correct it if status.since
  // must be corrected.
  if (clock.is_due(status.since)) clock.move(status.deadline);
  clock.correct(status.since);
  clock.correct(status.active);
  clock.correct(status.candidate);
  clock.correct(status.standby);
  if (status.upgrade) clock.correct(status.upgrade->accepted);
  for (Ending& ending : status.endings) {
    clock.correct(ending.accepted);
    clock.correct(ending.ended);
  }
  clock.move(status.upgrader.since);
  return status;
}

}  // namespace upgraderctl

#include "tools/notify-watchdog/guard.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <utility>

#include "base/duration.h"
#include "base/number.h"
#include "tools/notify-watchdog/words.h"

namespace notify_watchdog {

// ---- parsing the notifications of the watched program

namespace {

std::optional<Duration> time_in(std::string_view microseconds) {
  const std::optional<std::int64_t> number = upgrader::take_number(microseconds);
  if (!number || *number == 0 || !microseconds.empty()) return std::nullopt;
  const std::int64_t most = upgrader::duration_max.count() * 1000;
  if (*number == upgrader::too_large || *number > most) return upgrader::duration_max;
  return Duration{(*number + 999) / 1000};
}

void take_line(std::string_view line, Notification& notification) {
  constexpr std::string_view extend = "EXTEND_TIMEOUT_USEC=";
  if (line == "READY=1") notification.ready = true;
  if (line == "STOPPING=1") notification.stopping = true;
  if (line == "WATCHDOG=1") notification.alive = true;
  if (line == "WATCHDOG=trigger") notification.failed = true;
  if (line.starts_with(extend)) notification.extend = time_in(line.substr(extend.size()));
}

}  // namespace

Notification parse_notification(std::string_view text) {
  Notification notification;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    take_line(text.substr(0, end), notification);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return notification;
}

// ---- the class Guard

namespace {

// How many times within the device's timeout notify-watchdog feeds the device by itself, during the
// start and the stop. It feeds the device several times, so that a late wake-up does not cause a
// reset.
constexpr int feeds_a_timeout = 4;

// If a signal has killed the program, the exit status is this value plus the number of the signal,
// as in a shell.
constexpr int killed_status_base = 128;

bool is_stop(int signal_number) {
  return signal_number == SIGTERM || signal_number == SIGINT;
}

std::string in_words(const ChildEnded& ended) {
  if (ended.how == ChildEnded::How::exited) return "exited with status {}"_with(ended.value);
  return "was killed by signal {}"_with(ended.value);
}

}  // namespace

Guard::Guard(const Terms& terms, Time now) : terms_(terms), fed_(now) {
  if (terms.start_timeout != Duration{0}) deadline_ = now + terms.start_timeout;
}

Actions Guard::step(const Event& event, Time now) {
  std::visit([&](const auto& known) { take(known, now); }, event);
  return std::exchange(actions_, {});
}

std::optional<Time> Guard::next_deadline() const {
  return upgrader::earlier_of(upgrader::earlier_of(feed_time(), silence_time()), deadline_);
}

void Guard::take(const DeviceChanged& event, Time) {
  is_armed_ = event.armed;
}

void Guard::take(const Notified& event, Time now) {
  const Notification& said = event.notification;
  if (said.extend && deadline_) deadline_ = std::max(*deadline_, now + *said.extend);
  if (said.stopping) {
    child_stops_ = true;
    begin_stop(now);
  }
  if (said.ready && phase_ == Phase::starting) {
    phase_ = Phase::watching;
    deadline_.reset();
    feed(now);
  }
  if (said.alive) note_life(now);
  if (said.failed && phase_ != Phase::stopping) starve("the program says WATCHDOG=trigger");
}

void Guard::note_life(Time now) {
  if (phase_ == Phase::starving) return;
  if (silence_logged_) {
    silence_logged_ = false;
    actions_.emplace_back(Log{"WATCHDOG=1 comes again"});
  }
  feed(now);
}

void Guard::take(const SignalArrived& event, Time now) {
  if (is_stop(event.number)) {
    told_to_stop_ = true;
    begin_stop(now);
  }
  actions_.emplace_back(PassOnSignal{event.number});
}

// Enters the phase `stopping`, and starts its time limit. Does nothing if a stop is under way
// already.
void Guard::begin_stop(Time now) {
  if (phase_ == Phase::stopping) return;
  phase_ = Phase::stopping;
  deadline_ = now + terms_.stop_timeout;
  feed(now);
}

void Guard::take(const ChildEnded& event, Time) {
  const bool well = event.how == ChildEnded::How::exited && event.value == 0;
  const bool orderly = told_to_stop_ || (child_stops_ && well);
  const int status = event.value + (event.how == ChildEnded::How::killed ? killed_status_base : 0);
  if (!orderly) {
    log("the program {}, and no stop was requested"_with(in_words(event)),
        "the device stays armed, and resets the machine within {} unless notify-watchdog is "
        "started again"_with(in_words(terms_.device_timeout)));
  }
  actions_.emplace_back(Leave{.stop_device = orderly, .status = status});
}

void Guard::take(const TimePassed&, Time now) {
  if (deadline_ && *deadline_ <= now) {
    if (phase_ == Phase::starting) starve("no READY=1 within the start timeout");
    if (phase_ == Phase::stopping) starve("the program has not ended within the stop timeout");
  }
  if (const auto due = feed_time(); due && *due <= now) feed(now);
  if (const auto due = silence_time(); due && *due <= now) {
    silence_logged_ = true;
    const Duration left = std::max(Duration{0}, fed_ + terms_.device_timeout - now);
    log("no WATCHDOG=1 for {}"_with(in_words(now - fed_)),
        "unless it comes, the device resets the machine within {}"_with(in_words(left)));
  }
}

void Guard::starve(const std::string& why) {
  if (phase_ == Phase::starving) return;
  phase_ = Phase::starving;
  deadline_.reset();
  log(why, "the device is not fed any more, and resets the machine within {}"_with(
               in_words(terms_.device_timeout)));
}

// Logs an observation and its consequence. If the device is not armed, the observation has no
// consequence, and the line says that the device is not armed.
void Guard::log(const std::string& observation, const std::string& consequence) {
  actions_.emplace_back(
      Log{observation + ": " +
          (is_armed_ ? consequence : "the device is not armed, so the machine is not reset")});
}

void Guard::feed(Time now) {
  fed_ = now;
  actions_.emplace_back(Feed{});
}

bool Guard::feeds_by_itself() const {
  return phase_ == Phase::starting || phase_ == Phase::stopping;
}

std::optional<Time> Guard::feed_time() const {
  if (!feeds_by_itself()) return std::nullopt;
  return fed_ + std::max(Duration{1}, terms_.device_timeout / feeds_a_timeout);
}

// Returns when to log that the child is silent: three quarters of the device's timeout after the
// device was last fed. A program usually sends WATCHDOG=1 twice in the device's timeout, so by then
// at least one message is overdue.
std::optional<Time> Guard::silence_time() const {
  if (phase_ != Phase::watching || silence_logged_) return std::nullopt;
  return fed_ + terms_.device_timeout * 3 / 4;
}

}  // namespace notify_watchdog

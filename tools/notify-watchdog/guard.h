// Decides when the watchdog device is fed, and whether the device is stopped at the end. The child
// is the program that notify-watchdog runs and watches. This class does no input or output and
// reads no clock: main.cc passes events to it and performs its actions.
//
//   phase      entered by                          who feeds the device
//   starting   the start of notify-watchdog        notify-watchdog, at most start_timeout long
//   watching   READY=1                             WATCHDOG=1 of the child, and nothing else
//   stopping   SIGTERM, SIGINT; STOPPING=1         notify-watchdog, at most stop_timeout long
//   starving   WATCHDOG=trigger, or a timeout      nobody: the device resets the machine
//
// The child's exit is orderly if SIGTERM or SIGINT came before, or if the child has sent STOPPING=1
// and then exits with status 0. After an orderly exit the device is stopped. After any other exit
// the device stays armed, so that the machine is reset unless notify-watchdog is started again in
// time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"

namespace notify_watchdog {

using upgrader::Duration;
using upgrader::Time;

struct Terms {
  Duration device_timeout{};  // the device resets the machine if it is not fed for this time
  Duration start_timeout{};   // the time limit for READY=1; 0 means no limit
  Duration stop_timeout{};
};

enum class Phase { starting, watching, stopping, starving };

// ---- events that the guard gets

// The most bytes of a notification. A longer notification is ignored. systemd itself accepts 4,096
// bytes.
inline constexpr std::size_t notification_bytes_max = 8192;

// The lines of a notification (sd_notify(3)) that notify-watchdog needs.
struct Notification {
  bool ready = false;                // READY=1 was in the notification
  bool stopping = false;             // STOPPING=1 was in the notification
  bool alive = false;                // WATCHDOG=1 was in the notification
  bool failed = false;               // WATCHDOG=trigger was in the notification
  std::optional<Duration> extend{};  // the time in EXTEND_TIMEOUT_USEC=, rounded up, a day at most

  bool operator==(const Notification&) const = default;
};

// Parses a notification. Ignores unknown and malformed lines.
[[nodiscard]] Notification parse_notification(std::string_view text);

// The device has been opened, or could not be opened. Until the first DeviceChanged, the guard
// assumes that the device is armed.
struct DeviceChanged {
  bool armed = false;
};
struct Notified {
  Notification notification;
};
struct SignalArrived {
  int number = 0;
};
struct ChildEnded {
  enum class How { exited, killed };
  How how = How::exited;
  int value = 0;  // the exit status, or the signal's number
};
struct TimePassed {};
using Event = std::variant<DeviceChanged, Notified, SignalArrived, ChildEnded, TimePassed>;

// ---- actions that the guard returns

struct Feed {
  bool operator==(const Feed&) const = default;
};
struct PassOnSignal {
  int number = 0;
  bool operator==(const PassOnSignal&) const = default;
};
struct Log {
  std::string text;
  bool operator==(const Log&) const = default;
};
// The last action: stop the device or leave it armed, then exit with `status`.
struct Leave {
  bool stop_device = false;
  int status = 0;
  bool operator==(const Leave&) const = default;
};
using Action = std::variant<Feed, PassOnSignal, Log, Leave>;
using Actions = std::vector<Action>;

class Guard {
 public:
  // Makes a guard in the phase `starting`. The caller must have fed the device just before.
  Guard(const Terms& terms, Time now);

  // Returns the actions that an event causes, in their order.
  [[nodiscard]] Actions step(const Event& event, Time now);
  // Returns the time at which step() must be called with TimePassed.
  [[nodiscard]] std::optional<Time> next_deadline() const;
  [[nodiscard]] Phase phase() const { return phase_; }

 private:
  void take(const DeviceChanged& event, Time now);
  void take(const Notified& event, Time now);
  void take(const SignalArrived& event, Time now);
  void take(const ChildEnded& event, Time now);
  void take(const TimePassed& event, Time now);
  void note_life(Time now);
  void begin_stop(Time now);
  void starve(const std::string& why);
  void feed(Time now);
  void log(const std::string& observation, const std::string& consequence);
  [[nodiscard]] bool feeds_by_itself() const;
  [[nodiscard]] std::optional<Time> feed_time() const;
  [[nodiscard]] std::optional<Time> silence_time() const;

  Terms terms_;
  Actions actions_;
  Phase phase_ = Phase::starting;
  // the deadline of the start or of the stop, whichever is under way
  std::optional<Time> deadline_;
  Time fed_{};  // the time when the device was last fed
  bool is_armed_ = true;
  bool told_to_stop_ = false;  // SIGTERM or SIGINT has come, so any exit of the child is orderly
  bool child_stops_ = false;   // STOPPING=1 has come, so an exit with status 0 is orderly
  bool silence_logged_ = false;
};

}  // namespace notify_watchdog

// The events that the adapter is given.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <variant>

#include "tools/agentify/duration.h"
#include "tools/agentify/notify_message.h"

namespace agentify {

// How a process ended: as in wait(2), and `unknown` where nobody can say.
struct DaemonEnding {
  enum class How { exited, signalled, unknown };

  How how = How::unknown;
  int value = 0;  // the exit status or the signal's number

  bool operator==(const DaemonEnding&) const = default;
};

// "exited with status 3", "was killed by SIGSEGV", "ended in an unknown way".
[[nodiscard]] std::string in_words(const DaemonEnding& ending);

// ---- of the conversation

struct Welcomed {
  bool candidate = false;  // on trial from its activate on
  bool boot = false;       // a fallback at boot: on trial, too
  bool readiness = false;  // the upgrader has the feature
  std::optional<Duration> watchdog = {};

  bool operator==(const Welcomed&) const = default;
};
struct Activated {
  std::optional<Duration> trial = {};  // how long it lasts, where we are on trial
  bool commit_healthy = false;         // `healthy` passes it; else to survive it does

  bool operator==(const Activated&) const = default;
};
struct StopAsked {
  std::optional<Duration> deadline = {};

  bool operator==(const StopAsked&) const = default;
};
struct Committed {
  bool operator==(const Committed&) const = default;
};

// ---- of the check

struct CheckEnded {
  bool good = false;
  std::string words;  // what is wrong

  bool operator==(const CheckEnded&) const = default;
};

// ---- of the keeper and the daemon

struct DaemonWaits {        // processes of an earlier daemon are still there
  std::string holder = {};  // those that hold its lock, for people

  bool operator==(const DaemonWaits&) const = default;
};
struct DaemonStarted {
  pid_t pid = 0;

  bool operator==(const DaemonStarted&) const = default;
};
struct DaemonRefused {  // nothing has been started
  int error = 0;        // an errno value
  std::string words;

  bool operator==(const DaemonRefused&) const = default;
};
struct DaemonEnded {  // its main process; the keeper now waits for an order
  DaemonEnding ending;
  pid_t heir = 0;  // of the processes that it left the one that may carry on; or 0

  bool operator==(const DaemonEnded&) const = default;
};
struct FamilyGone {  // no process is left, and the keeper starts none any more
  int killed = 0;    // how many had to be

  bool operator==(const FamilyGone&) const = default;
};
struct KeeperLost {
  bool operator==(const KeeperLost&) const = default;
};

// ---- of readiness and health

struct ReadySaid {  // a newline has come on the daemon's descriptor
  bool operator==(const ReadySaid&) const = default;
};
enum class Probe { readiness, health };
struct ProbeAnswered {
  Probe probe = Probe::readiness;
  bool good = false;
  std::string words;  // what is wrong

  bool operator==(const ProbeAnswered&) const = default;
};
struct NotifyReceived {
  NotifyMessage message;

  bool operator==(const NotifyReceived&) const = default;
};

struct SignalTaken {  // to be passed on
  int signal = 0;

  bool operator==(const SignalTaken&) const = default;
};
struct TimePassed {
  bool operator==(const TimePassed&) const = default;
};

using Event = std::variant<Welcomed, Activated, StopAsked, Committed, CheckEnded, DaemonWaits,
                           DaemonStarted, DaemonRefused, DaemonEnded, FamilyGone, KeeperLost,
                           ReadySaid, ProbeAnswered, NotifyReceived, SignalTaken, TimePassed>;

}  // namespace agentify

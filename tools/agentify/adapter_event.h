// The events that agentify's state machine (adapter.h) is given.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <variant>

#include "tools/agentify/duration.h"
#include "tools/agentify/family.h"
#include "tools/agentify/notify_message.h"

namespace agentify {

// ---- events of the conversation

struct Welcomed {
  bool candidate = false;  // the agent is a candidate, so its activation begins a trial
  // the agent is a fallback on trial, because the first agent has failed
  bool boot = false;
  bool readiness = false;  // the upgrader has the feature `readiness`
  std::optional<Duration> watchdog = {};

  bool operator==(const Welcomed&) const = default;
};
struct Activated {
  std::optional<Duration> trial = {};  // the length of the trial, if agentify is on trial
  // true: `healthy` commits the upgrade; false: a daemon that lives to the end of the trial commits
  // it
  bool commit_healthy = false;

  bool operator==(const Activated&) const = default;
};
struct StopAsked {
  std::optional<Duration> deadline = {};

  bool operator==(const StopAsked&) const = default;
};
struct Committed {
  bool operator==(const Committed&) const = default;
};

// ---- events of the check

struct CheckEnded {
  bool good = false;
  std::string words;  // why the check failed; empty if it succeeded

  bool operator==(const CheckEnded&) const = default;
};

// ---- events of the keeper and the daemon

// The keeper cannot start the daemon yet, because processes of an earlier daemon hold the lock.
struct DaemonWaits {
  std::string holder = {};  // the process that holds the lock, in words

  bool operator==(const DaemonWaits&) const = default;
};
struct DaemonStarted {
  pid_t pid = 0;

  bool operator==(const DaemonStarted&) const = default;
};
struct DaemonRefused {  // the daemon's program could not be executed
  int error = 0;        // the errno value of the failed start
  std::string words;

  bool operator==(const DaemonRefused&) const = default;
};
struct DaemonEnded {  // the daemon's main process has ended; the keeper awaits orders
  DaemonEnding ending;
  pid_t heir = 0;  // the process that may be the new main process, or 0

  bool operator==(const DaemonEnded&) const = default;
};
struct FamilyGone {  // no process of the daemon is left, and the keeper will start none
  int killed = 0;    // how many processes of the daemon had to be killed

  bool operator==(const FamilyGone&) const = default;
};
struct KeeperLost {
  bool operator==(const KeeperLost&) const = default;
};

// ---- events about readiness and health

struct ReadySaid {  // the daemon has written a newline to its descriptor (--ready=fd:N)
  bool operator==(const ReadySaid&) const = default;
};
enum class Probe { readiness, health };
struct ProbeAnswered {
  Probe probe = Probe::readiness;
  bool good = false;
  std::string words;  // why the probe failed; empty if it succeeded

  bool operator==(const ProbeAnswered&) const = default;
};
struct NotifyReceived {
  NotifyMessage message;

  bool operator==(const NotifyReceived&) const = default;
};

struct SignalTaken {  // agentify got a signal that is meant for the daemon
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

// The actions that agentify's state machine (adapter.h) orders, and that its loop performs.
#pragma once

#include <sys/types.h>

#include <string>
#include <variant>
#include <vector>

#include "tools/agentify/adapter_event.h"
#include "tools/agentify/duration.h"

namespace agentify {

// ---- actions for the upgrader

struct SayReady {
  bool operator==(const SayReady&) const = default;
};
struct SayUnfit {
  std::string reason;

  bool operator==(const SayUnfit&) const = default;
};
struct SayHealthy {
  bool operator==(const SayHealthy&) const = default;
};
struct SayStopped {
  bool operator==(const SayStopped&) const = default;
};
struct SayHeartbeat {
  bool operator==(const SayHeartbeat&) const = default;
};
struct SayStatus {
  std::string text;

  bool operator==(const SayStatus&) const = default;
};
struct SayExtend {
  Duration time{};

  bool operator==(const SayExtend&) const = default;
};

// ---- actions for the check, the keeper and the daemon

struct RunCheck {
  bool operator==(const RunCheck&) const = default;
};
struct StartDaemon {
  bool operator==(const StartDaemon&) const = default;
};
// The keeper must not start the daemon any more, and answers by the event FamilyGone. If it has
// started the daemon already, the order has no effect.
struct CancelStart {
  bool operator==(const CancelStart&) const = default;
};
struct SignalDaemon {
  int signal = 0;

  bool operator==(const SignalDaemon&) const = default;
};
struct AdoptMain {  // make process `pid` the daemon's main process
  pid_t pid = 0;

  bool operator==(const AdoptMain&) const = default;
};
struct KillFamily {  // kill all processes of the daemon; the event FamilyGone answers this
  bool operator==(const KillFamily&) const = default;
};
struct KillOrphans {  // like KillFamily, when the keeper is dead; FamilyGone answers this, too
  bool operator==(const KillOrphans&) const = default;
};
struct AskDaemon {  // make one probe of the daemon; the event ProbeAnswered answers this
  Probe probe = Probe::readiness;

  bool operator==(const AskDaemon&) const = default;
};

// ---- actions for the releases that are followed

struct Follow {  // from now on, request upgrades to releases that are due
  bool operator==(const Follow&) const = default;
};
struct EndFollowing {  // request no more releases
  bool operator==(const EndFollowing&) const = default;
};

// ---- actions for agentify itself

struct Log {
  std::string text;

  bool operator==(const Log&) const = default;
};
struct ReportFailure {  // a failure outside of a trial: log it, and send it as `status`
  std::string text;

  bool operator==(const ReportFailure&) const = default;
};
struct Leave {
  int status = 0;

  bool operator==(const Leave&) const = default;
};
struct LeaveLike {  // exit with the daemon's exit status, or die of the signal that killed it
  DaemonEnding ending;

  bool operator==(const LeaveLike&) const = default;
};

using Action = std::variant<SayReady, SayUnfit, SayHealthy, SayStopped, SayHeartbeat, SayStatus,
                            SayExtend, RunCheck, StartDaemon, CancelStart, SignalDaemon, AdoptMain,
                            KillFamily, KillOrphans, AskDaemon, Follow, EndFollowing, Log,
                            ReportFailure, Leave, LeaveLike>;
using Actions = std::vector<Action>;

}  // namespace agentify

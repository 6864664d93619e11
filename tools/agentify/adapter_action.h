// The actions of agentify's state machine (adapter.h). Its loop performs them.
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
// Forbids the keeper to start the daemon from now on. The keeper answers by the event FamilyGone.
// Has no effect if the daemon was started already.
struct CancelStart {
  bool operator==(const CancelStart&) const = default;
};
struct SignalDaemon {
  int signal = 0;

  bool operator==(const SignalDaemon&) const = default;
};
struct AdoptMain {  // regard process `pid` as the daemon's main process
  pid_t pid = 0;

  bool operator==(const AdoptMain&) const = default;
};
struct KillFamily {  // kill all processes of the daemon; causes FamilyGone
  bool operator==(const KillFamily&) const = default;
};
struct KillOrphans {  // do the same as KillFamily without the keeper, which is dead
  bool operator==(const KillOrphans&) const = default;
};
struct AskDaemon {  // make one probe of the daemon; causes ProbeAnswered
  Probe probe = Probe::readiness;

  bool operator==(const AskDaemon&) const = default;
};

// ---- actions for the releases that are followed

struct Follow {  // begin to request upgrades to releases that are due
  bool operator==(const Follow&) const = default;
};
struct EndFollowing {  // request no more upgrades
  bool operator==(const EndFollowing&) const = default;
};

// ---- actions for agentify itself

struct Log {
  std::string text;

  bool operator==(const Log&) const = default;
};
struct ReportFailure {  // log a failure outside of a trial, and send it as `status`
  std::string text;

  bool operator==(const ReportFailure&) const = default;
};
struct Leave {
  int status = 0;

  bool operator==(const Leave&) const = default;
};
struct LeaveLike {  // exit with the daemon's status, or die of the signal that killed it
  DaemonEnding ending;

  bool operator==(const LeaveLike&) const = default;
};

using Action = std::variant<SayReady, SayUnfit, SayHealthy, SayStopped, SayHeartbeat, SayStatus,
                            SayExtend, RunCheck, StartDaemon, CancelStart, SignalDaemon, AdoptMain,
                            KillFamily, KillOrphans, AskDaemon, Follow, EndFollowing, Log,
                            ReportFailure, Leave, LeaveLike>;
using Actions = std::vector<Action>;

}  // namespace agentify

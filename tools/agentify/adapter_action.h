// The actions that the adapter may order.
#pragma once

#include <sys/types.h>

#include <string>
#include <variant>
#include <vector>

#include "tools/agentify/adapter_event.h"
#include "tools/agentify/duration.h"

namespace agentify {

// ---- to the upgrader

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

// ---- to the check, the keeper and the daemon

struct RunCheck {
  bool operator==(const RunCheck&) const = default;
};
struct StartDaemon {
  bool operator==(const StartDaemon&) const = default;
};
struct CancelStart {  // answered by FamilyGone, unless the daemon has been started already
  bool operator==(const CancelStart&) const = default;
};
struct SignalDaemon {
  int signal = 0;

  bool operator==(const SignalDaemon&) const = default;
};
struct AdoptMain {  // from now on this process of the daemon's is the main one
  pid_t pid = 0;

  bool operator==(const AdoptMain&) const = default;
};
struct KillFamily {  // answered by FamilyGone
  bool operator==(const KillFamily&) const = default;
};
struct KillOrphans {  // the keeper has gone, and we do its work; answered by FamilyGone
  bool operator==(const KillOrphans&) const = default;
};
struct AskDaemon {  // answered by ProbeAnswered
  Probe probe = Probe::readiness;

  bool operator==(const AskDaemon&) const = default;
};

// ---- to the releases that are followed

struct Follow {  // ask for the one that is due, from now on
  bool operator==(const Follow&) const = default;
};
struct EndFollowing {  // ask for none any more
  bool operator==(const EndFollowing&) const = default;
};

// ---- of ourselves

struct Log {
  std::string text;

  bool operator==(const Log&) const = default;
};
struct ReportFailure {  // of a daemon that is not on trial, in the log and the status
  std::string text;

  bool operator==(const ReportFailure&) const = default;
};
struct Leave {
  int status = 0;

  bool operator==(const Leave&) const = default;
};
struct LeaveLike {  // the same way as the daemon, a signal included
  DaemonEnding ending;

  bool operator==(const LeaveLike&) const = default;
};

using Action = std::variant<SayReady, SayUnfit, SayHealthy, SayStopped, SayHeartbeat, SayStatus,
                            SayExtend, RunCheck, StartDaemon, CancelStart, SignalDaemon, AdoptMain,
                            KillFamily, KillOrphans, AskDaemon, Follow, EndFollowing, Log,
                            ReportFailure, Leave, LeaveLike>;
using Actions = std::vector<Action>;

}  // namespace agentify

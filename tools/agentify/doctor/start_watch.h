// Decides for how long the doctor watches the start of a daemon. Does no input or output: the
// caller observes the daemon at intervals, and passes each observation to look().
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/time.h"
#include "tools/agentify/doctor/findings.h"

namespace agentify {

// One observation of a running daemon.
struct StartLook {
  pid_t main = 0;  // the daemon's main process; 0 before its start
  std::vector<Listener> listeners = {};
  bool notifies = false;  // true if the daemon has said READY=1
  bool busy = false;      // one of its processes runs, or waits for a processor or a disk
};

class StartWatch {
 public:
  // Makes an object for a daemon whose upgrader was started at the time `begun`.
  explicit StartWatch(upgrader::Duration begun) : begun_(begun), changed_(begun) {}

  // Adds the observation of the time `now` to the findings. Returns true if the daemon has been
  // watched for long enough. If the daemon listens or has said READY=1, it is watched until no new
  // listener has appeared for some time. Otherwise it is watched until all its processes have slept
  // for silent_time(), because a process that computes or waits for a processor may still be
  // starting. No daemon is watched for longer than half a minute.
  [[nodiscard]] bool look(const StartLook& look, upgrader::Duration now, Findings& findings);

  // Returns true if the daemon's process has been observed.
  [[nodiscard]] bool has_started() const { return first_ != 0; }

 private:
  upgrader::Duration begun_;
  // When an observation last showed a new listener or READY=1. For a daemon without either, when it
  // was last busy.
  upgrader::Duration changed_;
  upgrader::Duration started_after_{};
  pid_t first_ = 0;
};

}  // namespace agentify

// Watches the start of a daemon for the doctor, and decides when the daemon has been watched for
// long enough. Pure: the caller looks at the daemon again and again, and passes the facts.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/time.h"
#include "tools/agentify/doctor/findings.h"

namespace agentify {

// The facts of one look at a running daemon.
struct StartLook {
  pid_t main = 0;  // the daemon's main process; 0 before its start
  std::vector<Listener> listeners = {};
  bool notifies = false;  // true if the daemon has said READY=1
  bool busy = false;      // one of its processes computes, or waits for a processor or a disk
};

class StartWatch {
 public:
  // Makes a watch of a daemon whose upgrader was started at the time `begun`.
  explicit StartWatch(upgrader::Duration begun) : begun_(begun), changed_(begun) {}

  // Adds what was seen at the time `now` to the findings. Returns whether the daemon has been
  // watched for long enough. A daemon that listens or has said READY=1 is watched until nothing of
  // that has changed for a while. Any other daemon is watched until all its processes have slept
  // for silent_time(): while one computes, or waits for its turn on a busy machine, it may still be
  // starting. No daemon is watched for longer than half a minute.
  [[nodiscard]] bool look(const StartLook& look, upgrader::Duration now, Findings& findings);

  // Returns whether the daemon's process has been seen.
  [[nodiscard]] bool has_started() const { return first_ != 0; }

 private:
  upgrader::Duration begun_;
  // The time of the last look that showed a new listener or READY=1, or that the daemon was busy
  // although it had neither.
  upgrader::Duration changed_;
  upgrader::Duration started_after_{};
  pid_t first_ = 0;
};

}  // namespace agentify

// One run of a daemon under a scratch upgrader, in a directory that goes with it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/agentify/doctor/findings.h"
#include "tools/agentify/family.h"
#include "tools/agentify/launch/launch.h"

namespace agentify {

class TrialRun {
 public:
  TrialRun() = default;
  TrialRun(const TrialRun&) = delete;
  TrialRun& operator=(const TrialRun&) = delete;
  // Kills what still runs.
  ~TrialRun();

  // Starts the daemon, with a listening socket as init passes it, if `socket` is one. Returns the
  // fault, for people.
  [[nodiscard]] std::optional<std::string> begin(const Places& places,
                                                 const std::vector<std::string>& daemon,
                                                 int socket = -1);
  // False once the upgrader has ended.
  [[nodiscard]] bool lives();
  // The daemon's processes; its main process is 0 before its start and after its end.
  [[nodiscard]] std::vector<Process> family() const;
  [[nodiscard]] pid_t main_process() const;
  // The sockets on which its processes listen.
  [[nodiscard]] std::vector<Listener> listeners() const;
  // All that the upgrader, agentify and the daemon have written.
  [[nodiscard]] std::string log() const;
  // Sends the signals one after the other until the main process has ended, SIGKILL at last, and
  // waits for the end of the upgrader.
  [[nodiscard]] SignalledEnd end();

 private:
  [[nodiscard]] pid_t keeper(const std::vector<Process>& all) const;
  void kill_upgrader();

  pid_t upgrader_ = -1;
  std::string directory_;
};

// All listening sockets of the machine, as far as this process may know of them.
[[nodiscard]] std::vector<Listener> all_listeners();

// Milliseconds of a clock that nobody sets.
[[nodiscard]] upgrader::Duration steady_now();
// Waits so long, so that processes may go on.
void pause_for(upgrader::Duration time);

}  // namespace agentify

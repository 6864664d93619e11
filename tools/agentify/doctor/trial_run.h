// Runs a daemon once under an upgrader of its own, in a temporary directory.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/owned_fd.h"
#include "tools/agentify/doctor/findings.h"
#include "tools/agentify/family.h"
#include "tools/agentify/launch/launch.h"

namespace agentify {

// RunLog keeps at most twice this many bytes of the newest output of a run. Of the older output, it
// keeps at most this many bytes.
inline constexpr std::size_t run_log_bytes_max = 65'536;

// Keeps the output of a run that the doctor needs, in bounded memory: the newest output complete,
// and from the older output only the lines of agentify and the upgrader. Does no input or output.
class RunLog {
 public:
  // Appends `bytes` to the collected output of the trial run. They are the bytes that were written
  // since the last call.
  void add(std::string_view bytes);
  // Returns the output that is kept, the oldest first.
  [[nodiscard]] std::string text() const { return told_ + end_; }

 private:
  std::string told_;  // the lines of agentify and the upgrader in the older output
  std::string end_;   // the newest output
};

class TrialRun {
 public:
  TrialRun() = default;
  TrialRun(const TrialRun&) = delete;
  TrialRun& operator=(const TrialRun&) = delete;
  // Kills all processes of this run that still live.
  ~TrialRun();

  // Starts the daemon. If `socket` is not -1, passes it to the daemon as a listening socket, as
  // init does. Returns the reason in words if that fails, or nothing.
  [[nodiscard]] std::optional<std::string> begin(const Places& places,
                                                 const std::vector<std::string>& daemon,
                                                 int socket = -1);
  // Returns true if the upgrader of this run has not exited yet.
  [[nodiscard]] bool lives();
  // The next two functions return all processes of the daemon, and the pid of its main process. The
  // pid is 0 before the main process starts and after it has exited.
  [[nodiscard]] std::vector<Process> family() const;
  [[nodiscard]] pid_t main_process() const;
  // Returns true if one of the daemon's processes runs, or waits for a processor or a disk.
  [[nodiscard]] bool is_busy() const;
  // Returns the sockets on which the daemon's processes listen.
  [[nodiscard]] std::vector<Listener> listeners() const;
  // Returns the lines that the upgrader and agentify have written, followed by the end of the whole
  // output, which also has lines of the daemon.
  [[nodiscard]] std::string log();
  // Stops the daemon: sends one signal after the other, SIGKILL last, until the main process has
  // exited. Then waits for the exit of the upgrader, but only for a limited time. If a signal
  // interrupts the doctor, does not wait any longer.
  [[nodiscard]] SignalledEnd end();

 private:
  [[nodiscard]] pid_t keeper(const std::vector<Process>& all) const;
  void kill_upgrader();

  pid_t upgrader_ = -1;
  std::string directory_;
  upgrader::OwnedFd output_;  // the file for the output of upgrader, agentify and daemon
  off_t read_ = 0;            // how many bytes of that file have been read
  RunLog log_;
};

// Returns all listening sockets of the machine, as far as this process may see them.
[[nodiscard]] std::vector<Listener> all_listeners();

// Returns the milliseconds of a monotonic clock.
[[nodiscard]] upgrader::Duration steady_now();
// Sleeps for `time`, so that other processes can run.
void pause_for(upgrader::Duration time);

}  // namespace agentify

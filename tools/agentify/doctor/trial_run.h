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

// Keeps what the doctor needs of the output of a run, however much a daemon writes. Pure.

// The most bytes that are kept of the lines of agentify and the upgrader. Of the end of the output,
// up to twice as many bytes are kept.
inline constexpr std::size_t run_log_bytes_max = 65'536;

class RunLog {
 public:
  // Adds the next bytes of the output.
  void add(std::string_view bytes);
  // Returns the lines of agentify and the upgrader and, behind them, the end of the output. A small
  // output is returned as it is.
  [[nodiscard]] std::string text() const { return told_ + end_; }

 private:
  std::string told_;  // lines of agentify and the upgrader that are older than `end_`
  std::string end_;
};

class TrialRun {
 public:
  TrialRun() = default;
  TrialRun(const TrialRun&) = delete;
  TrialRun& operator=(const TrialRun&) = delete;
  // Kills all processes that still run.
  ~TrialRun();

  // Starts the daemon. If `socket` is not -1, the daemon gets it as a listening socket from init.
  // Returns what went wrong, for people, or nothing.
  [[nodiscard]] std::optional<std::string> begin(const Places& places,
                                                 const std::vector<std::string>& daemon,
                                                 int socket = -1);
  // Returns true until the upgrader has ended.
  [[nodiscard]] bool lives();
  // The next two functions return the daemon's processes, and the pid of its main process, which is
  // 0 before the start and after the end.
  [[nodiscard]] std::vector<Process> family() const;
  [[nodiscard]] pid_t main_process() const;
  // Returns whether one of the daemon's processes computes, or waits for a processor or a disk.
  [[nodiscard]] bool is_busy() const;
  // Returns the sockets on which the daemon's processes listen.
  [[nodiscard]] std::vector<Listener> listeners() const;
  // Returns the lines that the upgrader and agentify have written, and the end of what they and the
  // daemon have written.
  [[nodiscard]] std::string log();
  // Sends signals one after the other until the main process has ended, the last being SIGKILL, and
  // waits for the end of the upgrader.
  [[nodiscard]] SignalledEnd end();

 private:
  [[nodiscard]] pid_t keeper(const std::vector<Process>& all) const;
  void kill_upgrader();

  pid_t upgrader_ = -1;
  std::string directory_;
  upgrader::OwnedFd output_;  // the file that the upgrader, agentify and the daemon write to
  off_t read_ = 0;            // how much of that file has been read
  RunLog log_;
};

// Returns all listening sockets of the machine that this process may see.
[[nodiscard]] std::vector<Listener> all_listeners();

// Returns the milliseconds of a monotonic clock.
[[nodiscard]] upgrader::Duration steady_now();
// Sleeps for `time`, so that other processes can run.
void pause_for(upgrader::Duration time);

}  // namespace agentify

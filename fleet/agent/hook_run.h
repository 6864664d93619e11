// Runs one program: a hook of a plan, or another program such as the reboot command. Starts the
// program, reads its output, and kills the program if it exceeds its time limit.
#pragma once

#include <uv.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "base/uv_handle.h"
#include "fleet/store/timers.h"

namespace fleet {

class HookRun {
 public:
  struct Settings {
    std::string path = {};
    std::string directory = {};  // the hooks' directory; empty if `path` is not a hook
    std::vector<std::string> arguments = {};
    // variables NAME=value, in addition to those of this process
    std::vector<std::string> environment = {};
    std::chrono::milliseconds longest{0};
  };
  struct Result {
    // the exit status; 126: the program was not started; 128 + N: killed by the signal N
    int status = 0;
    std::string output = {};  // the last line of the program's output
    // The end of the output: at least its last 8 KiB, or all of a shorter output.
    std::string text = {};
  };

  // Starts the program, which inherits this process's standard error. Calls `ended` once, when the
  // program has exited or could not be started, but never before the constructor has returned. The
  // destructor kills a running program, and does not call `ended`.
  HookRun(uv_loop_t& loop, Timers& timers, Settings settings,
          std::function<void(const Result&)> ended);
  HookRun(const HookRun&) = delete;
  HookRun& operator=(const HookRun&) = delete;
  ~HookRun();

 private:
  // Starts the program. Returns an empty string on success, or else why the program could not be
  // started.
  [[nodiscard]] std::string start();
  void watch(uv_loop_t& loop);
  // Reads the program's output, but at most a fixed amount in one turn of the event loop.
  void read();
  void look();
  void end(const Result& result);
  void kill_all() const;

  Settings settings_;
  Timers& timers_;
  std::function<void(const Result&)> ended_;
  pid_t pid_ = -1;  // the program's process; -1 before the start and after the end
  upgrader::OwnedFd output_;
  upgrader::UvHandle<uv_poll_t> readable_;
  upgrader::UvHandle<uv_signal_t> child_;
  // Kills the program at the time limit. After the program's end, or a failed start, calls end().
  std::unique_ptr<Timer> later_;
  std::string text_;  // the end of the hook's output
  bool too_long_ = false;
};

}  // namespace fleet

// Runs one program: a hook, or another program such as the command to reboot. Starts it, reads its
// output, and kills it if it takes too long.
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
    std::string directory = {};  // directory of the hooks; empty if `path` is another program
    std::vector<std::string> arguments = {};
    // Variables NAME=value for the hook, in addition to the variables of this process.
    std::vector<std::string> environment = {};
    std::chrono::milliseconds longest{0};
  };
  struct Result {
    int status = 0;           // the exit status; 126: not started; 128 + N: killed by signal N
    std::string output = {};  // the last line of the program's output
    std::string text = {};  // the end of the output: at least the last 8 KiB, if there are so many
  };

  // Starts the program. Calls `ended` once, after the constructor has returned. The destructor
  // kills the program; `ended` is not called then. The program inherits this process's standard
  // error.
  HookRun(uv_loop_t& loop, Timers& timers, Settings settings,
          std::function<void(const Result&)> ended);
  HookRun(const HookRun&) = delete;
  HookRun& operator=(const HookRun&) = delete;
  ~HookRun();

 private:
  // Returns why the hook has not been started, or an empty text if it has.
  [[nodiscard]] std::string start();
  void watch(uv_loop_t& loop);
  // Reads the program's output, but at most a fixed amount in one turn of the loop.
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
  // This timer calls end() soon if the program was not started. Otherwise it kills the program
  // after the time limit.
  std::unique_ptr<Timer> later_;
  std::string text_;  // the end of the hook's output
  bool too_long_ = false;
};

}  // namespace fleet

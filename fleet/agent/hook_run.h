// One run of a hook, which is a program of this machine: starts it, reads its output, and kills it
// if it takes too long.
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
    std::string directory = {};  // the hooks' directory; empty if `path` is the program itself
    std::vector<std::string> arguments = {};
    std::vector<std::string> environment = {};  // NAME=value, in addition to this process's own
    std::chrono::milliseconds longest{0};
  };
  struct Result {
    int status = 0;           // as in shells: 126 if the hook cannot be run, 128 plus its signal
    std::string output = {};  // the last line of its output
  };

  // `ended` is called once, later, unless this object is destroyed before; its destruction kills
  // the hook. The hook writes its standard error to that of this process.
  HookRun(uv_loop_t& loop, Timers& timers, Settings settings,
          std::function<void(const Result&)> ended);
  HookRun(const HookRun&) = delete;
  HookRun& operator=(const HookRun&) = delete;
  ~HookRun();

 private:
  // Returns why the hook has not been started, or an empty text if it has.
  [[nodiscard]] std::string start();
  void watch(uv_loop_t& loop);
  // Reads what the hook has written, but at most a fixed amount in one turn of the loop.
  void read();
  void look();
  void end(const Result& result);
  void kill_all() const;

  Settings settings_;
  Timers& timers_;
  std::function<void(const Result&)> ended_;
  pid_t pid_ = -1;  // -1 if no process has to be reaped
  upgrader::OwnedFd output_;
  upgrader::UvHandle<uv_poll_t> readable_;
  upgrader::UvHandle<uv_signal_t> child_;
  // Reports the end of a hook that was not started, or kills a hook that takes too long.
  std::unique_ptr<Timer> later_;
  std::string text_;  // the end of the hook's output
  bool too_long_ = false;
};

}  // namespace fleet

// One run of a hook: a program of this machine, started, listened to, killed when it takes too
// long.
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
    std::string directory = {};  // of the hooks; empty: the command line names the program itself
    std::vector<std::string> arguments = {};
    std::vector<std::string> environment = {};  // NAME=value, beside ours
    std::chrono::milliseconds longest{0};
  };
  struct Result {
    int status = 0;           // as shells have it: 126 where it cannot be run, 128 and its signal
    std::string output = {};  // the last line that it wrote
  };

  // `ended` is called once, later, unless this is destroyed before; then the hook is killed. Its
  // standard error is ours.
  HookRun(uv_loop_t& loop, Timers& timers, Settings settings,
          std::function<void(const Result&)> ended);
  HookRun(const HookRun&) = delete;
  HookRun& operator=(const HookRun&) = delete;
  ~HookRun();

 private:
  // Why it has not been started; empty: it has.
  [[nodiscard]] std::string start();
  void watch(uv_loop_t& loop);
  // No more than a turn's share of what it has written.
  void read();
  void look();
  void end(const Result& result);
  void kill_all() const;

  Settings settings_;
  Timers& timers_;
  std::function<void(const Result&)> ended_;
  pid_t pid_ = -1;  // -1: none that has not been reaped
  upgrader::OwnedFd output_;
  upgrader::UvHandle<uv_poll_t> readable_;
  upgrader::UvHandle<uv_signal_t> child_;
  std::unique_ptr<Timer> later_;  // its end where it was not started, or the longest that it takes
  std::string text_;              // the end of what it wrote
  bool too_long_ = false;
};

}  // namespace fleet

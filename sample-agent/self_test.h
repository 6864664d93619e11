// Runs the self-test of a release, beside the work: a program with --self-test after the arguments
// that says "VERSION ok" on its standard output and exits with 0, in time.
#pragma once

#include <sys/types.h>
#include <uv.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sample-agent/handle.h"
#include "sample-agent/version.h"

namespace sample_agent {

class SelfTest {
 public:
  // Says why it has failed, or nothing if it has passed.
  using Verdict = std::function<void(std::optional<std::string> failure)>;

  // Calls `verdict` later, once, unless this object is gone by then. It is not to be destroyed by
  // that call.
  SelfTest(uv_loop_t& loop, const std::string& path, std::vector<std::string> arguments,
           const Version& version, std::chrono::milliseconds limit, Verdict verdict);

  // Kills what still runs.
  ~SelfTest();
  SelfTest(const SelfTest&) = delete;
  SelfTest& operator=(const SelfTest&) = delete;

 private:
  [[nodiscard]] std::string spawn(const std::string& path, std::vector<std::string> arguments);
  void take_exit();
  void judge(int status);
  void kill(const std::string& why);
  void end();

  std::string expected_;
  Verdict verdict_;
  std::string failure_;  // why it has failed, as far as is known
  int output_ = -1;      // the reading end of its standard output
  pid_t process_ = 0;    // while it runs; it leads a group of its own
  Timer timer_;
  SignalWatch exits_;  // before anything is started, so that no exit is missed
};

}  // namespace sample_agent

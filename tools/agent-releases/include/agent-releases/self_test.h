// Starts the self-test of a release as a child process. The caller need not wait for the child:
// verdict() returns the result when there is one. The release's program is started with the given
// arguments and --self-test. The program must print "VERSION ok" on standard output and exit with
// status 0.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "agent-releases/version.h"

namespace agent_releases {

class SelfTest {
 public:
  enum class Verdict { passed, failed, could_not_tell };

  SelfTest(const std::string& path, std::vector<std::string> arguments, const Version& version);

  // Kills the self-test, if it still runs, and all processes in its process group.
  ~SelfTest();
  SelfTest(const SelfTest&) = delete;
  SelfTest& operator=(const SelfTest&) = delete;

  // Returns a descriptor that is readable when the self-test has exited. Returns -1 if the kernel
  // has no pidfds, or if the self-test was never started.
  [[nodiscard]] int exit_descriptor() const { return exit_; }

  // Kills the self-test, and records that it has failed for the reason `why`.
  void kill(const std::string& why);

  // Returns the result of the self-test, or nothing while it still runs.
  [[nodiscard]] std::optional<Verdict> verdict();

  // Returns the reason why the self-test has not passed.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  [[nodiscard]] std::string spawn(const std::string& path, std::vector<std::string> arguments);
  [[nodiscard]] Verdict judge(int status);

  std::vector<std::string> expected_;
  std::string failure_;
  int output_ = -1;  // the reading end of the self-test's standard output
  int exit_ = -1;
  pid_t process_ = 0;  // the pid of the running self-test, which leads a process group
};

}  // namespace agent_releases

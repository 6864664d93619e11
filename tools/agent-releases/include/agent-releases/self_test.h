// Runs the self-test of a release, beside the work: a program with --self-test after the arguments
// that says "VERSION ok" on its standard output and exits with 0.
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

  // Kills what still runs, with all that it has started.
  ~SelfTest();
  SelfTest(const SelfTest&) = delete;
  SelfTest& operator=(const SelfTest&) = delete;

  // Readable when it has exited; none where the kernel has no such descriptors, or it never ran.
  [[nodiscard]] int exit_descriptor() const { return exit_; }

  // Ends it: it has failed.
  void kill(const std::string& why);

  // Nothing while it runs.
  [[nodiscard]] std::optional<Verdict> verdict();

  // Why it has not passed.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  [[nodiscard]] std::string spawn(const std::string& path, std::vector<std::string> arguments);
  [[nodiscard]] Verdict judge(int status);

  std::vector<std::string> expected_;
  std::string failure_;
  int output_ = -1;  // the reading end of its standard output
  int exit_ = -1;
  pid_t process_ = 0;  // while it runs; it leads a group of its own
};

}  // namespace agent_releases

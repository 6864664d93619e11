// Runs a measured program in a child process, with more environment variables, and with its output
// appended to a file. Also has functions that wait with a time limit.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace benchmark {

// The time limit of every wait in the measurements. A program that needs longer is broken.
inline constexpr std::chrono::seconds patience{60};

// Prints the reason on standard error, and exits with a failure.
[[noreturn]] void give_up(const std::string& reason);

// Waits until the condition is true. If that takes longer than `patience`, prints `what` as the
// reason and exits with a failure.
void wait_until(const std::function<bool()>& condition, const std::string& what);

// Returns the path of `program` in PATH, or nothing if it is not installed.
[[nodiscard]] std::optional<std::string> find_installed(const std::string& program);

// Returns the time of CLOCK_MONOTONIC, the clock that the agents use, too.
[[nodiscard]] std::int64_t now_ns();

struct Command {
  std::vector<std::string> argv;
  // Settings of the form NAME=VALUE, which are added to the environment.
  std::vector<std::string> settings;
  std::string log;  // the file to which standard error and output are appended
};

class Child {
 public:
  explicit Child(const Command& command);
  ~Child();  // kills the child if it still runs
  Child(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child& operator=(Child&&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Returns the time immediately before the program was started.
  [[nodiscard]] std::int64_t start_ns() const { return start_ns_; }

  // Waits for the program's exit. If the program's exit status is not 0, this process prints the
  // program's output and exits with a failure.
  void wait_for_success();
  // Sends the program SIGTERM, and waits for the program's exit. Ignores the exit status.
  void end();

 private:
  int wait();

  std::string name_;
  std::string log_;
  pid_t pid_ = -1;
  std::int64_t start_ns_ = 0;
};

}  // namespace benchmark

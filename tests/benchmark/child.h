// A program that the benchmark runs, with its environment and a place for what it says.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace benchmark {

// Nothing that is measured takes as long; what does is broken.
inline constexpr std::chrono::seconds patience{60};

// Says why on standard error, and ends the program with a failure.
[[noreturn]] void give_up(const std::string& reason);

// Looks often until it holds. Gives up, with `what` as the reason, when patience is over.
void wait_until(const std::function<bool()>& condition, const std::string& what);

// The path of `program` in PATH, or nothing if it is not installed.
[[nodiscard]] std::optional<std::string> find_installed(const std::string& program);

struct Command {
  std::vector<std::string> argv;
  std::vector<std::string> settings;  // NAME=VALUE, on top of the environment
  std::string log;                    // where its standard error and output are appended
};

class Child {
 public:
  explicit Child(const Command& command);
  ~Child();  // kills it if it still runs
  Child(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child& operator=(Child&&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Taken right before it was started.
  [[nodiscard]] std::int64_t start_ns() const { return start_ns_; }

  // Waits for its end, and gives up unless it exited with 0.
  void wait_for_success();
  // By SIGTERM, whatever it makes of that.
  void end();

 private:
  int wait();

  std::string name_;
  std::string log_;
  pid_t pid_ = -1;
  std::int64_t start_ns_ = 0;
};

}  // namespace benchmark

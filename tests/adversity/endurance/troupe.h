// A troupe is the upgrader of the endurance run with its agents. The class starts the upgrader, and
// keeps the active agent busy. Once a millisecond the test asks the active agent to do a piece of
// work, after which the agent also sends a heartbeat to the upgrader.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <list>
#include <string>
#include <vector>

namespace endurance {

struct Programs {
  std::string upgrader;
  std::string actor;
};

// Variables that are added to the upgrader's environment, each as NAME=VALUE.
using Variables = std::vector<std::string>;

struct Agent {
  int fd = -1;
  pid_t pid = 0;
  std::string role;
  bool active = false;
  bool committed = false;
  std::size_t failures = 0;  // the number of `upgrade_failed` messages that the agent has received
  bool gone = false;
};

class Troupe {
 public:
  Troupe(const Programs& programs, const Variables& variables);
  ~Troupe();
  Troupe(const Troupe&) = delete;
  Troupe& operator=(const Troupe&) = delete;

  void pump();
  // Waits until the condition is true. Returns false if that takes too long, or if the upgrader has
  // ended.
  bool wait_until(const std::function<bool()>& condition,
                  std::chrono::seconds patience = std::chrono::seconds(60));
  void say(const Agent& agent, const std::string& line) const;

  // Returns the only running agent, or null if no agent or more than one agent runs.
  [[nodiscard]] const Agent* only_agent() const;
  [[nodiscard]] pid_t upgrader() const { return upgrader_; }
  [[nodiscard]] bool upgrader_runs();
  // Ends the upgrader with SIGTERM. Returns its exit status, or -1 if it did not exit normally.
  int end();

  // Returns the lines that were logged since the last call. The last line may still be incomplete.
  std::vector<std::string> new_log_lines();
  [[nodiscard]] const std::string& agents() const { return directory_; }
  [[nodiscard]] std::size_t served() const { return served_; }
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

 private:
  void listen();
  [[noreturn]] void become_upgrader(const std::string& program, const Variables& variables) const;
  void accept_all();
  void receive(Agent& agent);
  void hear(Agent& agent, const std::string& line);
  void put_load_on();

  std::string directory_;
  std::string socket_name_;
  int listener_ = -1;
  int log_ = -1;
  std::string log_rest_;
  pid_t upgrader_ = 0;
  int status_ = -1;
  std::list<Agent> agents_;
  std::vector<std::string> violations_;
  std::size_t asked_ = 0;
  std::size_t served_ = 0;
  std::chrono::steady_clock::time_point next_load_{};
};

}  // namespace endurance

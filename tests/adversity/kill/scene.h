// A scene is the surroundings in which one story (a scripted upgrade) runs. It has copies of all
// programs, a directory, a small init with the upgrader as its child, and the messages of the
// agents. The scene never sleeps for a fixed time: it waits for conditions, with a time limit.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "tests/adversity/kill/story.h"
#include "tests/adversity/kill/tracer.h"

namespace kill_points {

// The value of --attempts. After this number of failed starts, the upgrader changes from the
// executable that AGENT's link names to the one that the link of --previous names, and later back.
inline constexpr std::size_t attempts = 3;

// The paths of the programs that run in a story (a scripted upgrade).
struct Cast {
  std::string init;
  std::string upgrader;
  std::string stand_in;  // the program that a canary uses instead of the upgrader
  std::string agents;    // a directory in which the agent's program has three names: v1, v2 and v3
  // The longest time that a test waits for a condition.
  std::chrono::seconds patience{20};
};

// Copies of the programs that the tests of all kill points run, in a directory that is removed at
// the end of the run.
class Theatre {
 public:
  // Copies the programs that lie beside this test program. If the environment variable UPGRADER is
  // set, copies the upgrader that this variable names.
  Theatre();
  ~Theatre();
  Theatre(const Theatre&) = delete;
  Theatre& operator=(const Theatre&) = delete;

  [[nodiscard]] const Cast& cast() const { return cast_; }

 private:
  std::string directory_;
  Cast cast_;
  // The process that made the directory. Only this process may remove the directory, and not a
  // forked worker.
  int owner_;
};

struct Agent {
  int fd = -1;
  pid_t pid = 0;
  std::string version;
  std::string directory;           // the directory of the agent's executable
  std::vector<std::string> lines;  // the lines that the agent has read
  std::vector<std::string> pongs;
  bool end_of_input = false;
  bool gone = false;

  [[nodiscard]] bool heard(std::string_view type) const;
  // Returns the last message of this `type` that the agent has read, or "".
  [[nodiscard]] std::string line_of(std::string_view type) const;
};

// The exit of an upgrader, or of an orphan that the init has inherited, as the init has reported
// it.
struct Ended {
  pid_t pid;
  int status;
};

class Scene {
 public:
  Scene(const Cast& cast, const Setting& setting);
  ~Scene();
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  // Starts the init, and waits until the init has forked the upgrader. The upgrader then waits
  // until let_upgrader_go() is called.
  bool start();
  void let_upgrader_go() const;

  // Handles all messages that have arrived from agents and from the init. Waits up to `timeout_ms`
  // for the first message.
  void pump(Tracer& tracer, int timeout_ms);
  bool wait_until(Tracer& tracer, const std::function<bool()>& condition);

  // Returns all descendants of the init, zombies included.
  [[nodiscard]] std::vector<pid_t> descendants() const;
  [[nodiscard]] bool is_agent(pid_t pid) const;
  [[nodiscard]] const Agent* agent_of(pid_t pid) const;
  [[nodiscard]] const std::list<Agent>& agents() const { return agents_; }
  void tell(const Agent& agent, const std::string& command) const;

  [[nodiscard]] pid_t init() const { return init_; }
  // Returns the wait status of the init, as from waitpid(), or no value while the init runs.
  [[nodiscard]] std::optional<int> init_ended();
  [[nodiscard]] const std::vector<pid_t>& started() const { return started_; }
  [[nodiscard]] const std::vector<Ended>& ended() const { return ended_; }
  [[nodiscard]] const std::vector<Ended>& orphans() const { return orphans_; }
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

  // Returns the version that a link names. The default is AGENT's link: a restarted upgrader begins
  // with the version that this link names.
  [[nodiscard]] std::string named_version(const std::string& link = "current") const;
  // Returns the process that holds the lock of the active agent; 0 if no process does.
  [[nodiscard]] pid_t active_lock_holder() const;
  [[nodiscard]] bool upgrader_lock_held() const;

  // Returns all events so far as text for people.
  [[nodiscard]] std::string account() const;

 private:
  void listen();
  [[noreturn]] void become_init(int report) const;
  void read_report();
  void accept_one();
  void receive(Agent& agent);
  [[nodiscard]] std::string path(const std::string& name) const { return directory_ + "/" + name; }
  [[nodiscard]] std::string request() const;

  const Cast& cast_;
  const Setting setting_;
  std::string directory_;
  std::string socket_name_;
  int listener_ = -1;
  int report_ = -1;
  pid_t init_ = 0;
  std::optional<int> init_status_;
  std::list<Agent> agents_;
  std::vector<pid_t> started_;
  std::vector<Ended> ended_;
  std::vector<Ended> orphans_;
  std::vector<std::string> violations_;
};

// Returns a request for an upgrade, as a line without its newline.
std::string upgrade_request(const std::string& id, const std::string& executable,
                            const std::string& part, const std::string& more);

}  // namespace kill_points

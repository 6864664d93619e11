// The fixture of every integration test: a directory for this test alone, the real upgrader, and
// the puppets (fake agents) that the upgrader starts. Tests wait for conditions, with a deadline,
// and never sleep.
//
// Some rules hold in every test: never two agents active, no forbidden message, no zombie, and no
// process left behind. They are checked at the end of each test, from the files that the puppets
// have written and from /proc.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/together/integration/puppet_handle.h"

namespace integration {

using Texts = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

// The longest time that a test waits for a condition.
inline constexpr auto patience = std::chrono::seconds(30);

// The command line and surroundings of an upgrader.
struct Start {
  Texts options{};
  std::string agent{};  // the path of AGENT; empty: the puppet; "-": the command line has no AGENT
  Texts args{};         // the arguments after AGENT on the upgrader's command line
  // Variables that are added to the test's own environment. In `LISTEN_PID=self`, the value `self`
  // is replaced with the upgrader's pid.
  Texts environment{};
  // Called in the forked child before it executes the upgrader.
  std::function<void()> before_exec{};
};

// An upgrader that the test has started.
class Upgrader {
 public:
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool running();
  // Returns "exit status N", "signal N" or "still running".
  [[nodiscard]] std::string ending() const;
  // Returns the upgrader's standard error.
  [[nodiscard]] std::string log() const;
  [[nodiscard]] std::string log_path() const { return log_path_; }

 private:
  friend class World;
  pid_t pid_ = -1;
  int status_ = -1;  // the status from waitpid(); -1 while the upgrader runs
  bool frozen_ = false;
  std::string log_path_;
  std::string output_path_;
};

class World {
 public:
  struct Later {};  // the argument of the constructor that starts no upgrader

  explicit World(Texts options = {});
  explicit World(Start start);
  explicit World(Later later);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Upgrader& start(Start start);
  Upgrader& start(Texts options) { return start(Start{.options = std::move(options)}); }
  [[nodiscard]] Upgrader& upgrader() { return upgraders_.back(); }

  // ---- files
  [[nodiscard]] std::string path(std::string_view name) const;
  [[nodiscard]] static std::string program();  // returns the path of the upgrader
  [[nodiscard]] static std::string puppet();   // returns the path of the puppet
  // Copies the puppet's program to this name in the test's directory.
  std::string install(std::string_view name);
  // Writes a script with this name, whose interpreter is the puppet's program.
  std::string install_script(std::string_view name);
  std::string write(std::string_view name, std::string_view content, mode_t mode = 0755);
  [[nodiscard]] std::string read(std::string_view name) const;

  // ---- agents, in the order in which they are started

  // Returns the next agent, which has written nothing yet.
  Puppet agent(Where where = Where::current());
  // Makes the next agent ready, and waits until it reads `activate`. Returns this agent.
  Puppet first(std::string_view version = "1.0", Where where = Where::current());
  // Waits until the next agent, which must be a candidate, reads `welcome`. Returns this agent.
  Puppet candidate(std::string_view version = "2.0", Where where = Where::current());
  // Makes the agent `active` request the upgrade u1, which must be accepted. Returns the candidate
  // when it has read `welcome`.
  Puppet begin_upgrade(Puppet active, std::string_view members = "",
                       Where where = Where::current());
  // Does the same as begin_upgrade(). Then makes the candidate say that it is ready.
  Puppet ready_candidate(Puppet active, std::string_view members = "",
                         Where where = Where::current());
  // Does the same as ready_candidate(). Then waits until the agent `active` reads the message
  // `stop`.
  Puppet stop_for_upgrade(Puppet active, std::string_view members = "",
                          Where where = Where::current());
  // Makes the agent `active` hand over to a candidate in a parallel upgrade. Returns the candidate,
  // which is active now. The old agent has exited.
  Puppet hand_over(Puppet active, std::string_view members = "", Where where = Where::current());
  // Makes the next agent, which must be a fallback, ready, and waits until it reads `activate`.
  // Returns this agent.
  Puppet fallback(Where where = Where::current());
  [[nodiscard]] std::size_t agents_started();  // returns how many agents have introduced themselves

  // ---- the upgrader that was started last
  void signal(int signal);
  void freeze();  // stops the upgrader by SIGSTOP; after thaw(), it finds many events at once
  void thaw();
  void expect_exit(int status, Where where = Where::current());
  void expect_killed(int signal, Where where = Where::current());
  [[nodiscard]] std::string log() { return upgrader().log(); }
  [[nodiscard]] std::string output();  // returns the upgrader's standard output
  void wait_for_log(std::string_view text, Where where = Where::current());

  // ---- the rest
  void wait_until(const std::function<bool()>& condition, std::string_view what,
                  Where where = Where::current());
  void pass(int ms);  // waits for `ms` milliseconds, so that deadlines pass
  // Makes the test fail unless it breaks a rule of this fixture.
  void expect_violation();
  // Registers a process that the test leaves running on purpose. The process is killed at the end
  // of the test, and is not reported as left behind.
  void adopt(pid_t pid) { strangers_.push_back(pid); }
  [[nodiscard]] std::string violations() const;
  void pump(int timeout_ms);
  void note(std::string line);  // adds a line to the notes that a failed test prints
  [[nodiscard]] std::string story();
  [[noreturn]] void fail(const std::string& what, Where where);

 private:
  friend class Puppet;
  void listen();
  void accept_one();
  void receive(Connection& connection);
  static void introduce(Connection& connection, const std::string& text);
  void finish(bool judged);
  void expect_ending(const std::string& ending, Where where);
  void end_upgrader(Upgrader& upgrader, bool judged);
  void judge_leftovers();
  void end_leftovers();
  [[nodiscard]] bool stranger(pid_t pid) const;

  std::string directory_;
  int directory_fd_ = -1;
  int listener_ = -1;
  bool violation_wanted_ = false;
  std::deque<Upgrader> upgraders_;
  std::vector<std::shared_ptr<Connection>> connections_;
  std::size_t handed_out_ = 0;
  Texts story_;
  std::vector<pid_t> strangers_;
};

}  // namespace integration

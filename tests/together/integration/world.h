// A directory of its own, the real upgrader in it, and the puppets that it starts: the fixture of
// every integration test. All waiting is for a condition, with a deadline; nothing sleeps.
//
// What holds in every test is asserted at its end, from what the agents and the process table say:
// never two agents active, no message that the page forbids, no zombie, nobody left behind.
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
#include "tests/together/integration/where.h"

namespace integration {

using Texts = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

// How long a condition is waited for before the test has failed.
inline constexpr auto patience = std::chrono::seconds(10);

// How an upgrader is started.
struct Start {
  Texts options{};
  std::string agent{};                  // AGENT; the puppet if empty; none at all if "-"
  Texts args{};                         // its arguments
  Texts environment{};                  // added to the test's own; LISTEN_PID=self is made true
  std::function<void()> before_exec{};  // in the process that becomes the upgrader
};

// One upgrader that has been started.
class Upgrader {
 public:
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool running();
  // "exit status N", "signal N" or "still running".
  [[nodiscard]] std::string ending() const;
  // What it has written to its standard error.
  [[nodiscard]] std::string log() const;
  [[nodiscard]] std::string log_path() const { return log_path_; }

 private:
  friend class World;
  pid_t pid_ = -1;
  int status_ = -1;  // as waitpid gives it; -1 while it runs
  bool frozen_ = false;
  std::string log_path_;
  std::string output_path_;
};

class World {
 public:
  struct Later {};  // nothing is started yet

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
  [[nodiscard]] static std::string program();         // the upgrader's executable
  [[nodiscard]] static std::string puppet();          // the puppet's own
  std::string install(std::string_view name);         // a copy of it in this directory
  std::string install_script(std::string_view name);  // a script whose interpreter it is
  std::string write(std::string_view name, std::string_view content, mode_t mode = 0755);
  [[nodiscard]] std::string read(std::string_view name) const;

  // ---- agents, in the order in which they are started
  Puppet agent(Where where = Where::current());  // the next: it has said nothing yet
  // The next, led to `activate`.
  Puppet first(std::string_view version = "1.0", Where where = Where::current());
  // The next, of which it is asserted that it is a candidate, led to `welcome`.
  Puppet candidate(std::string_view version = "2.0", Where where = Where::current());
  // Lets `active` ask for the upgrade u1 and hear `accepted`; gives the candidate, welcomed.
  Puppet begin_upgrade(Puppet active, std::string_view members = "",
                       Where where = Where::current());
  // The same, on to the candidate's activation (parallel) with the old agent gone.
  Puppet hand_over(Puppet active, std::string_view members = "", Where where = Where::current());
  // The next, of which it is asserted that it is a fallback, led to `activate`.
  Puppet fallback(Where where = Where::current());
  [[nodiscard]] std::size_t agents_started();  // how many have introduced themselves

  // ---- the upgrader that was started last
  void signal(int signal);
  void freeze();  // it is stopped, so that what happens meanwhile is there all at once
  void thaw();
  void expect_exit(int status, Where where = Where::current());
  void expect_killed(int signal, Where where = Where::current());
  [[nodiscard]] std::string log() { return upgrader().log(); }
  [[nodiscard]] std::string output();  // its standard output
  void wait_for_log(std::string_view text, Where where = Where::current());

  // ---- the rest
  void wait_until(const std::function<bool()>& condition, std::string_view what,
                  Where where = Where::current());
  void pass(int ms);        // waits until a point in time: for deadlines that must have passed
  void expect_violation();  // for the canaries: the end asserts one, instead of none
  void adopt(pid_t pid) { strangers_.push_back(pid); }  // ended with the test, not a leftover
  [[nodiscard]] std::string violations() const;
  void pump(int timeout_ms);
  void note(std::string line);  // for the story that a failure tells
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

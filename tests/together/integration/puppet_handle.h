// A test's handle of one puppet, the fake agent of the integration tests. With the handle, the test
// sends commands to the puppet, and gets the lines that the upgrader has sent to the puppet.
#pragma once

#include <sys/types.h>

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/together/integration/json.h"

namespace integration {

class World;

// A line in a test's source, which the message of a failed check names. Replaces
// `std::source_location`, which some of our compilers lack.
struct Where {
  static constexpr Where current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }

  const char* file;
  int line;
};

// The packets that one puppet has sent to the test.
struct Connection {
  int fd = -1;
  std::size_t number = 0;  // counts the puppets in the order of their starts, from 1
  pid_t pid = 0;           // the puppet's process id; 0 until the puppet has reported it
  std::vector<std::string> argv;
  std::deque<std::string> lines;
  std::deque<std::string> answers;
  std::deque<int> signals;
  bool end_of_input = false;
  bool gone = false;
};

// The surroundings that the puppet found at its start: descriptors, signals, environment and so on.
struct Report {
  std::vector<std::string> entries;      // the facts as KEY=VALUE, sorted; see puppet.cc
  std::vector<std::string> environment;  // all variables, in their original order

  // Returns the fact with this key. Fails the test if there is no such fact.
  [[nodiscard]] std::string value(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> keys(std::string_view prefix) const;
  [[nodiscard]] bool has_variable(std::string_view name) const;
  [[nodiscard]] std::string variable(std::string_view name) const;
};

// A handle of a puppet. Copies of a handle refer to the same process.
class Puppet {
 public:
  Puppet(World& world, std::shared_ptr<Connection> connection)
      : world_(&world), connection_(std::move(connection)) {}

  [[nodiscard]] pid_t pid() const { return connection_->pid; }
  [[nodiscard]] const std::vector<std::string>& argv() const { return connection_->argv; }
  [[nodiscard]] Report report(Where where = Where::current());

  // ---- the puppet writes
  void say(std::string_view line);  // makes the puppet write the line and a newline
  void say_bytes(std::string_view bytes);
  void say_type(std::string_view type, std::string_view members = "");
  // Makes the puppet write the line `count` times, or without end if `count` is -1.
  void flood(std::string_view line, long count = -1);
  // Makes the puppet stop reading, and write `lines` messages of an unknown type. The upgrader
  // answers each of these with `error`, and the unread answers fill the puppet's input pipe. If the
  // answers also fill the upgrader's memory for answers, the upgrader stops reading from the
  // puppet.
  void clog(long lines);
  [[nodiscard]] long unsent();  // returns how many bytes the puppet still has to write

  // ---- the puppet reads

  // Returns the next line that the puppet reads, which must be a message of this type.
  Json expect(std::string_view type, Where where = Where::current());
  std::string next_line(Where where = Where::current());
  Json expect_error(std::string_view about, Where where = Where::current());
  // Checks that the upgrader has sent no further line: the puppet asks a question, and the next
  // line must be the answer to this question.
  void expect_silence(Where where = Where::current());
  void expect_end_of_input(Where where = Where::current());
  int expect_signal(Where where = Where::current());
  [[nodiscard]] bool has_signal() const { return !connection_->signals.empty(); }
  // Waits until the puppet has exited and its parent has reaped it.
  void expect_gone(Where where = Where::current());
  [[nodiscard]] bool gone() const { return connection_->gone; }
  [[nodiscard]] std::size_t unread_lines() const { return connection_->lines.size(); }

  // ---- the conversation

  // Makes the puppet say `hello`. Returns the `welcome` that the puppet reads.
  Json hello(std::string_view version = "", Where where = Where::current());
  void ready() { say_type("ready"); }
  void request_upgrade(std::string_view id, std::string_view members = "",
                       std::string_view executable = "");
  // Waits until the puppet reads `stop`, and makes the puppet say `stopped` and exit with 0.
  // Returns the `stop` message.
  Json stop_cleanly(std::string_view stopped_members = "", Where where = Where::current());

  // ---- the puppet acts
  void exit(int status) { order("exit " + std::to_string(status)); }
  void kill(int signal) { order("kill " + std::to_string(signal)); }
  void close_output() { command("close-output"); }
  void close_output_and_exit(int status) {
    order("close-output-and-exit " + std::to_string(status));
  }
  void close_input() { command("close-input"); }
  void stop_reading() { command("stop-reading"); }
  void start_reading() { command("start-reading"); }
  void catch_signal(int signal) { command("catch " + std::to_string(signal)); }
  void ignore_signal(int signal) { command("ignore " + std::to_string(signal)); }
  // Makes the puppet record the time every millisecond from now on. Returns the longest time
  // between two of these records since the previous call, in microseconds.
  long pulse() { return std::stol(command("pulse")); }
  pid_t leave_holder(bool writing = false);  // starts a process that keeps the puppet's pipes open

 private:
  // Sends the puppet a command, and returns its answer.
  std::string command(const std::string& text, Where where = Where::current());
  // Sends the puppet a command that has no answer.
  void order(const std::string& text);

  World* world_;
  std::shared_ptr<Connection> connection_;
};

// Makes the candidate `next` ready, makes the agent `old` stop and exit, and waits until the
// candidate reads `activate`. If the upgrade has a trial, the trial begins now.
void hand_over(Puppet& old, Puppet& next, Where where = Where::current());

}  // namespace integration

// A fixture for tests of agents. The fixture forks a small agent, and the test acts as the agent's
// upgrader: the test writes and reads lines of JSON through real pipes. The agent reports to the
// test on its standard error.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "agent-protocol/agent_protocol.h"

namespace bench {

// The longest time that a test waits for an agent. No step of an agent takes nearly so long, so an
// agent that needs longer is stuck.
inline constexpr int agent_patience_ms = 30'000;

// ---- functions for the process of the agent

inline void report(const std::string& text) {
  const std::string line = text + "\n";
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) ::_exit(99);
}

inline std::string named(const char* name, const char* text) {
  return text == nullptr ? "" : std::string(" ") + name + "=" + text;
}

inline std::string named(const char* name, std::int64_t number) {
  return number == -1 ? "" : std::string(" ") + name + "=" + std::to_string(number);
}

// Returns the kind and all members of an event of the agent's library, as one line.
inline std::string words(const agent_protocol_event* event) {
  if (event == nullptr) return "nothing";
  static constexpr const char* types[] = {"?",
                                          "welcome",
                                          "activate",
                                          "stop",
                                          "accepted",
                                          "candidate_ready",
                                          "candidate_lost",
                                          "upgrade_failed",
                                          "committed",
                                          "error"};
  std::string text = types[event->type];
  if (event->role != 0) text += named("role", event->role);
  if (event->stop_reason != 0) text += named("stop_reason", event->stop_reason);
  if (event->clean != 0) text += " clean";
  text += named("generation", event->generation) + named("deadline_ms", event->deadline_ms) +
          named("watchdog_ms", event->watchdog_ms) + named("id", event->id) +
          named("about", event->about) + named("reason", event->reason) +
          named("version", event->version) + named("state", event->state);
  if (const agent_protocol_failure* failure = event->failure) {
    text += std::string(" failure(") + failure->id + named("stage", failure->stage) +
            named("reason", failure->reason) + named("version", failure->version) +
            named("errno", failure->errno_name) + named("exit_status", failure->exit_status) +
            named("signal", failure->signal) + ")";
  }
  return text;
}

inline bool polls_readable(int fd) {
  pollfd watched{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&watched, 1, 0) == 1;
}

// Waits for the child's exit. Returns the child's exit status, or 1000 plus the number of the
// signal that killed the child.
inline int status_of(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child) ::_exit(96);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// Runs a shell command in a child process, and returns the child's status.
inline int run(const char* command) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
    ::_exit(127);
  }
  return status_of(child);
}

// Reports to the test how a call of the agent's library has ended: "done", or the error of that
// call.
inline void report_call(const agent_protocol_agent* agent, const std::string& name, int answer) {
  report(name + ": " + (answer == 0 ? "done" : agent_protocol_error(agent)));
}

// Opens the agent's library, sends `ready`, and waits until the agent is active. Returns the
// library's handle.
inline agent_protocol_agent* run_until_active() {
  agent_protocol_agent* agent = agent_protocol_open("1.2");
  if (agent == nullptr || agent_protocol_ready(agent) != 0) ::_exit(98);
  while (agent_protocol_wait(agent, -1)->type != AGENT_PROTOCOL_ACTIVATE) {
  }
  return agent;
}

// ---- functions for the test's own process, which acts as the agent's upgrader

inline const std::string welcome =
    R"({"type":"welcome","protocol":1,"features":[],"generation":1,"role":"first"})";
inline const std::string activate = R"({"type":"activate","clean":false})";
inline const std::string stop_shutdown =
    R"({"type":"stop","reason":"shutdown","deadline_ms":90000})";

struct Pipe {
  Pipe() { REQUIRE(::pipe2(ends, O_CLOEXEC) == 0); }
  ~Pipe() {
    close_reader();
    close_writer();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] int reader() const { return ends[0]; }
  [[nodiscard]] int writer() const { return ends[1]; }
  void close_reader() { close_end(0); }
  void close_writer() { close_end(1); }

 private:
  void close_end(int which) {
    if (ends[which] >= 0) ::close(ends[which]);
    ends[which] = -1;
  }
  int ends[2] = {-1, -1};
};

// Reads lines from a descriptor. Waits at most `agent_patience_ms` for each line.
class Lines {
 public:
  // Returns the next line that is read from the descriptor, or "(end)" at the end of input.
  std::string next(int fd) {
    for (;;) {
      const std::size_t newline = bytes_.find('\n');
      if (newline != std::string::npos) {
        std::string line = bytes_.substr(0, newline);
        bytes_.erase(0, newline + 1);
        return line;
      }
      pollfd watched{.fd = fd, .events = POLLIN, .revents = 0};
      const int ready = ::poll(&watched, 1, agent_patience_ms);
      if (ready == 0) FAIL("no line came; unfinished: " << bytes_);
      char buffer[4096];
      const ssize_t count = ::read(fd, buffer, sizeof buffer);
      if (count <= 0) return bytes_.empty() ? "(end)" : std::exchange(bytes_, {}) + "(cut)";
      bytes_.append(buffer, static_cast<std::size_t>(count));
    }
  }

 private:
  std::string bytes_;
};

// A pipe on which an agent waits until the test lets the agent continue.
class Barrier {
 public:
  void wait() const {
    char byte = 0;
    if (::read(pipe_.reader(), &byte, 1) != 1) ::_exit(97);
  }
  void open() const { REQUIRE(::write(pipe_.writer(), "x", 1) == 1); }

 private:
  Pipe pipe_;
};

// Starts an agent, and acts as the agent's upgrader.
class Upgrader {
 public:
  // Forks the agent. The pipes become the standard input and output of the agent's process. Then
  // `before` runs in this process, and after it `agent_main`.
  explicit Upgrader(const std::function<int()>& agent_main,
                    const std::function<void()>& before = {})
      : agent_(::fork()) {
    REQUIRE(agent_ >= 0);
    if (agent_ == 0) {
      // The agent must not inherit the test framework's handler for SIGTERM.
      std::signal(SIGTERM, SIG_DFL);
      ::dup2(input_.reader(), STDIN_FILENO);
      ::dup2(output_.writer(), STDOUT_FILENO);
      ::dup2(report_.writer(), STDERR_FILENO);
      for (Pipe* pipe : {&input_, &output_, &report_}) {
        pipe->close_reader();
        pipe->close_writer();
      }
      ::setenv("AGENT_PROTOCOL", "1", 1);
      if (before) before();
      const int status = agent_main();
      std::fflush(nullptr);
      ::_exit(status);
    }
    output_.close_writer();
    report_.close_writer();
  }

  ~Upgrader() {
    if (agent_ <= 0) return;
    ::kill(agent_, SIGKILL);
    ::waitpid(agent_, nullptr, 0);
  }
  Upgrader(const Upgrader&) = delete;
  Upgrader& operator=(const Upgrader&) = delete;

  void say(const std::string& line) { write_bytes(line + "\n"); }
  void write_bytes(const std::string& bytes) {
    std::string_view left = bytes;
    while (!left.empty()) {
      pollfd watched{.fd = input_.writer(), .events = POLLOUT, .revents = 0};
      if (::poll(&watched, 1, agent_patience_ms) != 1) FAIL("the agent does not read");
      const ssize_t count =
          ::write(input_.writer(), left.data(), std::min<std::size_t>(left.size(), 4096));
      REQUIRE(count > 0);
      left.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  [[nodiscard]] std::string hears() { return heard_.next(output_.reader()); }
  [[nodiscard]] std::string is_reported() { return reported_.next(report_.reader()); }

  // Reads the agent's `hello` and `ready`, and activates the agent.
  void lead_to_active() {
    CHECK(hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
    say(welcome);
    CHECK(hears() == R"({"type":"ready"})");
    say(activate);
  }

  void close_input() {
    input_.close_writer();
    input_.close_reader();
  }
  void close_output() { output_.close_reader(); }
  void signal(int number) { REQUIRE(::kill(agent_, number) == 0); }

  // Waits until the agent has exited. Returns the agent's exit status, or 1000 plus the number of
  // the signal that killed the agent.
  [[nodiscard]] int exit_status() {
    const int process = static_cast<int>(::syscall(SYS_pidfd_open, agent_, 0));
    REQUIRE(process >= 0);
    pollfd watched{.fd = process, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&watched, 1, agent_patience_ms);
    ::close(process);
    if (ready != 1) FAIL("the agent does not exit");
    int status = 0;
    REQUIRE(::waitpid(agent_, &status, 0) == agent_);
    agent_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

 private:
  Pipe input_;
  Pipe output_;
  Pipe report_;
  Lines heard_;
  Lines reported_;
  pid_t agent_ = 0;
};

}  // namespace bench

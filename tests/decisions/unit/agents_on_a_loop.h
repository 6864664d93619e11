// A fixture with an event loop and agents. The agents are real processes that do nothing: the test
// itself writes to their output and reads their input.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <uv.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent-protocol/cpp/wire/codec.h"
#include "tests/decisions/unit/processes.h"
#include "upgrader/shell/agents.h"

namespace test {

using namespace upgrader;

inline Program shell(const std::string& text) {
  return std::move(check_program("/bin/sh", "sh", {"-c", text}).value());
}

// Returns a program that waits forever. The program is executed directly, without a shell.
inline Program does_nothing() {
  return std::move(check_program("/usr/bin/tail", "tail", {"-f", "/dev/null"}).value());
}

// An event loop with agents. Records the events that the agents cause.
struct Bench {
  Bench() {
    ::signal(SIGPIPE, SIG_IGN);  // the upgrader ignores SIGPIPE, too
    REQUIRE(uv_loop_init(&loop) == 0);
    agents = std::make_unique<Agents>(
        &loop, ChildSetting{},
        [this](const Event& event) {
          if (during) during(event);
          events.push_back(event);
        },
        [this] { ++turns_over; });
  }
  ~Bench() {
    agents.reset();
    while (uv_run(&loop, UV_RUN_DEFAULT) != 0) {
    }
    uv_loop_close(&loop);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  template <class Kind>
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(
        std::count_if(events.begin(), events.end(),
                      [](const Event& event) { return std::holds_alternative<Kind>(event); }));
  }
  // Runs one iteration of the event loop, which does not block.
  void turn() { uv_run(&loop, UV_RUN_NOWAIT); }
  // Runs the loop until an event of this kind has been reported.
  template <class Kind>
  void wait_for() {
    for (int turns = 0; count<Kind>() == 0 && turns < 10 * patience_ms; ++turns) {
      turn();
      agents->reap_exits();
      ::poll(nullptr, 0, 1);
    }
    REQUIRE(count<Kind>() > 0);
  }
  // Runs the loop until the agent's exit has been reported.
  void turn_until_exit_of(Generation generation) {
    // Searches only the events that have come since the last call, since there may be many.
    auto told = [&, searched = std::size_t{0}]() mutable {
      const auto begin = events.begin() + static_cast<std::ptrdiff_t>(searched);
      searched = events.size();
      return std::any_of(begin, events.end(), [&](const Event& event) {
        const auto* exited = std::get_if<ProcessExited>(&event);
        return exited != nullptr && exited->generation == generation;
      });
    };
    // If the exit is never reported, the test must fail, and not hang. So the number of turns is
    // limited. A million turns take little time, since no turn waits.
    constexpr int turns_max = 1'000'000;
    bool is_told = told();
    for (int turns = 0; !is_told && turns < turns_max; ++turns) {
      turn();
      is_told = told();
    }
    REQUIRE(is_told);
  }
  // Kills the agent, and waits until it has ended. Does not reap it.
  void kill(Generation generation) {
    const pid_t pid = agents->pid_of(generation);
    REQUIRE(send_signal(pid, SIGKILL) == 0);
    REQUIRE(ends(pid));
  }
  // Kills the agent, and reaps it.
  void end(Generation generation) {
    kill(generation);
    agents->reap_exits();
    REQUIRE(agents->pid_of(generation) == -1);
  }

  uv_loop_t loop{};
  std::vector<Event> events;
  int turns_over = 0;
  std::function<void(const Event&)> during;
  std::unique_ptr<Agents> agents;
};

// An agent that does nothing by itself. The test writes to its output and reads its input.
class Puppet {
 public:
  Puppet(Bench& bench, Generation generation) : bench_(bench), generation_(generation) {
    REQUIRE_FALSE(bench.agents->start(generation, does_nothing()));
    const pid_t pid = bench.agents->pid_of(generation);
    input_.reset(open_end(pid, 0, O_RDWR));
    output_.reset(open_end(pid, 1, O_WRONLY));
  }
  ~Puppet() {
    if (bench_.agents->pid_of(generation_) > 0) bench_.end(generation_);
  }
  Puppet(const Puppet&) = delete;
  Puppet& operator=(const Puppet&) = delete;

  void say(std::string_view text) const {
    REQUIRE(::write(output_.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  // Enlarges the pipe of the agent's output to `bytes` bytes. Fails the test if the kernel refuses.
  void enlarge_output(std::size_t bytes) const { REQUIRE(may_enlarge_output(bytes)); }
  // Enlarges the pipe of the agent's output. Returns false if the kernel refuses the new size.
  [[nodiscard]] bool may_enlarge_output(std::size_t bytes) const {
    return ::fcntl(output_.get(), F_SETPIPE_SZ, static_cast<int>(bytes)) >= 0;
  }
  // Fills the pipe to the agent's input with newlines, so that the upgrader cannot write to the
  // agent.
  void fill() const {
    const std::string page(4096, '\n');
    while (::write(input_.get(), page.data(), page.size()) > 0) {
    }
    REQUIRE(errno == EAGAIN);
  }
  // Reads 4,096 bytes (one page) of the agent's input. Fails the test if fewer bytes are there.
  void hear_a_page() const {
    char bytes[4096];
    REQUIRE(::read(input_.get(), bytes, sizeof bytes) == sizeof bytes);
  }
  // Returns the bytes of the agent's input that the test has not read yet, without the newlines
  // that fill() has written.
  [[nodiscard]] std::string heard() const {
    std::string text;
    char bytes[4096];
    for (ssize_t count = 0; (count = ::read(input_.get(), bytes, sizeof bytes)) > 0;)
      text.append(bytes, static_cast<std::size_t>(count));
    return text.substr(std::min(text.find_first_not_of('\n'), text.size()));
  }

 private:
  static int open_end(pid_t pid, int number, int how) {
    const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(number);
    const int fd = ::open(path.c_str(), how | O_NONBLOCK | O_CLOEXEC);
    REQUIRE(fd >= 0);
    return fd;
  }

  Bench& bench_;
  Generation generation_;
  OwnedFd input_;
  OwnedFd output_;
};

// Returns an `activate` message whose line is `bytes` bytes long.
inline agent_protocol::UpgraderMessage order_of(std::size_t bytes) {
  agent_protocol::Activate order{.state = "", .clean = false};
  order.state->resize(bytes - agent_protocol::encode(order).value().size(), 'x');
  return order;
}

inline std::string line_of(const agent_protocol::UpgraderMessage& message) {
  return agent_protocol::encode(message).value();
}

inline std::string lines(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += "x\n";
  return text;
}

// Returns the generations whose exits have been reported, in the order of the reports.
inline std::vector<Generation> exited(const std::vector<Event>& events) {
  std::vector<Generation> generations;
  for (const Event& event : events) {
    if (const auto* gone = std::get_if<ProcessExited>(&event))
      generations.push_back(gone->generation);
  }
  return generations;
}

}  // namespace test

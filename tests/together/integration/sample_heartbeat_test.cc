// Tests the sample agent's heartbeats. The test plays the upgrader: it writes the lines that the
// agent reads, and reads those that the agent writes.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>

#include "tests/decisions/unit/temporary_directory.h"

namespace sample_heartbeat_test {

using namespace std::chrono_literals;

namespace {

constexpr auto patience = 20s;

// A sample agent that runs without an upgrader: the test starts it and holds the other ends of its
// pipes.
class Agent {
 public:
  Agent() {
    int input[2];
    int output[2];
    REQUIRE(pipe(input) == 0);
    REQUIRE(pipe(output) == 0);
    const std::string log = directory_.write("log", "");
    pid_ = fork();
    if (pid_ == 0) {
      dup2(input[0], 0);
      dup2(output[1], 1);
      close(input[1]);
      close(output[0]);
      setenv("AGENT_PROTOCOL", "1", 1);
      const std::string place = std::filesystem::path(log).parent_path();
      execl(program().c_str(), "sample-agent", ("--input=" + log).c_str(),
            ("--output=" + place + "/copy").c_str(), ("--state=" + place).c_str(), nullptr);
      _exit(127);
    }
    close(input[0]);
    close(output[1]);
    to_ = input[1];
    from_ = output[0];
  }
  ~Agent() {
    close(to_);
    close(from_);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  void say(const std::string& line) const {
    const std::string whole = line + "\n";
    REQUIRE(write(to_, whole.data(), whole.size()) == static_cast<ssize_t>(whole.size()));
  }

  // Returns the next line that the agent writes.
  std::string hear() {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (heard_.find('\n') == std::string::npos) {
      REQUIRE(std::chrono::steady_clock::now() < deadline);
      pollfd ready = {.fd = from_, .events = POLLIN, .revents = 0};
      if (poll(&ready, 1, 1'000) <= 0) continue;
      char bytes[4'096];
      const ssize_t count = read(from_, bytes, sizeof bytes);
      REQUIRE(count > 0);
      heard_.append(bytes, static_cast<std::size_t>(count));
    }
    const std::size_t end = heard_.find('\n');
    const std::string line = heard_.substr(0, end);
    heard_.erase(0, end + 1);
    return line;
  }

  void become_active(const std::string& members_of_welcome) {
    REQUIRE(hear().find(R"("hello")") != std::string::npos);
    say(R"({"type":"welcome","protocol":1,"features":[],"generation":1,"role":"first")" +
        members_of_welcome + "}");
    REQUIRE(hear() == R"({"type":"ready"})");
    say(R"({"type":"activate","clean":false})");
  }

 private:
  static std::string program() {
    const auto build = std::filesystem::canonical("/proc/self/exe").parent_path() / "../../..";
    return build / "sample-agent/sample-agent";
  }

  TemporaryDirectory directory_;
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string heard_;
};

}  // namespace

TEST_CASE("an active sample agent sends the heartbeats that are wanted") {
  Agent agent;

  agent.become_active(R"(,"watchdog_ms":40)");

  for (int count = 0; count < 3; ++count)
    CHECK(agent.hear() == R"({"type":"heartbeat"})");
}

TEST_CASE("a sample agent sends no heartbeats where none are wanted") {
  Agent agent;

  agent.become_active("");
  agent.say(R"({"type":"stop","reason":"shutdown","deadline_ms":20000})");

  CHECK(agent.hear().find(R"("stopped")") != std::string::npos);
}

}  // namespace sample_heartbeat_test

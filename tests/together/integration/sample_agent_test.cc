// Tests the sample agent under the real upgrader, while a writer appends lines to a log. Even with
// bad versions of the agent, each line must be copied exactly once, and two agents must never be
// active at the same time. In the tests of heartbeats, the test itself acts as the upgrader.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/demo/stage.h"
#include "tests/support/temporary_directory.h"

namespace sample_agent_test {

using namespace std::chrono_literals;
using demo::Proof;
using demo::SeenEvent;
using demo::Stage;

namespace {

constexpr auto patience = 20s;
// The time in which a version must become ready. A good version may need more than a second on a
// busy machine with sanitizers. A longer time would make the tests slow: the longest test has six
// versions that hang until the time is over.
#ifdef __SANITIZE_ADDRESS__
constexpr const char* start_timeout = "--start-timeout=10s";
#else
constexpr const char* start_timeout = "--start-timeout=3s";
#endif

demo::StageSettings settings() {
  const std::filesystem::path build =
      std::filesystem::canonical("/proc/self/exe").parent_path() / "../../..";
  const char* upgrader = std::getenv("UPGRADER");
  return {.upgrader = upgrader == nullptr ? build / "upgrader" : upgrader,
          .variants = build / "sample-agent/variants"};
}

Stage::Wanted event_of(const std::string& version, const std::string& beginning) {
  return [=](const SeenEvent& event) {
    return event.version == version && event.text.starts_with(beginning);
  };
}

// Waits until this version of the sample agent has logged an event that begins with `beginning`.
// Fails the test if this event does not come in time.
SeenEvent expect(Stage& stage, const std::string& version, const std::string& beginning) {
  const auto event = stage.wait_for(event_of(version, beginning), patience);
  INFO("waited for " << version << " " << beginning << "\n" << stage.upgrader_log());
  REQUIRE(event);
  return *event;
}

// Starts a version as the first agent, and waits until it works.
SeenEvent begin(Stage& stage, const std::string& version, std::vector<std::string> options = {},
                const std::vector<std::string>& agent_options = {"--commit=healthy"}) {
  stage.release(version);
  stage.install(version.substr(0, version.find('-')));
  options.emplace_back(start_timeout);
  stage.start_upgrader(options, agent_options);
  return expect(stage, version.substr(0, version.find('-')), "works");
}

void expect_proof(const Stage& stage) {
  const Proof proof = stage.proof();
  INFO(proof.text() << stage.upgrader_log());
  CHECK(proof.lines_in > 0);
  CHECK(proof.holds());
}

// Stops the writer of the input, waits until all lines have been copied, and ends the upgrader.
// Then checks the files: an active agent must have copied each line once and in order.
void end_with_proof(Stage& stage) {
  stage.stop_writing();
  CHECK(stage.wait_until_copied(patience));
  stage.signal_upgrader(SIGTERM);
  CHECK(stage.wait_for_upgrader(patience) == 0);
  expect_proof(stage);
}

int hand_overs_wanted() {
  const char* wanted = std::getenv("HANDOVERS");
  return wanted == nullptr ? 100 : std::atoi(wanted);
}

}  // namespace

TEST_CASE("a writer that is stopped as soon as it is started has written a line") {
  const TemporaryDirectory directory;
  demo::LineWriter writer({.path = directory / "log"});

  writer.stop();

  CHECK_FALSE(content_of(directory / "log").empty());
}

TEST_CASE("hand-overs under a running writer, a third of them to bad versions, lose no line") {
  Stage stage(settings());
  stage.release("2.0.0");
  stage.desire("2.0.0");
  begin(stage, "2.0.0");
  const std::vector<std::string> bad{"3.0.0-crash_at_start", "5.0.0-crash_on_trial",
                                     "3.0.0-crash_at_start", "5.0.0-crash_on_trial",
                                     "4.0.0-hang_at_start"};
  std::string active = "2.0.0";

  for (int number = 0; number < hand_overs_wanted(); ++number) {
    if (number % 3 != 2) {
      const std::string next = active == "2.0.0" ? "6.0.0" : "2.0.0";
      stage.release(next);
      stage.desire(next);
      expect(stage, next, "committed");
      active = next;
      CHECK(stage.current() == "agent-v" + active);
      continue;
    }
    const std::string variant = bad[static_cast<std::size_t>(number / 3) % bad.size()];
    const std::string version = variant.substr(0, variant.find('-'));
    stage.release(variant);
    stage.desire(version);
    expect(stage, active, "release " + version + " is not tried again");
    CHECK(stage.current() == "agent-v" + active);
  }

  end_with_proof(stage);
}

// Requirements (tests/judging/rows): J-17
TEST_CASE("a version that writes before it is active is caught by the checker") {
  Stage stage(settings());
  begin(stage, "1.0.0");

  stage.release("1.0.3-writes_too_early");
  expect(stage, "1.0.3", "committed");
  stage.stop_writing();
  CHECK(stage.wait_for(event_of("1.0.3", "committed"), 500ms) == std::nullopt);

  const Proof proof = stage.proof();
  INFO(proof.text());
  CHECK_FALSE(proof.holds());
  CHECK_FALSE(proof.trespasses.empty());
}

TEST_CASE("sequential hand-overs, good and bad, lose no line") {
  Stage stage(settings());
  begin(stage, "1.0.0", {"--mode=sequential"});

  stage.release("2.0.0");
  expect(stage, "2.0.0", "committed");
  stage.release("3.0.0-crash_at_start");
  expect(stage, "2.0.0", "release 3.0.0 is not tried again");
  stage.release("4.0.0-hang_at_start");
  expect(stage, "2.0.0", "release 4.0.0 is not tried again");
  stage.release("5.0.0-crash_on_trial");
  expect(stage, "2.0.0", "release 5.0.0 is not tried again");
  stage.release("6.0.0");
  expect(stage, "6.0.0", "committed");

  end_with_proof(stage);
}

TEST_CASE("a release that has failed is tried again when its bytes have changed, and only then") {
  Stage stage(settings());
  begin(stage, "2.0.0");
  stage.release("5.0.0-crash_on_trial");
  expect(stage, "2.0.0", "release 5.0.0 is not tried again");

  stage.release("3.0.0-crash_at_start");
  expect(stage, "2.0.0", "asks for " + stage.path("releases/agent-v3.0.0"));
  expect(stage, "2.0.0", "release 3.0.0 is not tried again");
  // Release 5.0.0 has failed before, and now comes again with the same bytes. The agent must not
  // try it again.
  stage.release("5.0.0-crash_on_trial");
  stage.release("4.0.0-hang_at_start");
  expect(stage, "2.0.0", "asks for " + stage.path("releases/agent-v4.0.0"));
  expect(stage, "2.0.0", "release 4.0.0 is not tried again");
  stage.release("5.0.0-crash_on_trial", "other bytes");
  expect(stage, "2.0.0", "asks for " + stage.path("releases/agent-v5.0.0"));
  expect(stage, "2.0.0", "release 5.0.0 is not tried again");

  end_with_proof(stage);
}

TEST_CASE("going back to an older version is an upgrade on request") {
  Stage stage(settings());
  stage.release("2.0.0");
  stage.desire("6.0.0");
  begin(stage, "6.0.0");

  stage.desire("2.0.0");
  expect(stage, "2.0.0", "committed");
  std::filesystem::remove(stage.path("releases/desired"));
  expect(stage, "6.0.0", "committed");

  CHECK(stage.current() == "agent-v6.0.0");
  end_with_proof(stage);
}

TEST_CASE("a version that does not know the format of the position is not given the work") {
  Stage stage(settings());
  stage.release("1.0.0");
  begin(stage, "2.0.0");

  stage.desire("1.0.0");
  const SeenEvent told = expect(stage, "2.0.0", "release 1.0.0 is not tried again");

  CHECK(told.text.find("its self-test failed") != std::string::npos);
  CHECK(told.text.find("format 2") != std::string::npos);
  end_with_proof(stage);
}

TEST_CASE("until it is committed a version writes the format that the one before it can read") {
  Stage stage(settings());
  begin(stage, "1.0.0", {"--trial=1h"}, {});
  const auto format = [&stage] {
    std::ifstream file(stage.path("state/position"));
    std::string line;
    std::getline(file, line);
    return line;
  };
  stage.release("5.0.0-crash_on_trial");
  expect(stage, "1.0.0", "release 5.0.0 is not tried again");
  CHECK(format() == "sample-agent position 1");

  stage.release("2.0.0");
  expect(stage, "2.0.0", "works");
  stage.signal_upgrader(SIGTERM);
  CHECK(stage.wait_for_upgrader(patience) == 0);
  CHECK(format() == "sample-agent position 1");
  CHECK(stage.current() == "agent-v1.0.0");

  // An upgrade without a recorded ending counts as failed, so the agent does not try its version
  // again by itself. But if somebody desires the version anew, the agent must try it.
  stage.start_upgrader({"--trial=0"}, {});
  stage.desire("2.0.0");
  expect(stage, "2.0.0", "committed");
  end_with_proof(stage);
  CHECK(format() == "sample-agent position 2");
  CHECK(stage.current() == "agent-v2.0.0");
}

TEST_CASE("the gate waits for the operator, whose file is removed") {
  Stage stage(settings());
  const std::string confirm = stage.path("releases/confirm");
  std::ofstream(confirm).flush();
  begin(stage, "1.0.0", {}, {"--commit=healthy", "--gate=confirm"});

  stage.release("2.0.0");
  expect(stage, "1.0.0", "version 2.0.0 is ready and waits for");
  CHECK(stage.wait_for(event_of("2.0.0", "activated"), 300ms) == std::nullopt);
  std::ofstream(confirm).flush();
  expect(stage, "2.0.0", "committed");

  CHECK_FALSE(std::filesystem::exists(confirm));
  end_with_proof(stage);
}

TEST_CASE("an agent takes the work back when the candidate is lost while it stops") {
  Stage stage(settings());
  begin(stage, "1.0.1-slow_to_stop");
  stage.release("2.0.0");
  // The start of the candidate and the `stop` to the old agent may be recorded in either order.
  pid_t candidate = 0;
  bool told_to_stop = false;
  const auto both = [&](const SeenEvent& event) {
    if (event_of("2.0.0", "started")(event)) candidate = event.pid;
    if (event_of("1.0.1", "told to stop: upgrade")(event)) told_to_stop = true;
    return candidate != 0 && told_to_stop;
  };
  REQUIRE(stage.wait_for(both, patience));

  kill(candidate, SIGKILL);

  expect(stage, "1.0.1", "takes the work back");
  const SeenEvent told = expect(stage, "1.0.1", "upgrade_failed");
  CHECK(told.text.find("start: ") != std::string::npos);
  end_with_proof(stage);
}

TEST_CASE("an agent that does not stop is killed, and started again as fallback") {
  Stage stage(settings());
  begin(stage, "1.0.2-never_stops", {"--stop-timeout=200ms"});
  stage.release("2.0.0");

  const SeenEvent told = expect(stage, "1.0.2", "upgrade_failed");
  CHECK(told.text.find(" stop: ") != std::string::npos);
  expect(stage, "1.0.2", "works");
  stage.stop_writing();
  CHECK(stage.wait_until_copied(patience));
  stage.signal_upgrader(SIGTERM);
  CHECK(stage.wait_for_upgrader(patience) == 128 + SIGKILL);

  expect_proof(stage);
}

TEST_CASE("an unclean stop with the policy to continue goes by the durable position") {
  Stage stage(settings());
  begin(stage, "1.0.2-never_stops", {"--stop-timeout=200ms", "--on-unclean-stop=continue"});

  stage.release("2.0.0");
  expect(stage, "2.0.0", "committed");

  end_with_proof(stage);
}

TEST_CASE("when the agent or the upgrader is killed, what is started again loses no line") {
  Stage stage(settings());
  SeenEvent active = begin(stage, "1.0.0");

  for (int round = 0; round < 6; ++round) {
    if (round % 2 == 0) {
      kill(active.pid, SIGKILL);
    } else {
      stage.signal_upgrader(SIGKILL);
      expect(stage, "1.0.0", "stopped");
    }
    CHECK(stage.wait_for_upgrader(patience) == 128 + SIGKILL);
    stage.start_upgrader({}, {"--commit=healthy"});
    active = expect(stage, "1.0.0", "works");
  }

  stage.release("2.0.0");
  expect(stage, "2.0.0", "committed");
  end_with_proof(stage);
}

TEST_CASE("a release that is no sample agent fails its self-test and is left alone") {
  Stage stage(settings());
  begin(stage, "2.0.0");

  stage.release_script("9.0.0", "#!/bin/sh\necho 9.0.1 ok\n");
  const SeenEvent told = expect(stage, "2.0.0", "release 9.0.0 is not tried again");
  CHECK(told.text.find("it said: 9.0.1 ok") != std::string::npos);
  stage.release("6.0.0");
  expect(stage, "6.0.0", "committed");

  end_with_proof(stage);
}

TEST_CASE("arguments that are not known make unfit, with their name, whatever its bytes") {
  const std::string name = GENERATE("--colour", "--colour\xff");
  Stage stage(settings());
  stage.release("1.0.0");
  stage.install("1.0.0");

  stage.start_upgrader({}, {name});

  CHECK(stage.wait_for_upgrader(patience) == 125);
  const std::string shown = name == "--colour" ? name : "--colour?";
  CHECK(stage.upgrader_log().find("configuration: unknown argument " + shown + ";") !=
        std::string::npos);
}

TEST_CASE("the agent runs alone, without an upgrader, through crashes") {
  Stage stage(settings());
  stage.release("2.0.0");
  for (const int signal : {SIGKILL, SIGTERM}) {
    stage.start_alone("2.0.0");
    expect(stage, "2.0.0", "works");
    CHECK(stage.wait_for(event_of("2.0.0", "asks"), 300ms) == std::nullopt);
    stage.signal_upgrader(signal);
    CHECK(stage.wait_for_upgrader(patience) == (signal == SIGKILL ? 128 + SIGKILL : 0));
  }
  stage.start_alone("2.0.0");
  stage.stop_writing();
  CHECK(stage.wait_until_copied(patience));
  stage.signal_upgrader(SIGTERM);
  CHECK(stage.wait_for_upgrader(patience) == 0);

  expect_proof(stage);
}

// ---- heartbeats of the sample agent

namespace {

// A sample agent for which the test acts as the upgrader: the test starts the agent, and has the
// other ends of its pipes.
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

}  // namespace sample_agent_test

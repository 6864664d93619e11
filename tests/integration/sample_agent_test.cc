// The sample agent under the real upgrader and a running writer: whatever its versions do, each
// line is copied once, and no two of them are ever active.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "tests/demo/stage.h"

using namespace std::chrono_literals;
using demo::Proof;
using demo::SeenEvent;
using demo::Stage;

namespace {

constexpr auto patience = 20s;

demo::StageSettings settings() {
  const std::filesystem::path build =
      std::filesystem::canonical("/proc/self/exe").parent_path().parent_path().parent_path();
  return {.upgrader = build / "upgrader", .variants = build / "sample-agent/variants"};
}

Stage::Wanted event_of(const std::string& version, const std::string& beginning) {
  return [=](const SeenEvent& event) {
    return event.version == version && event.text.starts_with(beginning);
  };
}

// Fails the test where the event does not come.
SeenEvent expect(Stage& stage, const std::string& version, const std::string& beginning) {
  const auto event = stage.wait_for(event_of(version, beginning), patience);
  INFO("waited for " << version << " " << beginning << "\n" << stage.upgrader_log());
  REQUIRE(event);
  return *event;
}

void begin(Stage& stage, const std::string& version, std::vector<std::string> options = {},
           const std::vector<std::string>& agent_options = {"--commit=healthy"}) {
  stage.release(version);
  stage.install(version.substr(0, version.find('-')));
  options.emplace_back("--start-timeout=150ms");
  stage.start_upgrader(options, agent_options);
  expect(stage, version.substr(0, version.find('-')), "works");
}

// Lets the agent finish, and judges all that has happened.
void expect_proof(Stage& stage) {
  stage.stop_writing();
  CHECK(stage.wait_until_copied(patience));
  stage.signal_upgrader(SIGTERM);
  CHECK(stage.wait_for_upgrader(patience) == 0);
  const Proof proof = stage.proof();
  INFO(proof.text() << stage.upgrader_log());
  CHECK(proof.lines_in > 0);
  CHECK(proof.holds());
}

int hand_overs_wanted() {
  const char* wanted = std::getenv("HANDOVERS");
  return wanted == nullptr ? 100 : std::atoi(wanted);
}

}  // namespace

TEST_CASE("hand-overs under a running writer, a third of them to bad versions, lose no line") {
  Stage stage(settings());
  stage.release("2.0.0");
  stage.desire("2.0.0");
  begin(stage, "2.0.0");
  const std::vector<std::string> bad{"3.0.0-crash_at_start", "5.0.0-crash_on_trial",
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

  expect_proof(stage);
}

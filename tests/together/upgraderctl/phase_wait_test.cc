// Tests how `upgraderctl wait --for`, which waits for a phase of the upgrader, can end.
#include "tools/upgraderctl/core/phase_wait.h"

#include <catch2/catch.hpp>

#include "tests/together/upgraderctl/talk.h"
#include "tools/upgraderctl/core/options.h"

namespace phase_wait_test {

using namespace upgraderctl;
using namespace std::chrono_literals;

namespace {

Happening looked(const std::optional<Status>& status, Hearing hearing = Hearing::listens) {
  return Looked{Look{status, std::nullopt, true, hearing, 0, ""}, at(20)};
}

int ended_with(const Orders& orders) {
  for (const Order& order : orders) {
    if (const auto* finish = std::get_if<Finish>(&order)) return finish->status;
  }
  return -1;
}

Status in_phase(const std::string& phase) {
  Status status = at_rest();
  status.phase = phase;
  return status;
}

Status has_ended() {
  Status status = in_phase("ended");
  status.ended = Ended{0, "asked for", at(19)};
  return status;
}

}  // namespace

TEST_CASE("a phase that is seen ends the wait") {
  PhaseWait wait("trial", std::nullopt, "upgraderctl status");
  CHECK(wait.start(0s).empty());

  const Orders first = wait.step(looked(in_phase("preparing")), 0s);
  CHECK(std::get<Say>(first.at(0)).text.find("waiting for phase trial; now ") == 0);
  CHECK(wait.step(looked(in_phase("switching")), 1s).empty());

  CHECK(ended_with(wait.step(looked(in_phase("trial")), 2s)) == exit_done);
}

TEST_CASE("an upgrader that does not run yet is waited for") {
  PhaseWait wait("running", std::nullopt, "upgraderctl status");
  CHECK(wait.start(0s).empty());

  CHECK(ended_with(wait.step(looked(std::nullopt), 0s)) == -1);
  CHECK(ended_with(wait.step(looked(has_ended()), 0s)) == -1);
  CHECK(ended_with(wait.step(looked(in_phase("starting")), 0s)) == -1);

  CHECK(ended_with(wait.step(looked(in_phase("running")), 0s)) == exit_done);
}

TEST_CASE("an upgrader that ended before it was seen to run is reported once, with its reason") {
  PhaseWait wait("running", std::nullopt, "upgraderctl status");
  CHECK(wait.start(0s).empty());
  Status failed = in_phase("ended");
  failed.ended = Ended{127, "AGENT: No such file or directory (ENOENT)", at(19)};

  SECTION("no status was there before") {
    CHECK(std::get<Say>(wait.step(looked(std::nullopt), 0s).at(0)).text ==
          "no upgrader runs there yet; waiting for phase running");
  }
  SECTION("the status was there before") {}
  const Orders orders = wait.step(looked(failed, Hearing::gone), 1s);
  REQUIRE(orders.size() == 1);
  CHECK(std::get<Say>(orders.at(0)).text ==
        "the upgrader has ended with status 127: AGENT: No such file or directory (ENOENT); "
        "waiting for phase running");
  CHECK(wait.step(looked(failed, Hearing::gone), 2s).empty());
  CHECK(ended_with(wait.step(looked(in_phase("running")), 3s)) == exit_done);
}

TEST_CASE("an upgrader that ends meanwhile ends the wait with 6, however its end is noticed") {
  PhaseWait wait("trial", std::nullopt, "upgraderctl status");
  CHECK(wait.start(0s).empty());
  CHECK(ended_with(wait.step(looked(in_phase("running")), 0s)) == -1);

  Status other = at_rest();
  other.upgrader.started = "2026-11-22T09:00:00.000Z";
  SECTION("it says so") {
    CHECK(ended_with(wait.step(looked(has_ended()), 1s)) == exit_ended);
  }
  SECTION("another life begins") {
    CHECK(ended_with(wait.step(looked(other), 1s)) == exit_ended);
  }
  SECTION("nobody takes requests there any more, and has left no last word meanwhile") {
    CHECK(wait.step(looked(in_phase("running"), Hearing::gone), 1s).empty());
    CHECK(ended_with(wait.step(looked(in_phase("running"), Hearing::gone), 2s)) == exit_ended);
  }
  SECTION("a last word that comes late is told") {
    CHECK(wait.step(looked(in_phase("running"), Hearing::gone), 1s).empty());
    const Orders orders = wait.step(looked(has_ended(), Hearing::gone), 2s);
    CHECK(std::get<Finish>(orders.at(0)).text.find("has ended with status 0") != std::string::npos);
  }
}

TEST_CASE("the status of a killed upgrader is not taken for that of a running one") {
  PhaseWait wait("running", std::nullopt, "upgraderctl status");
  CHECK(wait.start(0s).empty());

  const Orders first = wait.step(looked(in_phase("running"), Hearing::gone), 0s);
  CHECK(std::get<Say>(first.at(0)).text == "no upgrader runs there yet; waiting for phase running");
  CHECK(wait.step(looked(in_phase("running"), Hearing::gone), 1s).empty());

  Status other = in_phase("starting");
  other.upgrader.started = "2026-11-22T09:00:00.000Z";
  CHECK(ended_with(wait.step(looked(other), 2s)) == -1);
  other.phase = "running";
  CHECK(ended_with(wait.step(looked(other), 3s)) == exit_done);
}

TEST_CASE("a status that may be old ends no wait") {
  PhaseWait wait("running", std::nullopt, "upgraderctl status");
  CHECK(wait.start(0s).empty());

  const Orders first = wait.step(looked(in_phase("running"), Hearing::stopped), 0s);
  CHECK(std::get<Say>(first.at(0)).text.find("; the upgrader is stopped: ") != std::string::npos);
  CHECK(wait.step(looked(in_phase("running"), Hearing::full), 1s).empty());
  CHECK(ended_with(wait.step(looked(in_phase("running")), 2s)) == exit_done);
}

TEST_CASE("a status that cannot be read is reported, and missing rights end the wait after 5 s") {
  PhaseWait wait("running", std::nullopt, "upgraderctl status");
  CHECK(wait.start(0s).empty());
  const auto unreadable = [](int error_number, const std::string& trouble) {
    return Looked{Look{std::nullopt, std::nullopt, true, Hearing::gone, error_number, trouble},
                  at(20)};
  };
  const Orders first = wait.step(unreadable(0, "DIR/status.json is no status"), 0s);
  CHECK(std::get<Say>(first.at(0)).text ==
        "DIR/status.json is no status; waiting for phase running");
  CHECK(ended_with(wait.step(unreadable(ENOENT, "DIR/status.json: ..."), 0s)) == -1);
  CHECK(ended_with(wait.step(unreadable(EACCES, "DIR/status.json: ..."), 1s)) == -1);
  CHECK(wait.next_deadline() == 6s);
  CHECK(ended_with(wait.step(unreadable(EACCES, "DIR/status.json: ..."), 6s)) == exit_refused);
}

TEST_CASE("a killed upgrader is not seen in the phase that it was in") {
  PhaseWait wait("trial", std::nullopt, "upgraderctl status");
  CHECK(wait.start(0s).empty());
  CHECK(ended_with(wait.step(looked(in_phase("running")), 0s)) == -1);

  CHECK(wait.step(looked(in_phase("trial"), Hearing::gone), 1s).empty());
  CHECK(ended_with(wait.step(looked(in_phase("trial"), Hearing::gone), 2s)) == exit_ended);
}

TEST_CASE("an upgrader that answers again has not ended, however often its FIFO was away") {
  PhaseWait wait("trial", std::nullopt, "upgraderctl status");
  CHECK(wait.start(0s).empty());
  for (int times = 0; times < 3; ++times) {
    CHECK(ended_with(wait.step(looked(in_phase("running")), 0s)) == -1);
    CHECK(wait.step(looked(in_phase("running"), Hearing::gone), 1s).empty());
  }
  CHECK(ended_with(wait.step(looked(in_phase("trial")), 2s)) == exit_done);
}

TEST_CASE("the end itself can be waited for") {
  PhaseWait wait("ended", std::nullopt, "upgraderctl status");
  CHECK(wait.start(0s).empty());

  CHECK(ended_with(wait.step(looked(in_phase("running")), 0s)) == -1);

  CHECK(ended_with(wait.step(looked(has_ended()), 0s)) == exit_done);
}

TEST_CASE("time that is up, or a signal, ends the wait") {
  PhaseWait wait("trial", 5s, "upgraderctl status");
  CHECK(wait.start(1s).empty());
  CHECK(wait.next_deadline() == 6s);

  CHECK(wait.step(TimePassed{}, 5s).empty());
  CHECK(ended_with(wait.step(TimePassed{}, 6s)) == exit_unknown);
  CHECK(ended_with(wait.step(Interrupted{2}, 6s)) == exit_signal_base + 2);
}

}  // namespace phase_wait_test

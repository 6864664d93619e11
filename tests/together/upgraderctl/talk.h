// A fixture with a conversation, the part of upgraderctl that sends a request and waits for the end
// of that request. The fixture also has the statuses that the conversation reads. They describe an
// upgrader at rest, except for the changes that a test makes.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent-protocol/cpp/control/status.h"
#include "tools/upgraderctl/core/conversation.h"

namespace upgraderctl {

// Returns the time `seconds` after 2026-11-22 08:00 UTC. At second 0, the upgrader of at_rest() was
// started.
inline Moment at(int seconds) {
  return *parse_moment("2026-11-22T08:00:00Z") + std::chrono::seconds{seconds};
}

inline Status at_rest() {
  Status status;
  status.upgrader = {4020, "0.1.0", "2026-11-22T08:00:00.000Z", at(0), 1};
  status.phase = "running";
  status.since = at(1);
  status.active = AgentStatus{.generation = 1,
                              .role = "first",
                              .pid = 4021,
                              .version = "1.0",
                              .executable = "/opt/agent/1.0",
                              .args = {"--input=app.log"},
                              .args_omitted = false,
                              .started = at(0),
                              .activated = at(1),
                              .status = "",
                              .silent = false};
  return status;
}

inline UpgradeStatus upgrade_called(std::string id) {
  UpgradeStatus upgrade;
  upgrade.id = std::move(id);
  upgrade.origin = "control";
  upgrade.accepted = at(10);
  upgrade.trial_ms = 30'000;
  return upgrade;
}

inline Ending ending_of(std::string id, std::string outcome, std::string stage = "",
                        std::string reason = "") {
  Ending ending;
  ending.id = std::move(id);
  ending.origin = "control";
  ending.outcome = std::move(outcome);
  ending.stage = std::move(stage);
  ending.reason = std::move(reason);
  ending.from = {"1.0", "/opt/agent/1.0"};
  ending.to = {"1.1", "/opt/agent/1.1"};
  ending.accepted = at(10);
  ending.ended = at(42);
  ending.start_ms = 412;
  return ending;
}

// ---- a conversation

inline Errand errand_for(Errand::Goal goal) {
  using Goal = Errand::Goal;
  Errand errand;
  errand.goal = goal;
  errand.life = at_rest().upgrader;
  errand.deed = "upgrade u1";
  errand.request = "r1";
  errand.line = "upgrade\n";
  errand.id = "u1";
  errand.asks_upgrade = goal != Goal::shutdown;
  errand.tells = "upgraderctl app history";
  if (goal == Goal::rehearsal) {
    errand.cancel_request = "r1-cancel";
    errand.cancel_line = "cancel\n";
  }
  return errand;
}

// A conversation with its surroundings: the status, the answers and the FIFO.
class Talk {
 public:
  explicit Talk(Errand errand, WriteOutcome outcome = WriteOutcome::written)
      : writes(outcome), conversation_(std::move(errand)) {
    take(conversation_.start(now));
  }
  explicit Talk(Errand::Goal goal) : Talk(errand_for(goal)) {}

  void look() { look(Look{status, previous, true, Hearing::listens, 0, ""}); }
  void look(const Look& look) { feed(Looked{look, at(20)}); }
  void feed(const Happening& happening) { take(conversation_.step(happening, now)); }

  // Moves the clock to the next deadline.
  void wait() {
    REQUIRE(conversation_.next_deadline());
    now = std::max(now, *conversation_.next_deadline());
    feed(TimePassed{});
  }

  void answer(bool ok, const std::string& reason = "", const std::string& request = "r1") {
    status.requests.insert(status.requests.begin(), Answer{request, "upgrade", ok, reason});
  }

  // Restarts the upgrader. After that, `previous.json` has the last status of the earlier upgrader,
  // which does not say how that upgrader ended.
  void begin_another_life() {
    previous = status;
    status = at_rest();
    status.upgrader.started = "2026-11-22T09:00:00.000Z";
    status.upgrader.pid = 5020;
  }

  [[nodiscard]] int ended_with() const { return finish ? finish->status : -1; }
  [[nodiscard]] bool said(const std::string& text) const {
    return std::any_of(words.begin(), words.end(), [&text](const std::string& word) {
      return word.find(text) != std::string::npos;
    });
  }

  WriteOutcome writes;  // the outcome of every write to the FIFO
  Duration now{0};
  Status status = at_rest();
  std::optional<Status> previous;
  std::vector<std::string> sent;
  std::vector<std::string> words;
  std::vector<std::int64_t> measured;
  std::optional<Finish> finish;

 private:
  void take(const Orders& orders) {
    for (const Order& order : orders) {
      if (const auto* send = std::get_if<Send>(&order)) {
        sent.push_back(send->line);
        feed(Wrote{writes});
      } else if (const auto* measure = std::get_if<Measure>(&order)) {
        measured.push_back(measure->pid);
        feed(Measured{12'595});
      } else if (const auto* say = std::get_if<Say>(&order)) {
        words.push_back(say->text);
      } else if (const auto* last = std::get_if<Finish>(&order)) {
        REQUIRE_FALSE(finish);
        finish = *last;
        words.push_back(last->text);
      }
    }
  }

  Conversation conversation_;
};

}  // namespace upgraderctl

// A conversation, the part of upgraderctl that sends a request and waits for its end, and the files
// that it sees. For tests.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/together/upgraderctl/status_text.h"
#include "tools/upgraderctl/core/conversation.h"

namespace upgraderctl {

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

// A conversation, and the status, answers and FIFO that it sees.
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

  // Restarts the upgrader. previous.json then has the previous upgrader's last status, which does
  // not say how it ended.
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

// A fixture with InitMessages, the part that decides which messages init is sent, and with a
// simulated socket of init. The test moves the clock.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "upgrader/core/init_messages.h"

namespace upgrader::test {

using Texts = std::vector<std::string>;

inline constexpr Time start{1'000'000};
// The time in microseconds that the message RELOADING=1 must contain.
inline constexpr std::uint64_t microseconds = 1'000'000'007;

class InitBench {
 public:
  explicit InitBench(Duration watchdog = Duration::zero()) : messages_(watchdog) {}

  InitMessages& messages() { return messages_; }
  void tell(const InitNews& news, Duration after = Duration::zero()) {
    messages_.note(news, start + after);
    send_due(start + after);
  }
  void show_agent_status(Generation generation, const std::string& text, Duration after) {
    messages_.note_agent_status(generation, text);
    send_due(start + after);
  }

  // Returns the messages that have been sent since the last call. If the socket is full, it has
  // room afterwards.
  Texts heard() {
    full_ = false;
    return std::exchange(heard_, {});
  }
  void fill() { full_ = true; }
  [[nodiscard]] bool is_silent() const { return messages_.next_time() == InitMessages::never; }
  // Moves the clock until the time `after` has passed since the clock's start. Tries to send each
  // message when it is due. Calls `each` with the time and the text of each message. Returns how
  // often a message was due.
  int wake_until(Duration after, const std::function<void(Time, const std::string&)>& each = {}) {
    int count = 0;
    while (messages_.next_time() <= start + after) {
      now_ = std::max(messages_.next_time(), now_);
      send_due(now_);
      REQUIRE(++count < 1'000);
      if (!each) continue;
      for (const std::string& message : heard())
        each(now_, message);
    }
    now_ = start + after;
    return count;
  }

 private:
  void send_due(Time now) {
    while (messages_.next_time() <= now) {
      const InitMessage message = messages_.next(now, microseconds);
      if (!full_) heard_.push_back(message.text);
      messages_.tried(message, !full_, now);
    }
  }

  InitMessages messages_;
  bool full_ = false;
  Texts heard_;
  Time now_ = start;
};

inline InitNews news(const std::string& status, bool active = true) {
  InitNews made;
  made.active = active;
  made.status = status;
  return made;
}

inline InitNews stopping(const std::string& status = "stopping") {
  InitNews made = news(status);
  made.stopping = true;
  return made;
}

inline InitNews waiting(InitWait::What what, Duration left, Generation generation = 1) {
  InitNews made = news("waits", what == InitWait::What::stopped);
  made.wait = InitWait{what, generation, start + left};
  return made;
}

// Returns an InitNews (the facts from which messages to init are made) for the case that the
// upgrader waits for an agent that has sent `extend`.
inline InitNews extended(InitWait::What what, Duration left, Generation generation = 1) {
  InitNews made = waiting(what, left, generation);
  made.wait->extended = true;
  return made;
}

inline InitNews reloading(std::int64_t reloads, bool under_way) {
  InitNews made = news(under_way ? "reloads" : "runs");
  made.reloads = reloads;
  made.reloading = under_way;
  return made;
}

}  // namespace upgrader::test

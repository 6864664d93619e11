// An init that listens to the upgrader's messages. It knows which message may follow which, and how
// many may come in a second.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "base/time.h"
#include "upgrader/core/init_messages.h"

namespace upgrader::test {

struct InitListener {
  bool ready = false;      // READY=1 was heard
  bool stopping = false;   // STOPPING=1 was heard
  bool reloading = false;  // RELOADING=1 was heard, and no READY=1 after it
  Time waits_until{};      // the time until which EXTEND_TIMEOUT_USEC= has asked init to wait, or 0
  std::deque<Time> heard_at = {};  // the times of the messages of the last second

  // Judges a message to init other than WATCHDOG=1. Returns the rule that the message breaks, or an
  // empty text. `agent_was_active` is true if an agent was active at any time before.
  std::string hear(std::string_view text, Time now, bool agent_was_active) {
    const bool is_ready = text.starts_with("READY=1\n");
    const bool is_stopping = text.starts_with("STOPPING=1\n");
    const bool is_reloading = text.starts_with("RELOADING=1\n");
    std::string wrong;
    if (stopping && (is_ready || is_stopping || is_reloading))
      wrong = "more than STATUS= after STOPPING=1";
    if (is_ready && !agent_was_active) wrong = "READY=1 though no agent ever was active";
    if (is_ready && ready && !reloading) wrong = "READY=1 twice";
    if (is_reloading && !ready) wrong = "RELOADING=1 before READY=1";
    if (is_reloading && reloading) wrong = "RELOADING=1 before the READY=1 of the one before";
    ready = ready || is_ready;
    stopping = stopping || is_stopping;
    reloading = is_reloading || (reloading && !is_ready);
    if (is_stopping) waits_until = Time{};  // from now on, init's own limit for a stop holds
    hear_more_time(text, now);
    while (!heard_at.empty() && heard_at.front() <= now - std::chrono::seconds(1))
      heard_at.pop_front();
    heard_at.push_back(now);
    const bool never_waits = is_ready || is_stopping;
    if (heard_at.size() > 10 && !never_waits) wrong = "more than ten messages in a second";
    return wrong;
  }

  // Returns true if init will stop waiting too early, before the deadline of the upgrader's current
  // wait, although the upgrader could have asked init for more time. It could have asked if it has
  // sent fewer messages in the last second than it may.
  [[nodiscard]] bool has_too_little_time(const InitNews& news, Time now) const {
    const bool waits = news.stopping || !ready;
    const bool is_asked = news.wait && (news.wait->extended || waits_until != Time{});
    const auto recent = std::count_if(heard_at.begin(), heard_at.end(),
                                      [now](Time heard) { return heard > now - pace_interval; });
    const bool may_be_asked = static_cast<std::size_t>(recent) < paced_messages;
    return waits && is_asked && may_be_asked && waits_until < news.wait->deadline;
  }

 private:
  void hear_more_time(std::string_view text, Time now) {
    constexpr std::string_view more_time = "EXTEND_TIMEOUT_USEC=";
    const std::size_t at = text.find(more_time);
    if (at == std::string_view::npos) return;
    const std::string amount(text.substr(at + more_time.size()));
    waits_until =
        now + std::chrono::duration_cast<Duration>(std::chrono::microseconds(std::stoll(amount)));
  }
};

}  // namespace upgrader::test

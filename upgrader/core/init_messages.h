// Decides which messages init is sent, and when, from the facts in init_news.h. Sends nothing:
// init_system.h sends the messages.
//
// READY=1, RELOADING=1, STOPPING=1, EXTEND_TIMEOUT_USEC= and WATCHDOG=1 change what init does, so a
// message with one of them must not be lost: if init's socket is full, the message is tried again.
// A message with STATUS= alone is not tried again, since the next message repeats its contents.
// Apart from WATCHDOG=1, init gets at most ten messages a second.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "upgrader/core/init_news.h"

namespace upgrader {

// Minimum time between two messages that differ only in how much time is left.
inline constexpr Duration time_news_interval{1'000};
// If init's socket is full, a message that must not be lost is tried again after this time. So is
// the newline of --notify-fd if its pipe is full.
inline constexpr Duration full_retry_interval{100};
// Init is asked to wait this much longer than the agent's deadline, for two reasons: the upgrader
// itself ends only after that deadline, and init may have learned of the deadline up to a second
// late.
inline constexpr Duration end_margin = Duration{1'000} + time_news_interval;
// WATCHDOG=1 is sent early, before work that may take long, but only if at least this time has
// passed since the last WATCHDOG=1.
inline constexpr Duration early_beat_interval{100};

// At most this many messages are sent in a second, not counting READY=1 and STOPPING=1. These two
// never have to wait, so two of init's ten messages a second are reserved for them.
inline constexpr std::size_t paced_messages = 8;
// The interval in which at most `paced_messages` messages are sent. It is a little longer than a
// second, because a message arrives some time after it was sent.
inline constexpr Duration pace_interval{1'010};

struct InitMessage {
  std::string text;
  bool is_needed;  // true if the message must not be lost
};

class InitMessages {
 public:
  // Stands for "not due": a time that never comes.
  static constexpr Time never = Time::max();

  // `watchdog` is the longest time between two WATCHDOG=1, or zero if init wants none.
  explicit InitMessages(Duration watchdog) : watchdog_(watchdog) {}

  [[nodiscard]] Duration watchdog() const { return watchdog_; }

  // Records the facts that init should know now.
  void note(const InitNews& news, Time now);
  // Shows an agent's own status in STATUS= from now on, until a different agent sends a status or
  // forget_agent() is called for this agent.
  void note_agent_status(Generation generation, const std::string& text);
  void forget_agent(Generation generation) {
    if (speaker_ == generation) note_agent_status(0, "");
  }

  // Returns when the next message is due: a time in the past if a message is due now, and `never`
  // if init has been sent all facts.
  [[nodiscard]] Time next_time() const;
  // Returns the message that is due at the time `now`. `microseconds` is the time on the same clock
  // as `now`, but not rounded. It becomes a part of RELOADING=1, because systemd ignores a
  // RELOADING=1 that is older than its own request for the reload.
  [[nodiscard]] InitMessage next(Time now, std::uint64_t microseconds) const;
  // Records whether the message that next() has returned was sent. If not, the socket was full.
  void tried(const InitMessage& message, bool sent, Time now);

  // Returns when WATCHDOG=1 is due, or `never` while it must not be sent.
  [[nodiscard]] Time beat_time() const {
    return watchdog_ == Duration::zero() || !news_.vouched ? never : next_beat_;
  }
  // Returns the earliest time at which WATCHDOG=1 may be sent before work that may take long.
  [[nodiscard]] Time early_beat_time() const {
    return beat_time() - std::max(Duration::zero(), beat_interval() - early_beat_interval);
  }
  // Records whether WATCHDOG=1 was sent. If not, the socket was full.
  void beat_tried(bool sent, Time now) {
    next_beat_ = now + (sent ? beat_interval() : std::min(beat_interval(), full_retry_interval));
  }

  // Returns when to write the newline of --notify-fd, or `never`.
  [[nodiscard]] Time newline_time() const { return newline_time_; }
  // Records whether the newline of --notify-fd was written. If not, the pipe was full.
  void newline_tried(bool written, Time now) {
    newline_time_ = written ? never : now + full_retry_interval;
  }

 private:
  [[nodiscard]] Duration beat_interval() const { return std::max(Duration{1}, watchdog_ / 2); }
  void owe(std::string_view message);
  [[nodiscard]] std::string more_time(Time now) const;
  [[nodiscard]] Time turn() const;

  Duration watchdog_;
  Time next_beat_{};           // when WATCHDOG=1 is due again; the first is sent at once
  Time newline_time_ = never;  // when to write the newline of --notify-fd
  InitNews news_;              // the facts that init should know now
  InitNews told_;              // the facts that init was last sent
  Time told_at_{};
  // the deadline until which init was last asked to wait; 0 if init was not asked
  Time asked_until_{};
  bool agent_has_spoken_ = false;  // an agent has sent a status that init has not been sent yet
  // The messages with READY=1, RELOADING=1 or STOPPING=1 that init must still get; three at most.
  std::vector<std::string_view> owed_;
  Time retry_time_{};          // no message is sent before this time, since the socket was full
  std::vector<Time> sent_at_;  // when the last messages were sent, the oldest first
  bool was_ready_ = false;     // READY=1 was sent, or waits in owed_
  // a reload has begun, and its READY=1 has neither been sent nor queued in owed_
  bool is_reloading_ = false;
  Generation speaker_{};
  std::string agent_status_;
};

}  // namespace upgrader

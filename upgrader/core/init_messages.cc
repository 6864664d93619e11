#include "upgrader/core/init_messages.h"

#include <utility>

#include "base/form.h"
#include "base/visible.h"

namespace upgrader {
namespace {

// The most bytes of the status, before it is escaped. People see it as one line on a terminal, so
// longer texts belong in the log.
constexpr std::size_t status_bytes_shown = 512;

constexpr std::string_view ready = "READY=1\n";
constexpr std::string_view reloading = "RELOADING=1\n";
constexpr std::string_view stopping = "STOPPING=1\n";

// Returns how much time is left, as text for STATUS=: ", 12 s left".
std::string time_left(Time until, Time now) {
  const auto left = std::chrono::ceil<std::chrono::seconds>(until - now).count();
  return ", {} s left"_with(std::max<std::int64_t>(0, left));
}

// Returns true if `one` and `other` are equal, or would be equal with the same deadlines.
bool differ_in_time_only(InitNews one, const InitNews& other) {
  one.until = other.until;
  if (one.wait && other.wait) one.wait->deadline = other.wait->deadline;
  return one == other;
}

}  // namespace

void InitMessages::note(const InitNews& news, Time now) {
  const InitNews before = std::exchange(news_, news);
  if (news.active && !before.active) newline_time_ = now;
  if (!before.vouched) next_beat_ = now;
  if (news.stopping) {
    newline_time_ = never;
    if (before.stopping) return;
    asked_until_ = Time{};
    return owe(stopping);
  }
  // A service that is not ready yet cannot be reloaded, so no reload begins before READY=1.
  const bool reload_begins = was_ready_ && news.reloads != before.reloads && !is_reloading_;
  if (news.active && !was_ready_) {
    was_ready_ = true;
    owe(ready);
  }
  if (reload_begins) {
    is_reloading_ = true;
    owe(reloading);
  }
  // The upgrade that init sees as a reload is over, and an agent works (`active`), so READY=1 must
  // follow. If RELOADING=1 still waits to be sent, READY=1 is sent after it.
  if (is_reloading_ && !news.reloading && news.active) {
    is_reloading_ = false;
    owe(ready);
  }
}

void InitMessages::owe(std::string_view message) {
  retry_time_ = Time{};
  if (message == stopping) owed_.clear();
  // If at least two messages wait when a reload begins, the last two are RELOADING=1 and READY=1 of
  // an earlier reload. Drop that READY=1, and add nothing: init then sees the two reloads as one
  // longer reload.
  if (message == reloading && owed_.size() >= 2) {
    owed_.pop_back();
  } else {
    owed_.push_back(message);
  }
}

void InitMessages::note_agent_status(Generation generation, const std::string& text) {
  speaker_ = generation;
  agent_status_ = text;
  agent_has_spoken_ = true;
}

// Returns the earliest time at which a message may be sent, unless it is READY=1 or STOPPING=1.
Time InitMessages::turn() const {
  const bool is_full = sent_at_.size() == paced_messages;
  return std::max(retry_time_, is_full ? sent_at_.front() + pace_interval : Time{});
}

Time InitMessages::next_time() const {
  if (!owed_.empty()) return owed_.front() == reloading ? turn() : retry_time_;
  if (agent_has_spoken_) return turn();
  if (news_ == told_) return never;
  if (!differ_in_time_only(news_, told_)) return turn();
  return std::max(turn(), told_at_ + time_news_interval);
}

InitMessage InitMessages::next(Time now, std::uint64_t microseconds) const {
  std::string needed(owed_.empty() ? "" : owed_.front());
  if (needed == reloading) needed += "MONOTONIC_USEC={}\n"_with(microseconds);
  needed += more_time(now);
  const std::string left = news_.until ? time_left(*news_.until, now) : "";
  const std::string status =
      "{}{}{}{}"_with(news_.status, left, agent_status_.empty() ? "" : "; ", agent_status_);
  return {"{}STATUS={}\n"_with(needed, escape(status, status_bytes_shown)), !needed.empty()};
}

void InitMessages::tried(const InitMessage& message, bool sent, Time now) {
  if (!sent && message.is_needed) {
    retry_time_ = now + full_retry_interval;
    return;
  }
  if (sent) sent_at_.push_back(now);
  if (sent_at_.size() > paced_messages) sent_at_.erase(sent_at_.begin());
  if (!owed_.empty()) owed_.erase(owed_.begin());
  if (!more_time(now).empty()) asked_until_ = news_.wait->deadline;
  told_ = news_;
  told_at_ = now;
  agent_has_spoken_ = false;
}

// Returns the text that asks init for more time; an empty text if init need not be asked. If an
// agent's `extend` moves the agent's deadline, init's own time limit must move, too. Once init has
// been asked, it waits only until the time in the latest request. So every later deadline of the
// same start or stop needs a new request.
std::string InitMessages::more_time(Time now) const {
  const std::optional<InitWait>& wait = news_.wait;
  // Init limits only the time until READY=1, and the time in which the service stops.
  if ((was_ready_ && !news_.stopping) || !wait) return "";
  const bool was_asked = asked_until_ != Time{};
  if (was_asked ? wait->deadline <= asked_until_ : !wait->extended) return "";
  const Duration left = std::max(Duration::zero(), wait->deadline - now) + end_margin;
  return "EXTEND_TIMEOUT_USEC={}\n"_with(std::chrono::microseconds(left).count());
}

}  // namespace upgrader

// Notifies init of the upgrader's state, by systemd's notification protocol, without its library:
//   READY=1                       an agent is active, and has said `healthy` if it can say so
//   STATUS=                       the state in words
//   RELOADING=1, then READY=1     an upgrade that no agent asked for begins and ends
//   STOPPING=1                    the upgrader is about to end
//   EXTEND_TIMEOUT_USEC=          an agent that init waits for was given more time
//   WATCHDOG=1                    all is well
// With --notify-fd, init is also told by one newline on a descriptor that an agent is active. If
// the socket has vanished, the messages are lost, without other effects. If the socket is full,
// READY=1, RELOADING=1, STOPPING=1 and EXTEND_TIMEOUT_USEC= are tried again. Other messages are not
// sent again, since the next message repeats their contents. Init gets at most ten messages a
// second.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <optional>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "base/time.h"
#include "upgrader/core/event.h"
#include "upgrader/core/init_news.h"

namespace upgrader {

// Minimum time between two messages that differ only in how much time is left.
inline constexpr Duration time_news_interval{1'000};
// The time after which READY=1, STOPPING=1, RELOADING=1, EXTEND_TIMEOUT_USEC= or the newline of
// --notify-fd is sent again if its socket or pipe was full.
inline constexpr Duration full_retry_interval{100};
// Init is asked to wait this much longer than the extended deadline. After the deadline the
// upgrader still has to end, and init may have learned of the deadline up to a second late.
inline constexpr Duration end_margin = Duration{1'000} + time_news_interval;

// WATCHDOG=1 is sent early, before work that may take long, but only if at least this time has
// passed since the last WATCHDOG=1.
inline constexpr Duration early_beat_interval{100};

// Takes over descriptor `number`, for --notify-fd. If the number is below `lowest`, moves the
// descriptor to `lowest` or above, since agents inherit the lower numbers. Returns a refusal if the
// descriptor cannot be written to.
[[nodiscard]] Result<OwnedFd> seize_for_readiness(int number, int lowest);

class InitSystem {
 public:
  // `notify_socket` is the value of NOTIFY_SOCKET: an absolute path, or an abstract name after "@".
  // If the value is null or has any other form, nothing is sent to a socket. `watchdog` is the
  // longest time between two WATCHDOG=1, or zero. `readiness` is the descriptor of --notify-fd, if
  // there is one.
  explicit InitSystem(const char* notify_socket, Duration watchdog = Duration::zero(),
                      OwnedFd readiness = {});

  [[nodiscard]] Duration watchdog() const { return watchdog_; }

  // Sends init what has changed since the last message, now or as soon as the limit of messages per
  // second allows. Never sends WATCHDOG=1, which may be sent only after all passed deadlines have
  // been handled: only the caller knows whether they have.
  void tell(const InitNews& news, Time now);
  // Sends the messages whose time has come. Also sends WATCHDOG=1, every half of the interval that
  // init allows, unless the active agent has missed its heartbeat.
  void tell_what_is_due(Time now);
  // Sends WATCHDOG=1 before it is due, for a caller that is about to do something that may take
  // long.
  void keep_alive_early(Time now);
  // Returns when tell_what_is_due() must be called next, or nothing if no message is due.
  [[nodiscard]] std::optional<Time> next_deadline() const;

  // Adds an agent's own status to STATUS=, until a different agent sends a status or forget_agent()
  // is called for this agent.
  void show_agent_status(Generation generation, const std::string& text, Time now);
  void forget_agent(Generation generation);

 private:
  // Messages that change init's behavior. None of them may be lost, and their order must be kept.
  enum class Owed { ready, reloading, stopping };

  void tell_news_due(Time now);
  [[nodiscard]] std::optional<Time> beat_time() const;
  void beat(Time now);
  [[nodiscard]] Duration beat_interval() const { return std::max(Duration{1}, watchdog_ / 2); }
  void note_what_is_owed(const InitNews& before);
  void owe(Owed what);
  [[nodiscard]] bool tell_what_is_owed(Time now);
  void tell_readiness(Time now);
  [[nodiscard]] std::optional<Time> news_time() const;
  [[nodiscard]] std::optional<Time> owed_time() const;
  [[nodiscard]] bool tell_all(Time now, const std::string& head);
  [[nodiscard]] std::string more_time(Time now) const;
  [[nodiscard]] std::string whole_status(Time now) const;
  [[nodiscard]] bool send(const std::string& text) const;

  OwnedFd socket_;
  sockaddr_un address_{};
  socklen_t address_bytes_ = 0;
  Duration watchdog_;
  OwnedFd readiness_;
  std::optional<Time> readiness_retry_;  // when to try readiness_ again; set while its pipe is full
  Time next_beat_{};                     // when to send WATCHDOG=1 again; the first is sent at once
  InitNews news_;                        // the facts that init should know now
  InitNews told_;                        // the facts that init was last sent
  Time told_at_{};
  bool agent_has_spoken_ = false;  // init has not been sent the newest status of an agent yet
  std::vector<Owed> owed_;         // messages that must not be lost, three at most
  // When to send the first of owed_, or a request for more time, again after the socket was full.
  std::optional<Time> full_retry_;
  Pace pace_;
  bool was_ready_ = false;     // READY=1 was sent, or is in owed_
  bool is_reloading_ = false;  // RELOADING=1 was sent or is in owed_, but not yet its READY=1
  Generation speaker_ = 0;
  std::string agent_status_;
};

}  // namespace upgrader

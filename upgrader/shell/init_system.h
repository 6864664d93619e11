// Notifies init of the upgrader's state, by systemd's notification protocol, without its library:
// - READY=1: an agent is active, and has said `healthy` if it has the feature readiness.
// - STATUS=: the state in words.
// - RELOADING=1: an upgrade that no agent asked for begins; READY=1 follows at its end.
// - STOPPING=1: the upgrader is about to end.
// - EXTEND_TIMEOUT_USEC=: an agent that init waits for was given more time.
// - WATCHDOG=1: all is well.
//
// With --notify-fd, one newline on a descriptor also tells init that an agent is active. If the
// socket is gone, the messages are lost, without other effects. init_messages.h decides which
// message is sent, and when.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <optional>
#include <string>

#include "base/owned_fd.h"
#include "base/result.h"
#include "base/time.h"
#include "upgrader/core/init_messages.h"
#include "upgrader/core/init_news.h"

namespace upgrader {

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

  [[nodiscard]] Duration watchdog() const { return messages_.watchdog(); }

  // Sends init what has changed since the last message, as soon as the limit of messages per second
  // allows. Does not send WATCHDOG=1: only the caller knows whether all passed deadlines have been
  // handled, and WATCHDOG=1 must not be sent before.
  void tell(const InitNews& news, Time now);
  // Sends the messages whose time has come. Also sends WATCHDOG=1, once in every half of the
  // interval that init allows, unless the active agent has missed its heartbeat.
  void tell_what_is_due(Time now);
  // Sends WATCHDOG=1 before it is due, for a caller that is about to do something that may take
  // long.
  void keep_alive_early(Time now);
  // Returns when tell_what_is_due() must be called next, or nothing if no message is due.
  [[nodiscard]] std::optional<Time> next_deadline() const;

  // Shows an agent's own status in STATUS= from now on, until a different agent sends a status or
  // forget_agent() is called for this agent.
  void show_agent_status(Generation generation, const std::string& text, Time now);
  void forget_agent(Generation generation) { messages_.forget_agent(generation); }

 private:
  void tell_news_due(Time now);
  void beat_if_due(Time due, Time now);
  [[nodiscard]] bool write_newline();
  [[nodiscard]] bool send(const std::string& text) const;

  OwnedFd socket_;
  sockaddr_un address_{};
  socklen_t address_bytes_ = 0;
  OwnedFd readiness_;
  InitMessages messages_;
};

}  // namespace upgrader

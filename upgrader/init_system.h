// Tells init how things stand, by systemd's notification protocol, without its library: READY=1
// once an agent is active, STATUS= in words, STOPPING=1, RELOADING=1 and READY=1 around an upgrade
// by a signal, EXTEND_TIMEOUT_USEC= when an agent that init waits for was given more time, and
// WATCHDOG=1 while all is well. And by one newline on a descriptor: readiness.h. What has vanished
// or is full costs the news, never service.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <optional>
#include <string>

#include "upgrader/event.h"
#include "upgrader/init_news.h"
#include "upgrader/owned_fd.h"
#include "upgrader/readiness.h"
#include "upgrader/time.h"

namespace upgrader {

// Slack between an extended deadline and our exit.
inline constexpr Duration end_margin{1'000};

// Minimum time between two WATCHDOG=1 that are sent before they are due.
inline constexpr Duration early_beat_interval{100};

class InitSystem {
 public:
  // `notify_socket` is the value of NOTIFY_SOCKET: an absolute path, or an abstract name behind
  // "@". Null, or a socket of another kind: nobody is told anything by it. `watchdog` is how far
  // apart WATCHDOG=1 may be, or zero.
  explicit InitSystem(const char* notify_socket, Duration watchdog = Duration::zero(),
                      Readiness readiness = {});

  [[nodiscard]] Duration watchdog() const { return watchdog_; }

  // Tells what has changed since the last time.
  void tell(const InitNews& news, Time now);

  // Sends WATCHDOG=1 if it is due: every half interval, while no active agent is silent.
  void keep_alive(Time now);
  [[nodiscard]] std::optional<Time> next_deadline() const;
  // Sends it before it is due, for a caller who is about to do something that may take long.
  void keep_alive_early(Time now);

  // Adds what an agent says of itself to the status, until one says something else or it has gone.
  void show_agent_status(Generation generation, const std::string& text, Time now);
  void forget_agent(Generation generation);

 private:
  [[nodiscard]] std::string state_of(const InitNews& before, Time now);
  [[nodiscard]] std::string more_time(const InitNews& before, Time now);
  [[nodiscard]] bool reload_is_over(const InitNews& before, Time now);
  void beat(Time now);
  [[nodiscard]] Duration beat_interval() const;
  void send(const std::string& text) const;
  [[nodiscard]] std::string whole_status(Time now) const;

  OwnedFd socket_;
  sockaddr_un address_{};
  socklen_t address_bytes_ = 0;
  Duration watchdog_;
  Readiness readiness_;
  Time next_beat_{};  // at once
  InitNews told_;
  bool ready_told_ = false;
  bool reloading_told_ = false;  // and not yet READY=1
  bool extended_ = false;        // what init waits for was given more time
  Generation speaker_ = 0;
  std::string agent_status_;
};

}  // namespace upgrader

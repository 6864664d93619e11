// Tells init how things stand, by systemd's notification protocol, without its library: READY=1
// once an agent is active, STATUS= in words, STOPPING=1. A socket that has vanished or is full
// costs the news, never service.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "upgrader/event.h"
#include "upgrader/init_news.h"
#include "upgrader/owned_fd.h"

namespace upgrader {

class InitSystem {
 public:
  // `notify_socket` is the value of NOTIFY_SOCKET: an absolute path, or an abstract name behind
  // "@". Null, or a socket of another kind: nobody is told anything.
  explicit InitSystem(const char* notify_socket);

  // Tells what has changed since the last time.
  void tell(const InitNews& news);

  // Adds what an agent says of itself to the status, until one says something else or it has gone.
  void show_agent_status(Generation generation, const std::string& text);
  void forget_agent(Generation generation);

 private:
  void send(const std::string& text) const;
  [[nodiscard]] std::string whole_status() const;

  OwnedFd socket_;
  sockaddr_un address_{};
  socklen_t address_bytes_ = 0;
  InitNews told_;
  bool ready_told_ = false;
  Generation speaker_ = 0;
  std::string agent_status_;
};

}  // namespace upgrader

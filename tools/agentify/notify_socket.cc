#include "tools/agentify/notify_socket.h"

#include "tools/agentify/process_list.h"

namespace agentify {

// Reads the next message. Identifies its sender first, and closes the descriptors that came with it
// afterwards, because a sender that waits for this close may exit right after it.
std::optional<NotifySocket::Received> NotifySocket::take(pid_t keeper) const {
  const auto datagram = listener_.receive(notify_bytes_max);
  if (!datagram) return std::nullopt;
  const pid_t sender = datagram->sender.pid;
  const bool known = sender > 0 && sender != keeper && descends_from(sender, keeper);
  if (!known) return Received{.message = {}, .stranger = sender == 0 ? -1 : sender};
  return Received{.message = parse_notify_message(datagram->text)};
}

}  // namespace agentify

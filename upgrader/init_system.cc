#include "upgrader/init_system.h"

#include <cstddef>
#include <cstring>

#include "upgrader/log.h"

namespace upgrader {
namespace {

// More than a line of a terminal holds is for the log.
constexpr std::size_t status_bytes_shown = 512;

}  // namespace

InitSystem::InitSystem(const char* notify_socket) {
  if (notify_socket == nullptr) return;
  const std::size_t size = std::strlen(notify_socket);
  const bool abstract = notify_socket[0] == '@';
  if ((!abstract && notify_socket[0] != '/') || size >= sizeof address_.sun_path) return;
  address_.sun_family = AF_UNIX;
  std::memcpy(address_.sun_path, notify_socket, size);
  if (abstract) address_.sun_path[0] = '\0';
  address_bytes_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size);
  socket_.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

void InitSystem::tell(const InitNews& news) {
  if (!socket_ || news == told_) return;
  std::string text;
  if (news.active && !ready_told_) text += "READY=1\n";
  if (news.stopping && !told_.stopping) text += "STOPPING=1\n";
  ready_told_ = ready_told_ || news.active;
  told_ = news;
  send(text + whole_status());
}

void InitSystem::forget_agent(Generation generation) {
  if (speaker_ == generation) agent_status_.clear();
}

void InitSystem::show_agent_status(Generation generation, const std::string& text) {
  speaker_ = generation;
  agent_status_ = text;
  if (socket_) send(whole_status());
}

std::string InitSystem::whole_status() const {
  const std::string agent = agent_status_.empty() ? "" : "; " + agent_status_;
  return "STATUS=" + escape(told_.status + agent, status_bytes_shown) + "\n";
}

// What cannot be told now is not told: the next news has it all again, but for READY and STOPPING,
// for which init has time limits of its own.
void InitSystem::send(const std::string& text) const {
  const auto* address = reinterpret_cast<const sockaddr*>(&address_);
  static_cast<void>(::sendto(socket_.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                             address, address_bytes_));
}

}  // namespace upgrader

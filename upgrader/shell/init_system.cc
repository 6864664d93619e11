#include "upgrader/shell/init_system.h"

#include <fcntl.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "upgrader/core/words.h"

namespace upgrader {

Result<OwnedFd> seize_for_readiness(int number, int lowest) {
  const int flags = ::fcntl(number, F_GETFL);
  if (flags < 0) return Refusal{in_words(SystemError{errno})};
  const int access = flags & O_ACCMODE;
  if (access != O_WRONLY && access != O_RDWR) return Refusal{"it is not open for writing"};
  OwnedFd original(number);
  if (number >= lowest) return original;
  OwnedFd moved(::fcntl(number, F_DUPFD_CLOEXEC, lowest));
  if (!moved) return Refusal{in_words(SystemError{errno})};
  return moved;
}

InitSystem::InitSystem(const char* notify_socket, Duration watchdog, OwnedFd readiness)
    : readiness_(std::move(readiness)), messages_(watchdog) {
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

void InitSystem::tell(const InitNews& news, Time now) {
  messages_.note(news, now);
  tell_news_due(now);
}

void InitSystem::tell_what_is_due(Time now) {
  tell_news_due(now);
  beat_if_due(messages_.beat_time(), now);
}

void InitSystem::keep_alive_early(Time now) {
  beat_if_due(messages_.early_beat_time(), now);
}

void InitSystem::show_agent_status(Generation generation, const std::string& text, Time now) {
  messages_.note_agent_status(generation, text);
  tell_news_due(now);
}

std::optional<Time> InitSystem::next_deadline() const {
  Time next = messages_.newline_time();
  if (socket_) next = std::min({next, messages_.next_time(), messages_.beat_time()});
  return next == InitMessages::never ? std::nullopt : std::optional(next);
}

void InitSystem::tell_news_due(Time now) {
  if (messages_.newline_time() <= now) messages_.newline_tried(write_newline(), now);
  while (socket_ && messages_.next_time() <= now) {
    const InitMessage message = messages_.next(now, uv_hrtime() / 1'000);
    messages_.tried(message, send(message.text), now);
  }
}

void InitSystem::beat_if_due(Time due, Time now) {
  if (socket_ && due <= now) messages_.beat_tried(send("WATCHDOG=1\n"), now);
}

// Writes one newline to the descriptor of --notify-fd, and closes the descriptor. The newline tells
// an init such as s6, dinit or finit that an agent is active. Never waits: returns false if the
// pipe is full. If nobody reads the pipe, the newline is lost.
bool InitSystem::write_newline() {
  if (!readiness_) return true;
  // Other processes may share the descriptor's flags, so O_NONBLOCK is set for this write only, and
  // the old flags are restored.
  const int flags = ::fcntl(readiness_.get(), F_GETFL);
  if (flags >= 0 && ::fcntl(readiness_.get(), F_SETFL, flags | O_NONBLOCK) == 0) {
    const bool full = ::write(readiness_.get(), "\n", 1) < 0 && errno == EAGAIN;
    ::fcntl(readiness_.get(), F_SETFL, flags);
    if (full) return false;
  }
  readiness_.reset();
  return true;
}

// Sends a message. Returns false if it was not sent but a later try may succeed, for example
// because the socket is full. After any other failure the message is lost, and the function returns
// true.
bool InitSystem::send(const std::string& text) const {
  const auto* address = reinterpret_cast<const sockaddr*>(&address_);
  const ssize_t sent = ::sendto(socket_.get(), text.data(), text.size(),
                                MSG_DONTWAIT | MSG_NOSIGNAL, address, address_bytes_);
  return sent >= 0 || (errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM && errno != EINTR);
}

}  // namespace upgrader

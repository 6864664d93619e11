#include "tools/agentify/notify_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "tools/agentify/process_list.h"

namespace agentify {
namespace {

// As many as the kernel lets anybody send at once (SCM_MAX_FD).
constexpr std::size_t descriptors_max = 253;

// What the kernel says of who sent a message: 0 where it says nothing.
pid_t sender_of(msghdr& message) {
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_CREDENTIALS) continue;
    ucred credentials{};
    std::memcpy(&credentials, CMSG_DATA(one), sizeof credentials);
    return credentials.pid;
  }
  return 0;
}

void close_descriptors_of(msghdr& message) {
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (one->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(one) + i * sizeof(int), sizeof descriptor);
      ::close(descriptor);
    }
  }
}

}  // namespace

bool NotifySocket::open() {
  upgrader::OwnedFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return false;
  const int on = 1;
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) return false;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Only the family: the kernel finds a name that nobody has.
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t)) != 0) {
    return false;
  }
  socklen_t size = sizeof address;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  const std::size_t begin = offsetof(sockaddr_un, sun_path) + 1;
  if (size <= begin) return false;
  name_ = "@" + std::string(address.sun_path + 1, size - begin);
  socket_ = std::move(socket);
  return true;
}

std::optional<NotifySocket::Received> NotifySocket::take(pid_t keeper) const {
  char text[notify_bytes_max];
  alignas(
      cmsghdr) char control[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int) * descriptors_max)];
  iovec part{.iov_base = text, .iov_len = sizeof text};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t count = 0;
  do {
    count = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return std::nullopt;
  // Judged before its descriptors are closed: a sender may wait for just that, and end then.
  const pid_t sender = sender_of(message);
  const bool known = sender > 0 && sender != keeper && descends_from(sender, keeper);
  close_descriptors_of(message);
  Received received;
  if (!known) {
    received.stranger = sender == 0 ? -1 : sender;
    return received;
  }
  received.message = parse_notify_message({text, static_cast<std::size_t>(count)});
  return received;
}

}  // namespace agentify

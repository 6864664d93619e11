#include "base/notify_listener.h"

#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace upgrader {
namespace {

// The most descriptors that the kernel lets a process send in one message (SCM_MAX_FD).
constexpr std::size_t descriptors_max = 253;

void take_descriptors(const cmsghdr& header, std::vector<OwnedFd>& descriptors) {
  const std::size_t count = (header.cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count; ++i) {
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(&header) + i * sizeof(int), sizeof descriptor);
    descriptors.emplace_back(descriptor);
  }
}

}  // namespace

bool NotifyListener::open() {
  OwnedFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
    return false;
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // An address without a name makes the kernel choose a free name.
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

std::optional<NotifyDatagram> NotifyListener::receive(std::size_t bytes_max) const {
  alignas(
      cmsghdr) char control[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int) * descriptors_max)];
  NotifyDatagram datagram;
  datagram.text.resize(bytes_max);
  iovec part{.iov_base = datagram.text.data(), .iov_len = bytes_max};
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
  datagram.text.resize(static_cast<std::size_t>(count));
  datagram.is_cut = (message.msg_flags & MSG_TRUNC) != 0;
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET) continue;
    if (one->cmsg_type == SCM_RIGHTS) take_descriptors(*one, datagram.descriptors);
    if (one->cmsg_type == SCM_CREDENTIALS) {
      std::memcpy(&datagram.sender, CMSG_DATA(one), sizeof datagram.sender);
    }
  }
  return datagram;
}

}  // namespace upgrader

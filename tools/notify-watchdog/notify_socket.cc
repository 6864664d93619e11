#include "tools/notify-watchdog/notify_socket.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/errno_name.h"
#include "tools/notify-watchdog/log.h"
#include "tools/notify-watchdog/words.h"

namespace notify_watchdog {
namespace {

// The most descriptors that one message may carry; the kernel's limit is called SCM_MAX_FD.
constexpr std::size_t descriptors_max = 253;

union Control {
  cmsghdr alignment;
  char bytes[CMSG_SPACE(sizeof(int) * descriptors_max)];
};

}  // namespace

bool NotifySocket::open(const char* outer) {
  if (!listener_.open()) return false;
  set_outer(outer);
  return true;
}

// Sets the address of init's socket: a path, or an abstract name, which begins with `@`. Addresses
// for virtual machines (vsock), which sd_notify(3) also allows, are refused.
void NotifySocket::set_outer(const char* outer) {
  if (outer == nullptr) return;
  const std::size_t size = std::strlen(outer);
  const bool abstract = outer[0] == '@';
  if ((!abstract && outer[0] != '/') || size >= sizeof outer_address_.sun_path) {
    log_line("NOTIFY_SOCKET is ignored: it is neither an absolute path nor an abstract name");
    return;
  }
  outer_address_.sun_family = AF_UNIX;
  std::memcpy(outer_address_.sun_path, outer, size);
  if (abstract) outer_address_.sun_path[0] = '\0';
  outer_bytes_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size);
  outer_.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

std::vector<Notification> NotifySocket::take() {
  std::vector<Notification> all;
  for (int i = 0; i < datagrams_in_turn; ++i) {
    auto datagram = listener_.receive(notification_bytes_max);
    if (!datagram) break;
    if (const auto notification = judge(*std::move(datagram))) all.push_back(*notification);
  }
  return all;
}

// Sends a datagram on to init, and returns it as a notification. Returns nothing, and sends
// nothing, if the datagram is too long, or if its sender is neither the child nor a process of root
// or of this user.
std::optional<Notification> NotifySocket::judge(Datagram datagram) {
  const ucred& sender = datagram.sender;
  if (!counts(sender.pid, sender.uid)) {
    if (!std::exchange(stranger_logged_, true)) {
      log_line(
          "a notification of process {} of user {} is ignored: it is neither the program "
          "nor this user's"_with(sender.pid, sender.uid));
    }
    return std::nullopt;
  }
  if (datagram.is_cut) {
    log_line("a notification of more than {} bytes is ignored"_with(notification_bytes_max));
    return std::nullopt;
  }
  const Notification notification = parse_notification(datagram.text);
  queue(std::move(datagram));
  return notification;
}

bool NotifySocket::counts(pid_t pid, uid_t uid) const {
  return pid == child_ || uid == 0 || uid == ::geteuid();
}

void NotifySocket::queue(Datagram datagram) {
  if (!outer_) return;
  if (waiting_.size() >= notifications_waiting_max) {
    if (!std::exchange(loss_logged_, true)) {
      log_line("init does not read its NOTIFY_SOCKET: notifications are lost");
    }
    return;
  }
  waiting_.push_back(std::move(datagram));
  pass_on();
}

void NotifySocket::pass_on() {
  while (!waiting_.empty() && send(waiting_.front())) {
    waiting_.erase(waiting_.begin());
    loss_logged_ = false;
  }
}

// Sends a notification to init. Returns false if init's socket has no room for it. If init's socket
// refuses the notification for any other reason, the notification is dropped.
bool NotifySocket::send(const Datagram& datagram) const {
  Control control{};
  iovec part{.iov_base = const_cast<char*>(datagram.text.data()), .iov_len = datagram.text.size()};
  msghdr message{};
  message.msg_name = const_cast<sockaddr_un*>(&outer_address_);
  message.msg_namelen = outer_bytes_;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!datagram.descriptors.empty()) {
    const std::size_t bytes = sizeof(int) * datagram.descriptors.size();
    message.msg_control = control.bytes;
    message.msg_controllen = static_cast<decltype(message.msg_controllen)>(CMSG_SPACE(bytes));
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = static_cast<decltype(header->cmsg_len)>(CMSG_LEN(bytes));
    for (std::size_t i = 0; i < datagram.descriptors.size(); ++i) {
      const int descriptor = datagram.descriptors[i].get();
      std::memcpy(CMSG_DATA(header) + i * sizeof(int), &descriptor, sizeof descriptor);
    }
  }
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(outer_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent >= 0 || (errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM);
}

}  // namespace notify_watchdog

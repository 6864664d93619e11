// agentify's connection to a keeper, the parent process of the daemon or of a command. Forks the
// keeper, sends orders to it, and receives its messages.
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "tools/agentify/keeper.h"

namespace agentify {
namespace {

using upgrader::OwnedFd;

// The pids of the keepers that abandon() has disconnected, and that have not been reaped yet. A
// keeper is a child of agentify, and the parent process of the daemon or of a command.
std::vector<pid_t>& abandoned() {
  static std::vector<pid_t> pids;
  return pids;
}

void reap_abandoned() {
  std::erase_if(abandoned(), [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
}

}  // namespace

bool KeeperHandle::fork_keeper(KeeperPlan plan) {
  reap_abandoned();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  OwnedFd ours(ends[0]);
  OwnedFd theirs(ends[1]);
  // The keeper keeps all signals blocked, so that no signal for agentify ends the keeper.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  pid_ = ::fork();
  if (pid_ == 0) become_keeper(std::move(plan), std::move(theirs));
  const int error = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  if (pid_ < 0) return false;
  socket_ = std::move(ours);
  return true;
}

// Sends an order to the keeper, the parent process of the daemon or of a command. First sends
// SIGCONT, because a signal may have stopped the keeper. If the order cannot be sent, closes the
// connection. The keeper then exits, and agentify notices the exit.
void KeeperHandle::order(Order order) const {
  if (pid_ > 0) ::kill(pid_, SIGCONT);
  const ssize_t sent = ::send(socket_.get(), &order, sizeof order, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent != sizeof order) ::shutdown(socket_.get(), SHUT_RDWR);
}

bool KeeperHandle::has_room() const {
  pollfd end{.fd = socket_.get(), .events = POLLOUT, .revents = 0};
  return ::poll(&end, 1, 0) > 0;
}

std::optional<News> KeeperHandle::take() {
  for (;;) {
    News news;
    const ssize_t count = ::recv(socket_.get(), &news, sizeof news, MSG_DONTWAIT);
    if (count == sizeof news) return news;
    if (count < 0 && errno == EINTR) continue;
    if (count >= 0 || errno != EAGAIN) over_ = true;
    return std::nullopt;
  }
}

void KeeperHandle::abandon() {
  socket_.reset();
  if (pid_ > 0) abandoned().push_back(std::exchange(pid_, -1));
  reap_abandoned();
}

void KeeperHandle::dismiss() {
  socket_.reset();
  if (pid_ > 0) {
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = -1;
}

}  // namespace agentify

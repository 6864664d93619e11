#include "tools/agentify/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/descriptors.h"
#include "tools/agentify/family.h"
#include "tools/agentify/last_words.h"

namespace agentify {
namespace {

// ---- closing the descriptors that the forked keeper should not have

// Closes all descriptors from 3 on, except those in `kept`.
void close_others(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned first = upgrader::first_passed_descriptor;
  const auto close_from_to = [](unsigned from, unsigned to) {
    if (from > to) return;
#ifdef SYS_close_range
    if (::syscall(SYS_close_range, from, to, 0) == 0) return;
#endif
    const long limit = ::sysconf(_SC_OPEN_MAX);
    const unsigned end = limit > 0 ? static_cast<unsigned>(limit) : 1U << 16;
    for (unsigned fd = from; fd <= to && fd < end; ++fd)
      ::close(static_cast<int>(fd));
  };
  for (const int fd : kept) {
    if (fd < upgrader::first_passed_descriptor) continue;
    close_from_to(first, static_cast<unsigned>(fd) - 1);
    first = static_cast<unsigned>(fd) + 1;
  }
  close_from_to(first, ~0U);
}

using upgrader::OwnedFd;

// While the log (standard error) accepts no more bytes, the keeper tries at this interval to write
// the daemon's output to it.
constexpr int log_interval_ms = 100;

// The interval at which the keeper tries to take the daemon's lock, while a process of an earlier
// daemon still holds this lock.
constexpr int lock_interval_ms = 5;

constexpr int without_limit = -1;

constexpr int microseconds_in_ms = 1000;

class Keeper {
 public:
  Keeper(KeeperPlan plan, OwnedFd socket, OutputRelay relay)
      : plan_(std::move(plan)), socket_(std::move(socket)), relay_(std::move(relay)) {}

  [[noreturn]] void run();

 private:
  enum class Phase { idle, locking, keeping, asking, sweeping, done };

  void wait();
  void take_orders();
  void obey(const Order& order);
  void try_start();
  void start();
  void adopt(pid_t pid);
  void send_to_main(int signal);
  void reap();
  void main_ended(const DaemonEnding& ending);
  void begin_sweep();
  void sweep();
  void tell(const News& news);
  void lose_agentify();
  [[noreturn]] void leave();

  KeeperPlan plan_;
  OwnedFd socket_;
  OutputRelay relay_;
  OwnedFd signals_;
  OwnedFd main_handle_;  // a pidfd of the main process if its parent is not the keeper
  Phase phase_ = Phase::idle;
  pid_t main_ = 0;
  bool told_that_it_waits_ = false;
  bool orphaned_ = false;
  Sweep sweep_;
};

void Keeper::run() {
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  signals_.reset(::signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC));
  // without this descriptor for SIGCHLD, the keeper would not notice that its children exit
  if (!signals_) ::_exit(1);
  for (;;) {
    wait();
    take_orders();
    if (relay_.source() >= 0) relay_.go_on();
    if (orphaned_ && phase_ != Phase::sweeping) lose_agentify();
    if (phase_ == Phase::locking) try_start();
    if (phase_ == Phase::keeping) reap();
    if (phase_ == Phase::sweeping) sweep();
  }
}

// Handles the exit of agentify. Writes the last lines of the daemon into the file of --last-words,
// because agentify may have been killed before it could write this file.
void Keeper::lose_agentify() {
  const bool has_daemon = phase_ == Phase::keeping || phase_ == Phase::asking;
  if (!has_daemon) leave();
  if (plan_.words != nullptr && !plan_.words_file.empty()) {
    static_cast<void>(write_last_words(*plan_.words, plan_.words_file));
  }
  begin_sweep();
}

void Keeper::leave() {
  relay_.finish();
  ::_exit(0);
}

void Keeper::wait() {
  pollfd watched[4] = {};
  watched[0] = {.fd = signals_.get(), .events = POLLIN, .revents = 0};
  watched[1] = {.fd = orphaned_ ? -1 : socket_.get(), .events = POLLIN, .revents = 0};
  watched[2] = {.fd = main_handle_.get(), .events = POLLIN, .revents = 0};
  watched[3] = {.fd = relay_.source(), .events = POLLIN, .revents = 0};
  int limit = orphaned_ ? 0 : without_limit;
  if (!orphaned_ && relay_.waits()) limit = log_interval_ms;
  if (phase_ == Phase::locking) limit = lock_interval_ms;
  if (phase_ == Phase::sweeping) limit = sweep_.interval_ms();
  ::poll(watched, 4, limit);
  signalfd_siginfo seen[8];
  while (::read(signals_.get(), seen, sizeof seen) > 0) {
  }
}

void Keeper::take_orders() {
  while (!orphaned_) {
    Order order;
    const ssize_t count = ::recv(socket_.get(), &order, sizeof order, MSG_DONTWAIT);
    if (count == sizeof order) {
      obey(order);
    } else if (count >= 0 || (errno != EINTR && errno != EAGAIN)) {
      orphaned_ = true;
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

void Keeper::obey(const Order& order) {
  switch (order.kind) {
    case Order::Kind::start:
      if (phase_ != Phase::idle) return;
      if (plan_.tells_watchdog && order.value > 0) {
        const auto microseconds = static_cast<long long>(order.value) * microseconds_in_ms;
        plan_.child.environment.push_back("WATCHDOG_USEC=" + std::to_string(microseconds));
      }
      phase_ = Phase::locking;
      return;
    case Order::Kind::cancel_start:
      if (phase_ != Phase::idle && phase_ != Phase::locking) return;
      phase_ = Phase::done;
      return tell({.kind = News::Kind::family_gone});
    case Order::Kind::signal:
      if (phase_ == Phase::keeping) send_to_main(order.value);
      return;
    case Order::Kind::adopt:
      if (phase_ == Phase::keeping || phase_ == Phase::asking) adopt(order.value);
      return;
    case Order::Kind::kill_family:
      if (phase_ == Phase::keeping || phase_ == Phase::asking) begin_sweep();
      return;
  }
}

void Keeper::try_start() {
  // Do not start the daemon if agentify has exited: poll() then reports POLLHUP for the socket.
  pollfd end{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&end, 1, 0) > 0 && (end.revents & POLLHUP) != 0) return;
  const int error = plan_.lock.try_take();
  if (error == EWOULDBLOCK) {
    if (std::exchange(told_that_it_waits_, true)) return;
    return tell({.kind = News::Kind::waits, .value = plan_.lock.holder()});
  }
  if (error != 0) {
    phase_ = Phase::done;
    return tell({.kind = News::Kind::refused, .value = error, .by_lock = true});
  }
  start();
}

void Keeper::start() {
  const StartedChild started = start_child(*plan_.program, plan_.child);
  // Through the readiness pipe, the daemon reports that it is ready. Close the keeper's copy of the
  // writing end. After that, only the daemon has the writing end, so agentify sees the end of the
  // pipe when the daemon exits.
  if (plan_.child.ready_pipe >= 0) ::close(plan_.child.ready_pipe);
  if (started.pid < 0) {
    plan_.lock.release();
    phase_ = Phase::done;
    return tell({.kind = News::Kind::refused, .value = started.error});
  }
  main_ = started.pid;
  phase_ = Phase::keeping;
  tell({.kind = News::Kind::started, .value = main_});
}

// Makes the process `pid` the daemon's main process, if it descends from the keeper. If this
// process is not a child of the keeper, opens a pidfd, because wait(2) cannot report the exit of
// such a process. Does nothing if `pid` has exited and the daemon still has a main process.
void Keeper::adopt(pid_t pid) {
  if (phase_ == Phase::keeping && (pid == main_ || !is_living(pid))) return;
  if (pid == ::getpid() || !descends_from(pid, ::getpid())) {
    if (phase_ == Phase::asking) main_ended(DaemonEnding{});
    return;
  }
  main_ = pid;
  main_handle_.reset();
  phase_ = Phase::keeping;
  siginfo_t info{};
  const bool child =
      ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
#ifdef SYS_pidfd_open
  if (!child) main_handle_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
#else
  static_cast<void>(child);
#endif
}

// Sends a signal to the main process. The signal must not reach a foreign process to which the
// kernel has given the same pid after the main process exited. This cannot happen to a child of
// the keeper, which keeps its pid until the keeper reaps it. To any other main process, the signal
// is sent through a pidfd if the kernel has pidfds.
void Keeper::send_to_main(int signal) {
#ifdef SYS_pidfd_send_signal
  if (main_handle_) {
    ::syscall(SYS_pidfd_send_signal, main_handle_.get(), signal, nullptr, 0);
    return;
  }
#endif
  if (!descends_from(main_, ::getpid())) return;
  ::kill(main_, signal);
}

void Keeper::reap() {
  for (;;) {
    siginfo_t found{};
    const int error = ::waitid(P_ALL, 0, &found, WEXITED | WNOHANG | WNOWAIT) == 0 ? 0 : errno;
    if (error == EINTR) continue;
    if (error != 0 || found.si_pid == 0) break;
    int status = 0;
    const pid_t pid = found.si_pid;
    if (::waitpid(pid, &status, 0) != pid || pid != main_) continue;
    DaemonEnding ending;
    if (WIFEXITED(status)) ending = {DaemonEnding::How::exited, WEXITSTATUS(status)};
    if (WIFSIGNALED(status)) ending = {DaemonEnding::How::signalled, WTERMSIG(status)};
    return main_ended(ending);
  }
  pollfd handle{.fd = main_handle_.get(), .events = POLLIN, .revents = 0};
  if (main_handle_ && ::poll(&handle, 1, 0) > 0) main_ended(DaemonEnding{});
}

// Reports the exit of the daemon's main process to agentify, which answers with an order: either a
// different process is the main process now, or all processes must be killed. Until this order
// comes, the keeper reaps no child, so that it cannot miss the exit of the new main process.
void Keeper::main_ended(const DaemonEnding& ending) {
  main_handle_.reset();
  phase_ = Phase::asking;
  // Pass the last output of the daemon on to the log.
  if (relay_.source() >= 0) relay_.go_on();
  tell({.kind = News::Kind::ended,
        .value = ending.value,
        .how = static_cast<int>(ending.how),
        .heir = find_heir(::getpid())});
}

// Begins to kill all processes of the daemon. Closes the pidfd of the main process: after the exit
// of the main process the pidfd stays readable, so wait(), which polls it, would always return
// immediately.
void Keeper::begin_sweep() {
  main_handle_.reset();
  phase_ = Phase::sweeping;
}

void Keeper::sweep() {
  if (!sweep_.round()) return;
  plan_.lock.release();
  if (orphaned_) leave();
  phase_ = Phase::done;
  tell({.kind = News::Kind::family_gone, .value = sweep_.killed()});
}

// Sends a message to agentify. If that fails, the keeper acts as if agentify had exited, because
// otherwise agentify would wait for the message for ever.
void Keeper::tell(const News& news) {
  const ssize_t sent = ::send(socket_.get(), &news, sizeof news, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent != sizeof news) orphaned_ = true;
}

}  // namespace

void become_keeper(KeeperPlan plan, OwnedFd socket) {
  ::prctl(PR_SET_NAME, plan.name);
  // As a subreaper, the keeper becomes the parent of the daemon's orphans, instead of init.
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) ::_exit(1);
  if (plan.closes_input) {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || ::dup2(null, 0) < 0) ::_exit(1);
    if (null > 2) ::close(null);
    ::dup2(plan.output >= 0 ? plan.output : 2, 1);
    if (plan.output >= 0) ::dup2(plan.output, 2);
  }
  OutputRelay relay;
  if (plan.words != nullptr && !relay.begin(plan.words)) ::_exit(1);
  std::vector<int> kept = {socket.get(), plan.program->descriptor.get(), plan.child.ready_pipe,
                           relay.source(), relay.sink()};
  for (int i = 0; i < plan.child.passed; ++i)
    kept.push_back(upgrader::first_passed_descriptor + i);
  // The child makes its readiness pipe a copy with this number. If the number were free, a file
  // that the keeper opens, such as the lock, could get it, and the child would lose that file.
  if (plan.child.ready_pipe >= 0) kept.push_back(plan.child.ready_descriptor);
  close_others(std::move(kept));
  Keeper(std::move(plan), std::move(socket), std::move(relay)).run();
}

}  // namespace agentify

#include "tools/notify-watchdog/loop.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <optional>
#include <variant>

#include "base/errno_name.h"
#include "base/owned_fd.h"
#include "tools/notify-watchdog/child.h"
#include "tools/notify-watchdog/device.h"
#include "tools/notify-watchdog/guard.h"
#include "tools/notify-watchdog/log.h"
#include "tools/notify-watchdog/notify_socket.h"
#include "tools/notify-watchdog/words.h"

namespace notify_watchdog {
namespace {

using upgrader::OwnedFd;
using upgrader::SystemError;

Time now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::chrono::duration_cast<Time>(std::chrono::seconds(time.tv_sec) +
                                          std::chrono::nanoseconds(time.tv_nsec));
}

// Opens a descriptor for all signals except those of our own crashes. Sets `before` to the signals
// that init had blocked.
OwnedFd open_signals(sigset_t& before) {
  sigset_t all;
  ::sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
    ::sigdelset(&all, fault);
  if (::sigprocmask(SIG_SETMASK, &all, &before) != 0) return {};
  // If init had set SIGCHLD to be ignored, the kernel would reap the child, and nobody would learn
  // how it ended.
  ::signal(SIGCHLD, SIG_DFL);
  return OwnedFd(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
}

class Loop {
 public:
  Loop(const Options& options, Device& device, NotifySocket& notify, const OwnedFd& signals,
       pid_t child)
      : device_(device),
        notify_(notify),
        signals_(signals),
        child_(child),
        guard_({.device_timeout = device.timeout(),
                .start_timeout = options.start_timeout,
                .stop_timeout = options.stop_timeout},
               now()) {
    feed(DeviceChanged{device_.is_armed()});
  }

  int run() {
    while (!leave_) {
      wait();
      // Notifications that the child has sent are handled before its end, and before any deadline.
      for (const Notification& notification : notify_.take())
        feed(Notified{notification});
      notify_.pass_on();
      read_signals();
      if (const auto ended = reap(child_); ended && !leave_) {
        for (const Notification& notification : notify_.take())
          feed(Notified{notification});
        feed(*ended);
      }
      if (!leave_) feed(TimePassed{});
    }
    if (leave_->stop_device) device_.stop();
    return leave_->status;
  }

 private:
  void wait() {
    pollfd all[] = {{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                    {.fd = notify_.descriptor(), .events = POLLIN, .revents = 0},
                    {.fd = notify_.outer_awaited(), .events = POLLOUT, .revents = 0}};
    int timeout = -1;
    if (const auto deadline = guard_.next_deadline()) {
      const auto left = std::clamp((*deadline - now()).count(), Time::rep{0}, Time::rep{INT_MAX});
      timeout = static_cast<int>(left);
    }
    ::poll(all, 3, timeout);
  }

  void read_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
      const int number = static_cast<int>(info.ssi_signo);
      // Two kinds of signals are not passed on to the child. One is a SIGPIPE that our own write
      // has caused. The other is a signal from the terminal, which goes to the whole process group,
      // and so reaches the child anyway.
      const bool of_terminal = info.ssi_code == SI_KERNEL && ::getpgid(child_) == ::getpgrp();
      if (number == SIGCHLD || info.ssi_pid == static_cast<unsigned>(::getpid())) continue;
      feed(SignalArrived{number}, !of_terminal);
    }
  }

  void feed(const Event& event, bool passes_on = true) {
    for (const Action& action : guard_.step(event, now())) {
      if (std::holds_alternative<Feed>(action)) {
        device_.feed();
        feed(DeviceChanged{device_.is_armed()});
      }
      if (const auto* line = std::get_if<Log>(&action)) log_line(line->text);
      if (const auto* last = std::get_if<Leave>(&action)) leave_ = *last;
      const auto* signal = std::get_if<PassOnSignal>(&action);
      if (signal != nullptr && passes_on) ::kill(child_, signal->number);
    }
  }

  Device& device_;
  NotifySocket& notify_;
  const OwnedFd& signals_;
  pid_t child_;
  Guard guard_;
  std::optional<Leave> leave_;
};

int fail(const std::string& what, int error, int status) {
  log_line("{}: {}"_with(what, in_words(SystemError{error})));
  return status;
}

}  // namespace

int watch(const Options& options) {
  ChildSetting setting;
  const OwnedFd signals = open_signals(setting.mask);
  if (!signals) return fail("cannot read signals", errno, exit_failed);
  NotifySocket notify;
  if (!notify.open(std::getenv("NOTIFY_SOCKET"))) {
    return fail("cannot make a notification socket", errno, exit_failed);
  }
  Device device(options.device, options.timeout);
  setting.notify_socket = notify.name();
  setting.watchdog = std::min(device.timeout(), watchdog_of_init().value_or(device.timeout()));
  const auto started = start_child(options.command, setting);
  if (const auto* failed = std::get_if<StartFailed>(&started)) {
    const int status = failed->error == ENOENT ? exit_not_found : exit_not_executable;
    return fail(options.command.front(), failed->error, status);
  }
  notify.set_child(std::get<pid_t>(started));
  return Loop(options, device, notify, signals, std::get<pid_t>(started)).run();
}

}  // namespace notify_watchdog

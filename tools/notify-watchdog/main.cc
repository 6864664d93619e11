// notify-watchdog: feeds a hardware watchdog for a program that uses systemd's notification
// protocol. See notify-watchdog(8). The event loop turns notifications, signals and deadlines into
// events for the guard (guard.h), and performs the actions that the guard returns.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/descriptors.h"
#include "base/directory.h"
#include "base/errno_name.h"
#include "base/number.h"
#include "base/owned_fd.h"
#include "base/pointers.h"
#include "tools/notify-watchdog/device.h"
#include "tools/notify-watchdog/guard.h"
#include "tools/notify-watchdog/log.h"
#include "tools/notify-watchdog/notify_socket.h"
#include "tools/notify-watchdog/options.h"
#include "tools/notify-watchdog/words.h"

namespace notify_watchdog {
namespace {

constexpr int exit_failed = 125;
constexpr int exit_not_executable = 126;
constexpr int exit_not_found = 127;

// ---- the start and the end of the watched program, which is called the child below

// The environment variables of the child that differ from those of notify-watchdog, and the child's
// signal mask.
struct ChildSetting {
  std::string notify_socket;
  Duration watchdog{};
  sigset_t mask{};  // the signals that init had blocked for notify-watchdog
};

// The child could not be started. `error` is the errno value of the fork or the exec.
struct StartFailed {
  int error = 0;
};

using upgrader::OwnedFd;

// The size of a buffer for a process id in decimal digits and a NUL.
constexpr std::size_t pid_bytes = 12;

std::optional<std::int64_t> number_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::nullopt : upgrader::whole_number(value);
}

// The variables of init that the child does not inherit. NOTIFY_SOCKET and the two for the watchdog
// get new values for the child. LISTEN_PIDFDID identifies the process to which init has passed the
// sockets. That process is this one, so the value would be wrong in the child.
constexpr std::string_view left_out[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
                                         "LISTEN_PIDFDID"};

// The environment of the child. It has room for the child's pid, which the child itself writes.
class Environment {
 public:
  explicit Environment(const ChildSetting& setting) {
    const bool has_sockets = number_of("LISTEN_PID") == ::getpid();
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view whole = *entry;
      const std::string_view name = whole.substr(0, whole.find('='));
      if (std::ranges::count(left_out, name) > 0) continue;
      if (name == "LISTEN_PID" && has_sockets) continue;
      entries_.emplace_back(whole);
    }
    const auto microseconds = std::chrono::microseconds(setting.watchdog).count();
    entries_.push_back("NOTIFY_SOCKET=" + setting.notify_socket);
    entries_.push_back("WATCHDOG_USEC={}"_with(microseconds));
    const std::size_t first_pid = entries_.size();
    entries_.emplace_back("WATCHDOG_PID=");
    if (has_sockets) entries_.emplace_back("LISTEN_PID=");
    for (std::size_t i = first_pid; i < entries_.size(); ++i)
      entries_[i].append(pid_bytes, '\0');
    pointers_ = upgrader::pointers_to(entries_);
    for (std::size_t i = first_pid; i < entries_.size(); ++i)
      pids_.push_back(entries_[i].data() + entries_[i].find('=') + 1);
  }

  void write_pid(pid_t pid) {
    char digits[pid_bytes];
    std::size_t count = 0;
    for (pid_t rest = pid; rest > 0 && count < pid_bytes - 1; rest /= 10)
      digits[count++] = static_cast<char>('0' + rest % 10);
    for (char* const text : pids_)
      std::reverse_copy(digits, digits + count, text);
  }
  [[nodiscard]] char** pointers() { return pointers_.data(); }

 private:
  std::vector<std::string> entries_;
  std::vector<char*> pointers_;
  std::vector<char*> pids_;
};

[[noreturn]] void run_child(char* const* argv, Environment& environment, const sigset_t& mask,
                            pid_t parent, int report) {
  environment.write_pid(::getpid());
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  // prctl() makes the kernel send SIGTERM when the parent dies. If the parent died before this
  // call, no SIGTERM comes, so exit here.
  if (::getppid() != parent) ::_exit(1);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execvpe(argv[0], argv, environment.pointers());
  const int error = errno;
  const ssize_t written = ::write(report, &error, sizeof error);
  ::_exit(written == sizeof error ? 1 : 2);
}

[[nodiscard]] std::variant<pid_t, StartFailed> start_child(const std::vector<std::string>& command,
                                                           const ChildSetting& setting) {
  const std::vector<char*> argv = upgrader::pointers_to(command);
  Environment environment(setting);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return StartFailed{errno};
  const OwnedFd from(ends[0]);
  OwnedFd report(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return StartFailed{errno};
  if (child == 0) run_child(argv.data(), environment, setting.mask, parent, report.get());
  report.reset();
  int error = 0;
  ssize_t count = 0;
  do {
    count = ::read(from.get(), &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  if (count != sizeof error) return child;
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return StartFailed{error};
}

// Reaps all children that have exited; if notify-watchdog is process 1, these include orphans.
// Returns how `child` exited, or nothing if `child` still runs.
[[nodiscard]] std::optional<ChildEnded> reap(pid_t child) {
  std::optional<ChildEnded> ended;
  for (;;) {
    int status = 0;
    const pid_t reaped = ::waitpid(-1, &status, WNOHANG);
    if (reaped < 0 && errno == EINTR) continue;
    if (reaped <= 0) return ended;
    if (reaped != child) continue;
    if (WIFEXITED(status)) ended = ChildEnded{ChildEnded::How::exited, WEXITSTATUS(status)};
    if (WIFSIGNALED(status)) ended = ChildEnded{ChildEnded::How::killed, WTERMSIG(status)};
  }
}

// Returns the interval in which init expects WATCHDOG=1 from notify-watchdog itself, or nothing if
// init does not expect WATCHDOG=1.
[[nodiscard]] std::optional<Duration> watchdog_of_init() {
  const std::optional<std::int64_t> microseconds = number_of("WATCHDOG_USEC");
  if (!microseconds || *microseconds == 0) return std::nullopt;
  if (std::getenv("WATCHDOG_PID") != nullptr && number_of("WATCHDOG_PID") != ::getpid()) {
    return std::nullopt;
  }
  const auto wanted =
      std::chrono::duration_cast<Duration>(std::chrono::microseconds(*microseconds));
  return std::max(wanted, Duration{1});
}

// ---- the event loop

using upgrader::SystemError;

Time now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::chrono::duration_cast<Time>(std::chrono::seconds(time.tv_sec) +
                                          std::chrono::nanoseconds(time.tv_nsec));
}

// Blocks all signals except those of crashes, such as SIGSEGV, and opens a descriptor that reports
// the blocked signals. Sets `before` to the signals that were blocked at the start, by init.
OwnedFd open_signals(sigset_t& before) {
  sigset_t all;
  ::sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
    ::sigdelset(&all, fault);
  if (::sigprocmask(SIG_SETMASK, &all, &before) != 0) return {};
  // If init has set SIGCHLD to be ignored, the kernel itself would reap the child, and
  // notify-watchdog could not find out how the child exited.
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
      // Handle notifications before the child's exit and before a deadline, because the child may
      // have sent them before it exited and before the deadline.
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
                    {.fd = notify_.descriptor(), .events = POLLIN, .revents = 0}};
    std::optional<Time> end = guard_.next_deadline();
    if (notify_.waits()) end = upgrader::earlier_of(end, now() + pass_on_interval);
    int timeout = -1;
    if (end) {
      const auto left = std::clamp((*end - now()).count(), Time::rep{0}, Time::rep{INT_MAX});
      timeout = static_cast<int>(left);
    }
    ::poll(all, 2, timeout);
  }

  void read_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
      const int number = static_cast<int>(info.ssi_signo);
      // Two kinds of signals are not passed on to the child. One is a SIGPIPE that a write of this
      // process has caused. The other is a signal from the terminal: the terminal sends its signals
      // to the complete process group, so the child gets them anyway.
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

// Runs the program until it has exited, and feeds the watchdog device meanwhile, as long as the
// program says that it works. Returns the exit status for notify-watchdog.
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

// ---- the command line

int print(const std::string& text) {
  const int error = upgrader::write_all(STDOUT_FILENO, text);
  return error == 0 ? 0 : fail("cannot write standard output", error, exit_failed);
}

int perform(const CommandLine& line) {
  if (std::holds_alternative<HelpWanted>(line)) return print(help_text());
  if (std::holds_alternative<VersionWanted>(line)) return print(version_text());
  if (const auto* wrong = std::get_if<UsageError>(&line)) {
    log_line(wrong->reason);
    return exit_failed;
  }
  return watch(std::get<Options>(line));
}

}  // namespace
}  // namespace notify_watchdog

int main(int argc, char** argv) {
  if (upgrader::open_standard_descriptors() != 0) return notify_watchdog::exit_failed;
  return notify_watchdog::perform(notify_watchdog::parse_command_line(argc, argv));
}

#include "tools/notify-watchdog/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/number.h"
#include "base/owned_fd.h"
#include "tools/notify-watchdog/words.h"

namespace notify_watchdog {
namespace {

using upgrader::OwnedFd;

// The number of bytes for a process id in decimal and a NUL.
constexpr std::size_t pid_bytes = 12;

std::optional<std::int64_t> number_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::nullopt : upgrader::whole_number(value);
}

// The child's environment, with room for its process id, which only the child knows.
class Environment {
 public:
  explicit Environment(const ChildSetting& setting) {
    const bool has_sockets = number_of("LISTEN_PID") == ::getpid();
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view whole = *entry;
      const std::string_view name = whole.substr(0, whole.find('='));
      if (name == "NOTIFY_SOCKET" || name == "WATCHDOG_USEC" || name == "WATCHDOG_PID") continue;
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
    for (std::string& entry : entries_)
      pointers_.push_back(entry.data());
    for (std::size_t i = first_pid; i < entries_.size(); ++i)
      pids_.push_back(entries_[i].data() + entries_[i].find('=') + 1);
    pointers_.push_back(nullptr);
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
  // the parent has died before prctl() took effect, so it will cause no SIGTERM
  if (::getppid() != parent) ::_exit(1);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execvpe(argv[0], argv, environment.pointers());
  const int error = errno;
  const ssize_t written = ::write(report, &error, sizeof error);
  ::_exit(written == sizeof error ? 1 : 2);
}

}  // namespace

std::variant<pid_t, StartFailed> start_child(const std::vector<std::string>& command,
                                             const ChildSetting& setting) {
  std::vector<char*> argv;
  for (const std::string& word : command)
    argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
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

std::optional<ChildEnded> reap(pid_t child) {
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

std::optional<Duration> watchdog_of_init() {
  const std::optional<std::int64_t> microseconds = number_of("WATCHDOG_USEC");
  if (!microseconds || *microseconds == 0) return std::nullopt;
  if (std::getenv("WATCHDOG_PID") != nullptr && number_of("WATCHDOG_PID") != ::getpid()) {
    return std::nullopt;
  }
  const auto wanted =
      std::chrono::duration_cast<Duration>(std::chrono::microseconds(*microseconds));
  return std::max(wanted, Duration{1});
}

}  // namespace notify_watchdog

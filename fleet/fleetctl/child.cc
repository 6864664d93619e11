#include "fleet/fleetctl/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>
#include <string_view>

#include "base/owned_fd.h"
#include "base/pointers.h"
#include "fleet/common/log_line.h"
#include "fleet/common/text_file.h"

namespace fleetctl {
namespace {

constexpr int status_not_executed = 127;

// Executes the program in the child process. Only async-signal-safe functions may be called here,
// after fork. Writes errno to the pipe `failed` if exec fails; a successful exec closes the pipe.
[[noreturn]] void become(char* const* argv, char* const* envp, int in, int log, int failed,
                         pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const bool is_set =
      ::getppid() == parent && ::dup2(in, 0) == 0 && ::dup2(log, 1) == 1 && ::dup2(log, 2) == 2;
  if (is_set) ::execve(argv[0], argv, envp);
  const int error = errno;
  static_cast<void>(::write(failed, &error, sizeof error) == sizeof error);
  ::_exit(status_not_executed);
}

// Returns the environment of the child: the variables in `terms`, and this process's own except
// `ETCD_*`, which the user may have set for another etcd.
std::vector<std::string> environment_for(const ChildTerms& terms) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("ETCD_")) environment.emplace_back(*entry);
  }
  environment.insert(environment.end(), terms.environment.begin(), terms.environment.end());
  return environment;
}

upgrader::Ending ending_of(int status) {
  using How = upgrader::Ending::How;
  if (WIFEXITED(status)) return {How::exited, WEXITSTATUS(status)};
  if (WIFSIGNALED(status)) return {How::signalled, WTERMSIG(status)};
  return {};
}

}  // namespace

ChildStarted start_child(const ChildTerms& terms) {
  const std::vector<std::string> environment = environment_for(terms);
  const std::vector<char*> argv = upgrader::pointers_to(terms.arguments);
  const std::vector<char*> envp = upgrader::pointers_to(environment);

  const upgrader::OwnedFd in(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const upgrader::OwnedFd log(
      ::open(terms.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  int ends[2];
  if (!in || !log) return {.error = terms.log + ": " + std::strerror(errno)};
  if (::pipe2(ends, O_CLOEXEC) != 0) return {.error = std::strerror(errno)};
  const upgrader::OwnedFd heard(ends[0]);
  upgrader::OwnedFd failed(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return {.error = std::strerror(errno)};
  if (pid == 0) become(argv.data(), envp.data(), in.get(), log.get(), failed.get(), parent);
  failed.reset();
  int error = 0;
  if (::read(heard.get(), &error, sizeof error) != sizeof error) return {.pid = pid};
  ::waitpid(pid, nullptr, 0);
  return {.error = terms.arguments.front() + ": " + std::strerror(error)};
}

std::string run_child(const ChildTerms& terms) {
  const ChildStarted started = start_child(terms);
  if (started.pid < 0) return started.error;
  int status = 0;
  while (::waitpid(started.pid, &status, 0) < 0 && errno == EINTR) {
  }
  const upgrader::Ending ending = ending_of(status);
  if (ending.how == upgrader::Ending::How::exited && ending.value == 0) return "";
  return terms.arguments.front() + " " + in_words(ending) + ": " +
         fleet::last_line(fleet::content_of_file(terms.log));
}

std::optional<ChildEnded> reap_child(bool& none_left) {
  int status = 0;
  const pid_t pid = ::waitpid(-1, &status, WNOHANG);
  none_left = pid < 0 && errno == ECHILD;
  if (pid <= 0) return std::nullopt;
  return ChildEnded{pid, ending_of(status)};
}

void kill_children() {
  const std::string own = std::to_string(::getpid());
  std::istringstream children(fleet::content_of_file("/proc/self/task/" + own + "/children"));
  pid_t pid = 0;
  while (children >> pid) {
    ::kill(pid, SIGKILL);
  }
}

}  // namespace fleetctl

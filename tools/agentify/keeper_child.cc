// Starts the program that a keeper runs: the daemon, or a command. The program gets a session of
// its own, the default actions for signals, and only those descriptors that are meant for it.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string_view>

#include "base/descriptors.h"
#include "base/owned_fd.h"
#include "base/pointers.h"
#include "tools/agentify/keeper.h"

namespace agentify {
namespace {

using upgrader::ExecutableKind;
using upgrader::OwnedFd;
using upgrader::Program;

constexpr std::string_view listen_pid_name = "LISTEN_PID=";

// The size of a buffer for a process id in decimal digits and a NUL.
constexpr std::size_t pid_text_bytes = 12;

// The arrays `argv` and `envp` for the exec of a child, made before the fork.
class Vectors {
 public:
  Vectors(const Program& program, const ChildSetting& setting) : entries_(setting.environment) {
    argv_.push_back(const_cast<char*>(program.name.c_str()));
    for (const std::string& arg : program.args)
      argv_.push_back(const_cast<char*>(arg.c_str()));
    argv_.push_back(nullptr);
    if (setting.listen_pid) {
      std::string& entry = entries_[*setting.listen_pid];
      entry.assign(listen_pid_name);
      entry.append(pid_text_bytes, '\0');
      pid_text_ = entry.data() + listen_pid_name.size();
    }
    envp_ = upgrader::pointers_to(entries_);
  }
  Vectors(const Vectors&) = delete;
  Vectors& operator=(const Vectors&) = delete;

  [[nodiscard]] char* const* argv() const { return argv_.data(); }
  [[nodiscard]] char* const* envp() const { return envp_.data(); }
  void write_pid(pid_t pid) const {
    if (pid_text_ != nullptr) std::to_chars(pid_text_, pid_text_ + pid_text_bytes, pid);
  }

 private:
  std::vector<std::string> entries_;
  std::vector<char*> argv_;
  std::vector<char*> envp_;
  char* pid_text_ = nullptr;
};

// ---- functions that run in the child before it executes the program

bool reset_signals() {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  for (int number = 1; number < _NSIG; ++number)
    // This call fails for signals such as SIGKILL. That does no harm, because they always have
    // their default action.
    ::sigaction(number, &by_default, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  return ::sigprocmask(SIG_SETMASK, &none, nullptr) == 0;
}

bool put_descriptors_in_place(const ChildSetting& setting) {
  if (setting.ready_pipe >= 0 && ::dup2(setting.ready_pipe, setting.ready_descriptor) < 0) {
    return false;
  }
  const int first = upgrader::first_passed_descriptor;
  for (int fd = first; fd < first + setting.passed; ++fd) {
    if (::fcntl(fd, F_SETFD, 0) != 0) return false;
  }
  return true;
}

enum class By { path, descriptor };

int execute(const Program& program, const Vectors& vectors, By by) {
  if (by == By::path) {
    ::execve(program.path.c_str(), vectors.argv(), vectors.envp());
  } else {
    ::syscall(SYS_execveat, program.descriptor.get(), "", vectors.argv(), vectors.envp(),
              AT_EMPTY_PATH);
  }
  return errno;
}

[[noreturn]] void run_child(const Program& program, const Vectors& vectors,
                            const ChildSetting& setting, By by, int report, pid_t parent) {
  vectors.write_pid(::getpid());
  if (setting.death_signal != 0) ::prctl(PR_SET_PDEATHSIG, setting.death_signal);
  if (::getppid() != parent) ::_exit(2);  // the parent has died, so nobody would watch the program
  int error = 0;
  if (::setsid() >= 0 && reset_signals() && put_descriptors_in_place(setting)) {
    error = execute(program, vectors, by);
  } else {
    error = errno;
  }
  [[maybe_unused]] const ssize_t written = ::write(report, &error, sizeof error);
  ::_exit(2);
}

// ---- functions that run in the parent process of the started program

// Waits until the child has executed the program. Returns 0, or the errno value that the child
// reports after a failure.
int error_of(const OwnedFd& report) {
  int error = 0;
  for (;;) {
    const ssize_t count = ::read(report.get(), &error, sizeof error);
    if (count == sizeof error) return error;
    if (count >= 0 || errno != EINTR) return 0;
  }
}

void reap(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

StartedChild start_by(By by, const Program& program, const ChildSetting& setting) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {.error = errno};
  OwnedFd read(ends[0]);
  OwnedFd write(ends[1]);
  const Vectors vectors(program, setting);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return {.error = errno};
  if (pid == 0) run_child(program, vectors, setting, by, write.get(), parent);
  write.reset();
  if (const int error = error_of(read)) {
    reap(pid);
    return {.error = error};
  }
  return {.pid = pid};
}

}  // namespace

// Starts the program by its path, because the kernel names the process after the path. If the path
// no longer leads to the file that the upgrader has checked, executes this file by its open
// descriptor. This is impossible for a script, so a script whose path leads to a different file is
// not started.
StartedChild start_child(const Program& program, const ChildSetting& setting) {
  const int changed = program.path_changed();
  if (program.kind == ExecutableKind::script) {
    if (changed != 0) return {.error = changed};
    return start_by(By::path, program, setting);
  }
  if (changed != 0) return start_by(By::descriptor, program, setting);
  const StartedChild started = start_by(By::path, program, setting);
  if (started.pid < 0 || program.path_changed() == 0) return started;
  // The path may not lead to the checked file any more, so the process may execute a different
  // file. Kill the process, and start the checked file by its descriptor.
  ::kill(started.pid, SIGKILL);
  reap(started.pid);
  return start_by(By::descriptor, program, setting);
}

}  // namespace agentify

#include "base/process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "base/descriptors.h"
#include "base/execution.h"
#include "base/vectors.h"

namespace upgrader {
namespace {

// The kernel's sets of signals are whole words of 64 bits: 128 signals on MIPS, 64 elsewhere.
constexpr int signals_max = (_NSIG - 1 + 63) / 64 * 64;
constexpr std::size_t kernel_signal_set_bytes = signals_max / 8;

// Up to here the protocol promises an agent the defaults; above are the real-time signals.
constexpr int promised_signal_max = 31;

// Enough for the child's few calls many times over, also where a sanitizer pads what is on it, and
// little enough for a main stack of 64 KiB.
constexpr std::size_t child_stack_bytes = 16'384;

struct Pipe {
  OwnedFd read;
  OwnedFd write;
};

bool make_pipe(Pipe& made) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  made.read.reset(ends[0]);
  made.write.reset(ends[1]);
  return true;
}

bool make_non_blocking(const OwnedFd& fd) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  return flags >= 0 && ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) == 0;
}

struct Pipes {
  Pipe input;
  Pipe output;
  Pipe report;  // closed by the exec, or tells why there was none
};

// ---- in the child, which runs in our memory while we wait: only async-signal-safe calls are
// allowed, and what it changes stays changed

// By the kernel's own call: the C library keeps two signals for itself and refuses to name them,
// but whoever started us may have ignored those too. SIGKILL and SIGSTOP nobody can change.
bool reset_signals() {
  struct {
    unsigned long words[8];  // longer than any kernel's; all zero is SIG_DFL everywhere
  } const defaults{};
  for (int number = 1; number <= signals_max; ++number) {
    const bool done =
        ::syscall(SYS_rt_sigaction, number, &defaults, nullptr, kernel_signal_set_bytes) == 0;
    const bool promised = number <= promised_signal_max && number != SIGKILL && number != SIGSTOP;
    if (promised && !done) return false;
  }
  const sigset_t none{};  // as sigemptyset makes it
  return ::sigprocmask(SIG_SETMASK, &none, nullptr) == 0;
}

bool put_descriptors_in_place(const Pipes& pipes, int passed, int program_descriptor) {
  if (::dup2(pipes.input.read.get(), 0) < 0 || ::dup2(pipes.output.write.get(), 1) < 0) {
    return false;
  }
  for (int fd = first_passed_descriptor; fd < first_passed_descriptor + passed; ++fd) {
    if (::fcntl(fd, F_SETFD, 0) != 0) return false;
  }
  return program_descriptor < 0 || ::fcntl(program_descriptor, F_SETFD, 0) == 0;
}

// By its path, or by the open descriptor.
enum class By { path, descriptor };

int execute_path(const Program& program, const Vectors& vectors) {
  ::execve(program.path().c_str(), vectors.argv(), vectors.envp());
  return errno;
}

int execute_descriptor(const Program& program, const Vectors& vectors) {
  ::syscall(SYS_execveat, program.descriptor(), "", vectors.argv(), vectors.envp(), AT_EMPTY_PATH);
  return errno;
}

// Returns only after a failure. If one way fails for a reason of its own, the other is tried: if
// the path has come to name another file, or none; or if the kernel, a filter of system calls or an
// emulator of another machine does not execute descriptors.
int execute(const Program& program, const Vectors& vectors, By by) {
  if (by == By::path) {
    const int error = execute_path(program, vectors);
    const bool refused = program.kind() == ExecutableKind::script || program.path_changed() == 0;
    return refused ? error : execute_descriptor(program, vectors);
  }
  const int error = execute_descriptor(program, vectors);
  const bool no_such_way = error == ENOSYS || error == EPERM || error == ENOENT;
  return no_such_way && program.path_changed() == 0 ? execute_path(program, vectors) : error;
}

// SIGTERM when the upgrader dies; kernels without PR_SET_PDEATHSIG refuse. If the upgrader died
// before the call, no signal will come: then returns false, and nothing is started.
bool follow_into_death(pid_t upgrader) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  return ::getppid() == upgrader;
}

struct Birth {
  const Program& program;
  Vectors& vectors;
  const Pipes& pipes;
  int passed;
  By by;
  pid_t upgrader;
};

// Returns, with the exit status, only if the program has not been executed.
int run_child(void* data) {
  Birth& birth = *static_cast<Birth*>(data);
  birth.vectors.write_pid(::getpid());
  if (!follow_into_death(birth.upgrader)) return 2;
  StartFailed failure;
  const int program_descriptor = birth.vectors.program_descriptor();
  if (::setsid() >= 0 && reset_signals() &&
      put_descriptors_in_place(birth.pipes, birth.passed, program_descriptor)) {
    failure = {.where = StartFailed::Where::exec,
               .error = execute(birth.program, birth.vectors, birth.by)};
  } else {
    failure = {.where = StartFailed::Where::resources, .error = errno};
  }
  const ssize_t written = ::write(birth.pipes.report.write.get(), &failure, sizeof failure);
  return written == sizeof failure ? 1 : 2;
}

// ---- in the upgrader

// A child that shares our memory until it has been executed, on a stack of its own, as posix_spawn
// makes it: no page is copied, which would be a sixth of the time of a start (measured with musl,
// to the agent's main). We sleep until then. No handler runs in it, since the upgrader has none.
pid_t make_child(const Program& program, Vectors& vectors, const Pipes& pipes, int passed, By by) {
  alignas(16) char stack[child_stack_bytes];
  Birth birth{program, vectors, pipes, passed, by, ::getpid()};
  return ::clone(run_child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &birth);
}

// Waits for the exec: what the child says, or nothing once the program runs.
std::optional<StartFailed> failure_of(const OwnedFd& report) {
  StartFailed failure;
  for (;;) {
    const ssize_t count = ::read(report.get(), &failure, sizeof failure);
    if (count == sizeof failure) return failure;
    if (count >= 0 || errno != EINTR) return std::nullopt;
  }
}

// Only for a child that has reported why it could not be executed: it exits at once.
void reap(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// Undoes a start. Does not wait: a process that hangs in the kernel does not end until the kernel
// lets it go. SIGCHLD announces its end, and Agents::reap_strangers reaps it.
void kill_wrong_process(pid_t pid) {
  ::kill(pid, SIGKILL);
  static_cast<void>(try_reap(pid));
}

std::variant<Started, StartFailed> start_by(By by, const Program& program, Vectors& vectors,
                                            int passed) {
  Pipes pipes;
  if (!make_pipe(pipes.input) || !make_pipe(pipes.output) || !make_pipe(pipes.report) ||
      !make_non_blocking(pipes.input.write) || !make_non_blocking(pipes.output.read)) {
    return StartFailed{.where = StartFailed::Where::resources, .error = errno};
  }
  const pid_t pid = make_child(program, vectors, pipes, passed, by);
  if (pid < 0) return StartFailed{.where = StartFailed::Where::resources, .error = errno};

  // Its exec has woken us, mostly on its own processor, and is not over: it could go on, and the
  // program begin, only when we sleep.
  std::this_thread::yield();
  pipes.report.write.reset();
  if (const std::optional<StartFailed> failure = failure_of(pipes.report.read)) {
    reap(pid);
    return *failure;
  }
  return Started{
      .pid = pid, .input = std::move(pipes.input.write), .output = std::move(pipes.output.read)};
}

// By its path while that names the same file, since the kernel names the process after what it was
// started by. A script has no other way, and its interpreter opens the path again in any case.
std::variant<Started, StartFailed> start(const Program& program, Vectors& vectors, int passed) {
  const int changed = program.path_changed();
  if (program.kind() == ExecutableKind::script) {
    if (changed != 0) return StartFailed{.where = StartFailed::Where::exec, .error = changed};
    return start_by(By::path, program, vectors, passed);
  }
  if (changed != 0 || !executions_can_be_seen()) {
    return start_by(By::descriptor, program, vectors, passed);
  }
  auto result = start_by(By::path, program, vectors, passed);
  const auto* const started = std::get_if<Started>(&result);
  if (started == nullptr) return result;
  const Runs runs = what_runs(started->pid, program);
  if (runs == Runs::program) return result;
  const int exchanged = program.path_changed();
  // The kernel hides a process with file capabilities, or whose file may not be read, from
  // everybody but root. The path named the file before the exec and names it now: that has to do.
  if (runs == Runs::unknown && exchanged == 0) return result;
  kill_wrong_process(started->pid);
  if (exchanged != 0) return StartFailed{.where = StartFailed::Where::exec, .error = exchanged};
  // The path names the file again, or still does and the program has executed another one since.
  return start_by(By::descriptor, program, vectors, passed);
}

}  // namespace

std::variant<Started, StartFailed> start_process(const Program& program,
                                                 const ChildSetting& setting) {
  const Program* const adapter = setting.adapter ? &*setting.adapter : nullptr;
  // A script that the adapter would not find by its path any more.
  const bool is_looked_up = adapter != nullptr && program.kind() == ExecutableKind::script;
  if (const int changed = is_looked_up ? program.path_changed() : 0; changed != 0) {
    return StartFailed{.where = StartFailed::Where::exec, .error = changed};
  }
  Vectors vectors(program, adapter, setting.environment);
  return start(adapter != nullptr ? *adapter : program, vectors, setting.passed);
}

std::optional<Ending> try_reap(pid_t pid) {
  int status = 0;
  pid_t reaped = 0;
  do {
    reaped = ::waitpid(pid, &status, WNOHANG);
  } while (reaped < 0 && errno == EINTR);
  if (reaped == 0) return std::nullopt;
  if (reaped < 0) return Ending{};
  if (WIFEXITED(status)) return Ending{Ending::How::exited, WEXITSTATUS(status)};
  if (WIFSIGNALED(status)) return Ending{Ending::How::signalled, WTERMSIG(status)};
  return std::nullopt;
}

std::optional<pid_t> ended_child() {
  siginfo_t found{};
  if (::waitid(P_ALL, 0, &found, WEXITED | WNOHANG | WNOWAIT) != 0) return std::nullopt;
  if (found.si_pid == 0) return std::nullopt;
  return found.si_pid;
}

int become_subreaper() {
  return ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 ? 0 : errno;
}

int send_signal(pid_t pid, int signal_number) {
  if (pid <= 0) return ESRCH;
  return ::kill(pid, signal_number) == 0 ? 0 : errno;
}

}  // namespace upgrader

#include "base/process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/descriptors.h"
#include "base/form.h"
#include "base/repeated.h"

namespace upgrader {
namespace {

// The number of signals in one of the kernel's signal sets: 128 on MIPS, 64 on other machines. The
// set has one bit for each signal, in whole words of 64 bits, and system calls want its size in
// bytes.
constexpr int signals_max = (_NSIG - 1 + 63) / 64 * 64;
constexpr std::size_t kernel_signal_set_bytes = signals_max / 8;

// The last of the signals that have their default disposition in an agent, as the protocol
// promises. Higher signals are real-time signals.
constexpr int promised_signal_max = 31;

// The size of the child's stack until its exec. The child makes few calls, which need only a
// fraction of it, even if a sanitizer pads the stack. This array is on the stack of this process,
// which may be limited to 64 KiB, so it must be small.
constexpr std::size_t child_stack_bytes = 16'384;

// The most entries that are appended to the environment: one for the lock's descriptor, two for an
// adapter (see process.h), and the null at the end.
constexpr std::size_t entries_added_max = 4;

// If an adapter runs the program (see process.h), this argument comes between the adapter's own
// arguments and the program's arguments.
constexpr const char* end_of_options = "--";

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

struct Pipes {
  Pipe input;
  Pipe output;
  Pipe report;  // the child writes here why exec failed; a successful exec closes the pipe
};

// ---- in the child, which shares the upgrader's memory: it may make only async-signal-safe calls,
// and its changes of variables remain

// Gives all signals their default disposition. Calls the kernel directly, since the C library
// refuses to change two signals that it reserves for itself; the upgrader may have inherited these
// two as ignored.
bool reset_signals() {
  struct {
    unsigned long words[8];  // longer than the kernel's structure; all zero means SIG_DFL
  } const defaults{};
  for (int number = 1; number <= signals_max; ++number) {
    const bool done =
        ::syscall(SYS_rt_sigaction, number, &defaults, nullptr, kernel_signal_set_bytes) == 0;
    const bool promised = number <= promised_signal_max && number != SIGKILL && number != SIGSTOP;
    if (promised && !done) return false;
  }
  const sigset_t none{};  // no signal is blocked
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

// Executes the program. Returns only after a failure, with the error. Executes by path if the path
// still names the checked file, because the kernel takes the process's name from the path;
// otherwise by descriptor. A script can only be executed by path, since its interpreter opens that
// path again.
int execute(const Program& program, const Vectors& vectors) {
  const bool is_script = program.kind == ExecutableKind::script;
  int error = program.path_changed();
  if (error == 0) {
    ::execve(program.path.c_str(), vectors.argv(), vectors.envp());
    error = errno;
    // If the path was changed just before the exec, `error` may be about a different file: then
    // execute the checked file by its descriptor. A script cannot be executed by descriptor.
    if (is_script || program.path_changed() == 0) return error;
  }
  if (is_script) return error;
  ::syscall(SYS_execveat, program.descriptor.get(), "", vectors.argv(), vectors.envp(),
            AT_EMPTY_PATH);
  return errno;
}

// Asks the kernel to send SIGTERM to this child when the upgrader dies. Ignores the error of
// kernels without PR_SET_PDEATHSIG. Returns false if the upgrader has died already: no signal would
// come, so the program must not be started.
bool follow_into_death(pid_t upgrader) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  return ::getppid() == upgrader;
}

struct Birth {
  const Program& program;
  Vectors& vectors;
  const Pipes& pipes;
  int passed;
  pid_t upgrader;
};

// Runs the program in the child. Returns only if that fails. The result is the child's exit status.
int run_child(void* data) {
  Birth& birth = *static_cast<Birth*>(data);
  birth.vectors.write_pid(::getpid());
  if (!follow_into_death(birth.upgrader)) return 2;
  StartFailed failure;
  const int program_descriptor = birth.vectors.program_descriptor();
  if (::setsid() >= 0 && reset_signals() &&
      put_descriptors_in_place(birth.pipes, birth.passed, program_descriptor)) {
    failure = {.error = execute(birth.program, birth.vectors), .exec_failed = true};
  } else {
    failure.error = errno;
  }
  const ssize_t written = ::write(birth.pipes.report.write.get(), &failure, sizeof failure);
  return written == sizeof failure ? 1 : 2;
}

// ---- in the upgrader

// Waits for the child's exec. Returns why the exec failed, or nothing once the program runs.
std::optional<StartFailed> failure_of(const OwnedFd& report) {
  StartFailed failure;
  const auto count = repeated([&] { return ::read(report.get(), &failure, sizeof failure); });
  return count == sizeof failure ? std::optional(failure) : std::nullopt;
}

std::variant<Started, StartFailed> start(const Program& program, Vectors& vectors, int passed) {
  Pipes pipes;
  if (!make_pipe(pipes.input) || !make_pipe(pipes.output) || !make_pipe(pipes.report) ||
      ::fcntl(pipes.input.write.get(), F_SETFL, O_NONBLOCK) != 0 ||
      ::fcntl(pipes.output.read.get(), F_SETFL, O_NONBLOCK) != 0) {
    return StartFailed{errno};
  }
  // The child shares the upgrader's memory until its exec, but has a stack of its own, as with
  // posix_spawn. Meanwhile the upgrader sleeps. fork would copy the page tables, which takes a
  // sixth of the time until the agent's main() (measured with musl). The upgrader has no signal
  // handlers that could run in the child.
  alignas(16) char stack[child_stack_bytes];
  Birth birth{program, vectors, pipes, passed, ::getpid()};
  const pid_t pid =
      ::clone(run_child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &birth);
  if (pid < 0) return StartFailed{errno};

  // The kernel wakes this process in the middle of the child's exec, usually on the same processor.
  // Yield the processor, so that the child need not wait to finish its exec.
  std::this_thread::yield();
  pipes.report.write.reset();
  if (const std::optional<StartFailed> failure = failure_of(pipes.report.read)) {
    // The child exits immediately after a failed exec, so reap it here.
    static_cast<void>(repeated([&] { return ::waitpid(pid, nullptr, 0); }));
    return *failure;
  }
  return Started{
      .pid = pid, .input = std::move(pipes.input.write), .output = std::move(pipes.output.read)};
}

}  // namespace

// Leaves room in envp_ for all entries that may be added. Unused entries are null, and the first
// null ends the environment.
Vectors::Vectors(const Program& program, const ChildSetting& setting)
    : envp_(setting.environment.entries.size() + entries_added_max) {
  const Environment& environment = setting.environment;
  auto next = std::copy(environment.entries.begin(), environment.entries.end(), envp_.begin());
  if (environment.lock_descriptor) {
    lock_fd_ = "AGENT_PROTOCOL_LOCK_FD={}"_with(*environment.lock_descriptor);
    *next++ = lock_fd_.c_str();
  }
  if (setting.adapter) {
    add_arguments(*setting.adapter);
    argv_.push_back(end_of_options);
    program_path_ = "AGENT_PROTOCOL_PROGRAM={}"_with(program.path);
    *next++ = program_path_.c_str();
    if (program.kind != ExecutableKind::script) {
      program_descriptor_ = program.descriptor.get();
      program_fd_ = "AGENT_PROTOCOL_PROGRAM_FD={}"_with(program_descriptor_);
      *next++ = program_fd_.c_str();
    }
  }
  add_arguments(program);
  argv_.push_back(nullptr);
  if (environment.listen_pid) envp_[*environment.listen_pid] = listen_pid_;
}

void Vectors::add_arguments(const Program& program) {
  argv_.push_back(program.name.c_str());
  for (const std::string& arg : program.args) {
    argv_.push_back(arg.c_str());
  }
}

void Vectors::write_pid(pid_t pid) {
  // The child must not allocate memory. This std::string does not, since a pid has few digits. Its
  // NUL is copied, too, because listen_pid_ may hold a longer number.
  const std::string digits = agent_protocol::decimal(pid);
  std::memcpy(std::strchr(listen_pid_, '=') + 1, digits.c_str(), digits.size() + 1);
}

std::variant<Started, StartFailed> start_process(const Program& program,
                                                 const ChildSetting& setting) {
  // An adapter opens a script by its path, so the path must still name the checked file.
  const bool adapter_opens_path = setting.adapter && program.kind == ExecutableKind::script;
  if (const int changed = adapter_opens_path ? program.path_changed() : 0; changed != 0) {
    return StartFailed{.error = changed, .exec_failed = true};
  }
  Vectors vectors(program, setting);
  return start(setting.adapter ? *setting.adapter : program, vectors, setting.passed);
}

std::optional<Ending> try_reap(pid_t pid) {
  int status = 0;
  const pid_t reaped = repeated([&] { return ::waitpid(pid, &status, WNOHANG); });
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

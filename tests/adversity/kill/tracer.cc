#include "tests/adversity/kill/tracer.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "tests/together/integration/process_table.h"

namespace kill_points {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int call_stop = SIGTRAP | 0x80;
constexpr long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                         PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;

// The time limit for single operations of the tracer. On an idle machine they are almost immediate.
constexpr auto call_patience = std::chrono::seconds(60);

// Returns whether the process sleeps in a system call. /proc must show both the state of a sleeping
// process and, in `wchan`, the kernel function in which the process waits. Neither suffices alone:
// a process gets the state shortly before it really sleeps, and `wchan` also names a function at a
// ptrace stop. (/proc/PID/syscall would suffice, but each read of it waits for a tick of the
// clock.)
bool is_asleep(const Tracee& tracee) {
  const std::string own = "/proc/" + std::to_string(tracee.pid) + "/";
  const std::string place = integration::read_file(own + "wchan");
  const char state = awaits_execution(tracee) ? 'D' : 'S';
  return !place.empty() && place != "0" && integration::state_of(tracee.pid) == state;
}

// Returns whether a traced process never sleeps in this call. For any other call, the tracer must
// check whether the process sleeps.
bool never_sleeps(long call) {
  constexpr long calls[] = {SYS_brk,          SYS_close,  SYS_connect,        SYS_dup3,
                            SYS_epoll_ctl,    SYS_fstat,  SYS_execve,         SYS_ioctl,
                            SYS_exit_group,   SYS_kill,   SYS_getrandom,      SYS_mmap,
                            SYS_mprotect,     SYS_munmap, SYS_newfstatat,     SYS_openat,
                            SYS_pipe2,        SYS_write,  SYS_rt_sigprocmask, SYS_pread64,
                            SYS_rt_sigaction, SYS_setsid, SYS_socket};
  return std::find(std::begin(calls), std::end(calls), call) != std::end(calls);
}

// Returns whether the system call or the exit that this stop reports may have woken another
// process.
bool may_wake(const Stop& stop) {
  constexpr long calls[] = {SYS_write, SYS_close, SYS_kill, SYS_execve, SYS_dup3, SYS_sendto};
  return stop.what == Stop::What::ended ||
         (stop.what == Stop::What::call_ends &&
          std::find(std::begin(calls), std::end(calls), stop.who.call) != std::end(calls));
}

// Waits before the next check of a process that will probably be ready soon. On a busy machine,
// this leaves the processor to that process. `checks` counts the checks.
void pause(int& checks) {
  constexpr int quick_checks = 20;
  if (++checks < quick_checks) {
    sched_yield();
  } else {
    poll(nullptr, 0, 1);
  }
}

bool is_exit(const Tracee& tracee) {
  return tracee.in_call && tracee.call == SYS_exit_group;
}

bool is_stop_signal(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

}  // namespace

bool awaits_execution(const Tracee& tracee) {
  return tracee.in_call && tracee.call == SYS_clone;
}

Tracer::~Tracer() {
  for (Tracee& tracee : tracees_) {
    if (tracee.is != Tracee::Is::ended) kill(tracee.pid, SIGKILL);
  }
  serve();
}

bool Tracer::seize(pid_t pid) {
  if (ptrace(PTRACE_SEIZE, pid, 0, options) != 0) return false;
  Tracee& tracee = tracees_.emplace_back();
  tracee.pid = pid;
  return ptrace(PTRACE_INTERRUPT, pid, 0, 0) == 0;
}

bool Tracer::run(const std::function<bool(const Stop&)>& halt) {
  // True if the tracer must check next which sleeping processes have been woken. It must do so
  // after each call that may have woken one, and also before it decides that all processes rest.
  bool look = true;
  bool halted = false;
  const auto follow = [&](Tracee& tracee) {
    if (!settle(tracee)) return;
    look = !news_ || may_wake(stop_of(tracee)) || look;
    halted = (news_ && halt(stop_of(tracee))) || halted;
  };
  for (bool looked = false;;) {
    if (look) {
      look = false;
      looked = true;
      for (Tracee& tracee : tracees_) {
        if (tracee.is == Tracee::Is::running && !halted) follow(tracee);
      }
      if (halted) return true;
      continue;
    }
    Tracee* const next = choose();
    if (next == nullptr && looked) return false;
    look = next == nullptr || (is_exit(*next) && hold_others(*next));
    if (look) continue;
    looked = false;
    // Until its first fork the upgrader only prepares itself, so it is not stopped at its system
    // calls.
    go_on(*next, generations_ == 0 ? PTRACE_CONT : PTRACE_SYSCALL);
    follow(*next);
    if (halted) return true;
  }
}

Stop Tracer::stop_of(Tracee& tracee) {
  if (tracee.is == Tracee::Is::ended) return {tracee, Stop::What::ended};
  return {tracee, tracee.in_call ? Stop::What::call_begins : Stop::What::call_ends};
}

// Stops all other running processes while the process `exiting` exits, because runs would differ
// otherwise: its parent would notice the end of a pipe and the death of its child sometimes
// together, sometimes one after the other. Returns true if any process was stopped.
//
// A process that waits for the exec of its own child is not stopped, since it sleeps anyway, in a
// call like vfork().
bool Tracer::hold_others(const Tracee& exiting) {
  bool held = false;
  for (Tracee& tracee : tracees_) {
    if (&tracee == &exiting || tracee.is != Tracee::Is::running) continue;
    if (awaits_execution(tracee)) continue;
    held = ptrace(PTRACE_INTERRUPT, tracee.pid, 0, 0) == 0 || held;
  }
  return held;
}

Tracee* Tracer::choose() {
  Tracee* chosen = nullptr;
  for (Tracee& tracee : tracees_) {
    if (tracee.is == Tracee::Is::stopped && is_exit(tracee)) return &tracee;
  }
  for (Tracee& tracee : tracees_) {
    if (tracee.is != Tracee::Is::stopped) continue;
    const bool upgrader = tracee.generation == 0;
    if (upgrader && order_ == Order::upgrader_first) return &tracee;
    if (chosen == nullptr || chosen->generation == 0) chosen = &tracee;
  }
  return chosen;
}

// Waits until a running traced process stops, ends, or sleeps in a system call.
bool Tracer::settle(Tracee& tracee) {
  news_ = false;
  if (!tracee.in_call || never_sleeps(tracee.call)) {
    int status = 0;
    return waitpid(tracee.pid, &status, __WALL) == tracee.pid && take(tracee, status);
  }
  int looks = 0;
  for (const auto end = Clock::now() + call_patience; Clock::now() < end; pause(looks)) {
    int status = 0;
    const pid_t waited = waitpid(tracee.pid, &status, __WALL | WNOHANG);
    if (waited == tracee.pid) return take(tracee, status);
    if (waited < 0) break;
    if (is_asleep(tracee)) return false;
  }
  return false;
}

// Handles a wait status that waitpid() has returned for the process. Returns true if the process is
// stopped now, or has ended.
bool Tracer::take(Tracee& tracee, int status) {
  if (!WIFSTOPPED(status)) {
    tracee.is = Tracee::Is::ended;
    tracee.status = status;
    news_ = true;
    return true;
  }
  tracee.is = Tracee::Is::stopped;
  const int signal = WSTOPSIG(status);
  const int event = status >> 16;
  if (signal == call_stop) {
    take_call(tracee);
  } else if (event != 0) {
    take_event(tracee, event);
  } else {
    tracee.to_inject = signal;
  }
  return true;
}

void Tracer::take_call(Tracee& tracee) {
  __ptrace_syscall_info info{};
  ptrace(PTRACE_GET_SYSCALL_INFO, tracee.pid, sizeof info, &info);
  tracee.in_call = info.op == PTRACE_SYSCALL_INFO_ENTRY;
  if (tracee.in_call) {
    tracee.call = static_cast<long>(info.entry.nr);
    std::copy(std::begin(info.entry.args), std::end(info.entry.args), tracee.args);
  } else {
    tracee.result = info.exit.rval;
    if (tracee.call == SYS_kill && tracee.args[1] == SIGKILL)
      doom(static_cast<pid_t>(tracee.args[0]));
  }
  news_ = true;
}

// Records that the process was sent SIGKILL. A stopped process then dies, too, so run() waits for
// its end.
void Tracer::doom(pid_t pid) {
  for (Tracee& tracee : tracees_) {
    if (tracee.pid != pid) continue;
    tracee.doomed = true;
    if (tracee.is == Tracee::Is::stopped) tracee.is = Tracee::Is::running;
  }
}

void Tracer::take_event(Tracee& tracee, int event) {
  if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE) {
    unsigned long pid = 0;
    ptrace(PTRACE_GETEVENTMSG, tracee.pid, 0, &pid);
    // Records that the process is inside a fork. If this is the upgrader's first fork, the tracer
    // has not seen its entry, since it traces no system calls of the upgrader before that fork.
    tracee.in_call = true;
    tracee.call = SYS_clone;
    adopt(static_cast<pid_t>(pid));
  } else if (event == PTRACE_EVENT_EXEC) {
    // A child that executes a program other than an agent is the upgrader itself. Its parent, which
    // has counted as the upgrader so far, is only a wrapper.
    const bool agent = integration::executable_of(tracee.pid).starts_with(agent_);
    if (tracee.generation != 0 && !agent) {
      tracee.generation = 0;
      generations_ = 0;
    }
  }
}

void Tracer::adopt(pid_t pid) {
  Tracee& child = tracees_.emplace_back();
  child.pid = pid;
  child.generation = ++generations_;
}

void Tracer::go_on(Tracee& tracee, int request) {
  const int signal = tracee.to_inject;
  tracee.to_inject = 0;
  tracee.is = Tracee::Is::running;
  ptrace(static_cast<__ptrace_request>(request), tracee.pid, 0, signal);
}

bool Tracer::end_by(Tracee& victim, int signal, const std::function<void(const Stop&)>& watch) {
  if (victim.is == Tracee::Is::ended || kill(victim.pid, signal) != 0) return false;
  const auto deadline = Clock::now() + call_patience;
  while (victim.is != Tracee::Is::ended && Clock::now() < deadline) {
    if (victim.is == Tracee::Is::stopped) go_on(victim, PTRACE_SYSCALL);
    if (!settle(victim) || !news_ || victim.is == Tracee::Is::ended) continue;
    watch(stop_of(victim));
  }
  return victim.is == Tracee::Is::ended && WIFSIGNALED(victim.status) &&
         WTERMSIG(victim.status) == signal;
}

void Tracer::run_first_ones() {
  for (bool moved = true; moved;) {
    moved = false;
    for (Tracee& tracee : tracees_) {
      const bool first = (tracee.generation == 0) == (order_ == Order::upgrader_first);
      if (first && tracee.is == Tracee::Is::stopped) go_on(tracee, PTRACE_SYSCALL);
      if (tracee.is == Tracee::Is::running) moved = (settle(tracee) && first) || moved;
    }
  }
}

bool Tracer::freeze(Tracee& victim) {
  if (victim.is == Tracee::Is::ended || kill(victim.pid, SIGSTOP) != 0) return false;
  const auto deadline = Clock::now() + call_patience;
  while (victim.is != Tracee::Is::ended && Clock::now() < deadline) {
    if (victim.is == Tracee::Is::stopped) go_on(victim, PTRACE_CONT);
    int status = 0;
    if (waitpid(victim.pid, &status, __WALL) != victim.pid) continue;
    const bool stopped_for_good =
        WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP && is_stop_signal(WSTOPSIG(status));
    take(victim, status);
    if (!stopped_for_good) continue;
    detach(victim, 0);
    // After the detach, the earlier SIGSTOP keeps the process stopped. It takes a moment until
    // /proc shows that the process is stopped.
    int looks = 0;
    while (integration::state_of(victim.pid) != 'T' && Clock::now() < deadline)
      pause(looks);
    return integration::state_of(victim.pid) == 'T';
  }
  return false;
}

void Tracer::detach(Tracee& tracee, int signal) {
  // A process that is being killed cannot be detached, so the tracer must reap it.
  const bool gone = ptrace(PTRACE_DETACH, tracee.pid, 0, signal) == 0;
  tracee.is = gone ? Tracee::Is::ended : Tracee::Is::running;
}

void Tracer::let_go() {
  for (Tracee& tracee : tracees_) {
    if (tracee.is == Tracee::Is::stopped) detach(tracee, tracee.to_inject);
  }
  serve();
}

void Tracer::serve() {
  for (Tracee& tracee : tracees_) {
    int status = 0;
    while (tracee.is != Tracee::Is::ended &&
           waitpid(tracee.pid, &status, __WALL | WNOHANG) == tracee.pid) {
      take(tracee, status);
      if (tracee.is == Tracee::Is::stopped) detach(tracee, tracee.to_inject);
    }
  }
}

std::string Tracer::peek(const Tracee& who, std::uint64_t address, std::size_t size) {
  std::string bytes(size, '\0');
  iovec local{bytes.data(), size};
  iovec remote{reinterpret_cast<void*>(address), size};
  const ssize_t count = process_vm_readv(who.pid, &local, 1, &remote, 1, 0);
  bytes.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return bytes;
}

}  // namespace kill_points

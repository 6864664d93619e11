#include "tests/adversity/fault/tracer.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>

#ifndef __x86_64__
#error "which register holds a call's number and its result is written down for x86-64 only"
#endif

namespace fault {
namespace {

// A copy of a structure of the kernel, because the header that declares it cannot be included
// together with that of ptrace.
struct CallInfo {
  unsigned char op;  // 1 at the entry of a system call, 2 at its return
  unsigned char padding[3];
  unsigned int arch;
  unsigned long instruction_pointer;
  unsigned long stack_pointer;
  // At the entry of a system call: its number and six arguments. At its return: the result, and
  // whether the result is an error.
  unsigned long values[7];
};
constexpr int op_entry = 1;
constexpr int op_exit = 2;
constexpr auto get_call_info = static_cast<__ptrace_request>(0x420e);

CallInfo call_info(pid_t pid) {
  CallInfo info{};
  if (ptrace(get_call_info, pid, sizeof info, &info) <= 0) return {};
  return info;
}

bool change_registers(pid_t pid, const std::function<void(user_regs_struct&)>& change) {
  user_regs_struct registers{};
  if (ptrace(PTRACE_GETREGS, pid, nullptr, &registers) != 0) return false;
  change(registers);
  return ptrace(PTRACE_SETREGS, pid, nullptr, &registers) == 0;
}

// Returns true if the kernel must carry out this call, and the tracer must then replace the result
// by the error. There are two such calls. close() closes the descriptor even when it fails. If
// wait4() fails with ECHILD, somebody else has reaped the child, so the child must be gone.
bool fails_after_the_deed(const std::string& call, int error) {
  return call == "close" || (call == "wait4" && error == ECHILD);
}

// Returns the resource that a system call needs: "memory", "descriptors", or the call's own name if
// it needs neither. An injected error whose name ends in `+` is a shortage of this resource: all
// later calls that need the same resource must fail, too.
std::string shortage(const std::string& call) {
  if (call == "brk" || call == "mmap") return "memory";
  const bool descriptors = call.starts_with("openat.") || call == "pipe2" ||
                           call == "epoll_create1" || call == "eventfd2" || call == "signalfd4";
  return descriptors ? "descriptors" : call;
}

// Returns the state letter of a process from /proc/PID/stat, or NUL if there is no such process.
// Must be quick, since it is called often.
char state_of(pid_t pid) {
  char text[256];
  snprintf(text, sizeof text, "/proc/%d/stat", pid);
  const int fd = open(text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return '\0';
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  text[size > 0 ? size : 0] = '\0';
  const char* end_of_name = strrchr(text, ')');
  return end_of_name != nullptr ? end_of_name[2] : '\0';
}

// Only the wait for the end of a trial can be longer than this, in milliseconds: some plays
// (scripted runs) use --trial=1h, so that the trial never ends by itself. The tracer does not
// shorten such a wait, but counts it as a wait without limit.
constexpr int long_wait_ms = 1'800'000;

// Returns how long the system call may wait, in milliseconds: -1 for no limit, 0 if it does not
// wait. The process's state in /proc is not enough to know this: it can be 'S' during a call of
// wait4() with WNOHANG, too.
int waits_ms(const RawCall& call) {
  switch (call.number) {
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
      return static_cast<int>(call.args[3]);
    case SYS_poll:
      return static_cast<int>(call.args[2]);
    case SYS_wait4:
      return (call.args[2] & WNOHANG) != 0 ? 0 : -1;
    default:
      return 0;
  }
}

// ---- the simulated clock

constexpr int no_wait_max_ms = 100;
constexpr int step_ms = 500;
constexpr unsigned long for_ever = ~0UL;

unsigned long word_at(pid_t pid, unsigned long address) {
  return static_cast<unsigned long>(ptrace(PTRACE_PEEKDATA, pid, address, nullptr));
}

bool is_wait(const RawCall& call) {
  return call.number == SYS_epoll_wait || call.number == SYS_epoll_pwait;
}

void set_timeout(const RawCall& call, unsigned long timeout) {
  user_regs_struct registers{};
  if (ptrace(PTRACE_GETREGS, call.pid, nullptr, &registers) != 0) return;
  registers.r10 = timeout;
  ptrace(PTRACE_SETREGS, call.pid, nullptr, &registers);
}

}  // namespace

// Hides the clock that the kernel maps into the process (the vDSO), so that the process must ask
// for the time by a system call. The stack of a new process holds the number of arguments, the
// arguments, the environment, and then pairs of a kind and a value. One pair has the address of the
// vDSO.
void SwiftTime::hide_other_clocks(pid_t pid) {
  user_regs_struct registers{};
  if (ptrace(PTRACE_GETREGS, pid, nullptr, &registers) != 0) return;
  constexpr unsigned long word = sizeof(unsigned long);
  unsigned long at = registers.rsp + word * (word_at(pid, registers.rsp) + 2);
  while (word_at(pid, at) != 0)
    at += word;
  for (at += word; word_at(pid, at) != AT_NULL; at += 2 * word) {
    if (word_at(pid, at) == AT_SYSINFO_EHDR) ptrace(PTRACE_POKEDATA, pid, at, AT_IGNORE);
  }
}

bool SwiftTime::is_question(const RawCall& call) {
  return call.number == SYS_clock_gettime || call.number == SYS_clock_getres;
}

void SwiftTime::enter(const RawCall& call) {
  const int timeout = static_cast<int>(call.args[3]);
  broken_off_ = false;
  changed_ = false;
  if (!is_wait(call) || timeout == 0) return;
  waited_ms_ += step_ms;
  changed_ = timeout > 0;
  if (changed_) set_timeout(call, timeout <= no_wait_max_ms ? 0 : for_ever);
}

// Interrupts the process's wait by a signal. The upgrader ignores this signal, so it has no other
// effect.
bool SwiftTime::break_off(const RawCall& call, int most_ms) {
  const int timeout = static_cast<int>(call.args[3]);
  if (!is_wait(call) || timeout <= 0 || timeout > most_ms) return false;
  if (broken_off_) return true;
  broken_off_ = true;
  waited_ms_ += timeout;
  return kill(call.pid, SIGURG) == 0;
}

void SwiftTime::leave(const RawCall& call) {
  if (changed_) set_timeout(call, call.args[3]);
  changed_ = false;
  const auto clock = static_cast<clockid_t>(call.args[0]);
  const bool told_here = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE;
  if (call.number != SYS_clock_gettime || !told_here) return;
  timespec told{};
  iovec here{&told, sizeof told};
  iovec there{reinterpret_cast<void*>(call.args[1]), sizeof told};
  if (process_vm_readv(call.pid, &here, 1, &there, 1, 0) != sizeof told) return;
  constexpr std::int64_t second_ns = 1'000'000'000;
  if (started_ns_ == 0) started_ns_ = told.tv_sec * second_ns + told.tv_nsec;
  const std::int64_t now = started_ns_ + waited_ms_ * 1'000'000;
  told.tv_sec = now / second_ns;
  told.tv_nsec = now % second_ns;
  process_vm_writev(call.pid, &here, 1, &there, 1, 0);
}

// ---- the tracer

int Fault::error() const {
  return error_number(lasts() || is_repeated() ? what.substr(0, what.size() - 1) : what);
}

std::string Fault::text() const {
  return play + ":" + who + ":" + call + ":" + what + ":" + std::to_string(k);
}

Tracer::Tracer(std::optional<Fault> fault, std::function<void(pid_t)> agent_started, bool shows)
    : fault_(std::move(fault)), agent_started_(std::move(agent_started)), shows_(shows) {}

Tracer::~Tracer() {
  for (const auto& [pid, tracee] : tracees_) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, __WALL);
  }
}

void Tracer::follow(pid_t upgrader, std::string log) {
  int status = 0;
  if (waitpid(upgrader, &status, __WALL) != upgrader || !WIFSTOPPED(status)) {
    throw std::runtime_error("the upgrader cannot be traced");
  }
  constexpr long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK |
                           PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SETOPTIONS, upgrader, nullptr, options) != 0) {
    throw std::runtime_error("the upgrader cannot be traced: PTRACE_SETOPTIONS");
  }
  log_ = std::move(log);
  upgrader_ = upgrader;
  alive_ = true;
  tracees_[upgrader] = {.who = "upgrader", .seen = true};
  resume(upgrader, 0);
}

bool Tracer::take_stops() {
  bool any = false;
  int status = 0;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0; any = true) {
    if (WIFSTOPPED(status)) {
      take_stop(pid, status);
    } else {
      take_end(pid, status);
    }
  }
  return any;
}

void Tracer::take_stop(pid_t pid, int status) {
  Tracee& tracee = expect_child(pid);
  if (!tracee.seen) {  // a child stops once before its first system call
    tracee.seen = true;
    return resume(pid, 0);
  }
  const int signal = WSTOPSIG(status);
  if (signal == (SIGTRAP | 0x80)) return take_call(pid, tracee);
  const int event = status >> 16;
  if (event == PTRACE_EVENT_EXEC && pid != upgrader_) return let_go(pid);
  if (event == PTRACE_EVENT_EXEC) SwiftTime::hide_other_clocks(pid);
  resume(pid, event != 0 ? 0 : signal);
}

// Returns the record of this child, and makes the record if there is none yet. The tracer learns of
// a new child from the fork's return or from the child's first stop, whichever comes first.
Tracer::Tracee& Tracer::expect_child(pid_t pid) {
  const auto [found, is_new] = tracees_.try_emplace(pid);
  if (is_new) {
    known_children_.insert(pid);
    found->second.who = "child" + std::to_string(known_children_.size());
    found->second.counts = true;
  }
  return found->second;
}

void Tracer::take_end(pid_t pid, int status) {
  const auto found = tracees_.find(pid);
  if (found == tracees_.end()) {
    others_[pid] = status;
    return;
  }
  const Tracee& tracee = found->second;
  if (tracee.to_be_killed && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ++fired_;
  if (tracee.inside) {
    calls_.push_back({tracee.who, tracee.name, tracee.k, tracee.phase, 0});
    show(tracee, 0, tracee.to_be_killed ? "(KILLED)" : "(its end)");
  }
  tracees_.erase(found);
  if (pid != upgrader_) return;
  alive_ = false;
  status_ = status;
}

void Tracer::take_call(pid_t pid, Tracee& tracee) {
  const CallInfo info = call_info(pid);
  if (info.op == op_entry) {
    tracee.call.pid = pid;
    tracee.call.number = static_cast<long>(info.values[0]);
    std::copy_n(info.values + 1, 6, tracee.call.args);
    enter(pid, tracee);
    if (pid == upgrader_) time_.enter(tracee.call);
  } else if (info.op == op_exit) {
    if (pid == upgrader_) time_.leave(tracee.call);
    leave(pid, tracee, static_cast<long>(info.values[0]));
  }
  if (pid == upgrader_ && hold_) {
    held_ = true;
    return;
  }
  resume(pid, 0);
}

void Tracer::enter(pid_t pid, Tracee& tracee) {
  tracee.inside = true;
  tracee.faulted = false;
  tracee.name = name_of(tracee.call, log_);
  if (tracee.name.empty()) tracee.name = "call" + std::to_string(tracee.call.number);
  const bool first_of_main = tracee.name == "fcntl.getfd" && tracee.call.args[0] == 0;
  tracee.counts = tracee.counts || first_of_main;
  if (!tracee.counts || SwiftTime::is_question(tracee.call)) return;
  tracee.k = ++tracee.counted[tracee.name];
  tracee.phase = phase();
  if (tracee.name == "close") {
    const auto input = lines_sent_.find(target_of(pid, tracee.call.args[0]));
    if (input != lines_sent_.end()) closed_.insert(input->first);
  }
  if (!is_due(tracee)) return;
  if (fired_ == 0) {
    if (tracee.name == "kill") spared_ = static_cast<pid_t>(tracee.call.args[0]);
    fault_phase_ = tracee.phase;
    active_at_fault_ = active_;
  }
  if (fault_->kills()) {
    tracee.to_be_killed = true;
    kill(pid, SIGKILL);
    return;
  }
  tracee.faulted = true;
  if (!fails_after_the_deed(tracee.name, fault_->error())) replace_entry(pid, tracee);
}

bool Tracer::is_due(const Tracee& tracee) const {
  if (!fault_) return false;
  if (fired_ > 0 && fault_->is_repeated()) {
    return fired_ == 1 && !faults_over_ && tracee.who == fault_->who && tracee.name == fault_->call;
  }
  if (fired_ > 0)
    return fault_->lasts() && !faults_over_ && shortage(tracee.name) == shortage(fault_->call);
  return tracee.who == fault_->who && tracee.name == fault_->call && tracee.k == fault_->k;
}

// Makes a system call fail: replaces the call's number by a number that no call has, so the kernel
// does nothing. brk() cannot return an error, so the call is made with an address that the kernel
// refuses.
void Tracer::replace_entry(pid_t pid, Tracee& tracee) {
  const bool is_break = tracee.call.number == SYS_brk;
  const bool done = change_registers(pid, [&](user_regs_struct& registers) {
    if (is_break) {
      registers.rdi = 0;  // an invalid address; the old one is put back at the call's return
    } else {
      registers.orig_rax = ~0ULL;
    }
  });
  if (!done) tracee.faulted = false;
}

long Tracer::replace_result(pid_t pid, Tracee& tracee, long result) {
  tracee.faulted = false;
  if (tracee.call.number == SYS_brk) {
    change_registers(pid,
                     [&](user_regs_struct& registers) { registers.rdi = tracee.call.args[0]; });
    if (static_cast<unsigned long>(result) < tracee.call.args[0]) ++fired_;
    return result;
  }
  const long error = -fault_->error();
  if (!fails_after_the_deed(tracee.name, fault_->error()) && result != -ENOSYS) return result;
  change_registers(pid, [&](user_regs_struct& registers) {
    registers.rax = static_cast<unsigned long long>(error);
  });
  const CallInfo info = call_info(pid);
  const bool is_error = (info.values[1] & 0xffU) != 0;
  if (info.op != op_exit || static_cast<long>(info.values[0]) != error || !is_error) return result;
  ++fired_;
  return error;
}

void Tracer::leave(pid_t pid, Tracee& tracee, long result) {
  const bool was_faulted = tracee.faulted;
  const long truth = result;
  if (was_faulted) result = replace_result(pid, tracee, result);
  tracee.inside = false;
  if (!tracee.counts || SwiftTime::is_question(tracee.call)) return;
  calls_.push_back({tracee.who, tracee.name, tracee.k, tracee.phase, result});
  show(tracee, result, was_faulted ? "(INJECTED)" : "");
  const bool done = !was_faulted || fails_after_the_deed(tracee.name, fault_->error());
  note_effects(tracee, done ? truth : result);
}

void Tracer::note_effects(const Tracee& tracee, long result) {
  if (tracee.who != "upgrader") return;
  if (tracee.name == "write.agent" && result > 0) {
    const std::string said =
        bytes_of(tracee.call.pid, tracee.call.args[1], static_cast<std::size_t>(result));
    lines_sent_[target_of(tracee.call.pid, tracee.call.args[0])] +=
        static_cast<int>(std::count(said.begin(), said.end(), '\n'));
    if (said.find("\"type\":\"activate\"") != std::string::npos) {
      active_ = latest_;
      activated_ = true;
    }
  }
  if (tracee.name == "wait4" && result > 0 && result == active_) active_ = 0;
  // When the parent's fork returns, the child may already have executed its program or ended. In
  // this case the tracer knows the child already.
  const auto child = static_cast<pid_t>(result);
  if (tracee.name == "clone" && child > 0 && !known_children_.contains(child)) {
    static_cast<void>(expect_child(child));
  }
  // If this call is a kill() that ends a process, waits here until that process has died. Otherwise
  // the machine's speed would decide when the upgrader notices the death, and runs would differ.
  const bool deadly = tracee.call.args[1] == SIGKILL || tracee.call.args[1] == SIGTERM;
  if (tracee.name == "kill" && result == 0 && deadly) {
    await_end(static_cast<pid_t>(tracee.call.args[0]));
  }
}

void Tracer::let_go(pid_t pid) {
  const auto found = tracees_.find(pid);
  calls_.push_back(
      {found->second.who, found->second.name, found->second.k, found->second.phase, 0});
  show(found->second, 0, "(executed)");
  tracees_.erase(found);
  latest_ = pid;
  agent_started_(pid);
  ptrace(PTRACE_DETACH, pid, nullptr, nullptr);
}

void Tracer::resume(pid_t pid, int signal) {
  ptrace(PTRACE_SYSCALL, pid, nullptr, static_cast<long>(signal));
}

void Tracer::release() {
  hold_ = false;
  if (held_ && alive_) resume(upgrader_, 0);
  held_ = false;
}

bool Tracer::at_rest() const {
  const auto found = tracees_.find(upgrader_);
  if (!alive_ || held_ || tracees_.size() != 1 || found == tracees_.end()) return false;
  const Tracee& tracee = found->second;
  return tracee.inside && waits_ms(tracee.call) != 0 && state_of(upgrader_) == 'S';
}

bool Tracer::waits_for_ever() const {
  const auto found = tracees_.find(upgrader_);
  if (found == tracees_.end()) return false;
  const int ms = waits_ms(found->second.call);
  return ms == -1 || ms > long_wait_ms;
}

bool Tracer::break_off_wait() {
  const auto found = tracees_.find(upgrader_);
  return found != tracees_.end() && time_.break_off(found->second.call, long_wait_ms);
}

Phase Tracer::phase() const {
  if (ending_) return Phase::end;
  if (!activated_) return Phase::start;
  return active_ != 0 ? Phase::serving : Phase::gap;
}

int Tracer::lines_sent(const std::string& pipe) const {
  const auto found = lines_sent_.find(pipe);
  return found == lines_sent_.end() ? 0 : found->second;
}

void Tracer::show(const Tracee& tracee, long result, const char* mark) const {
  if (!shows_ || !tracee.counts) return;
  const std::string shown =
      result < 0 ? "-1 " + error_name(static_cast<int>(-result)) : std::to_string(result);
  printf("%-7s %-8s %s(%#lx, %#lx, %#lx) #%d = %s %s\n",
         phase_names[static_cast<int>(tracee.phase)], tracee.who.c_str(), tracee.name.c_str(),
         tracee.call.args[0], tracee.call.args[1], tracee.call.args[2], tracee.k, shown.c_str(),
         mark);
}

bool has_ended(pid_t pid) {
  const char state = state_of(pid);
  return state == '\0' || state == 'Z' || state == 'X';
}

void await_end(pid_t pid) {
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (descriptor < 0) return;
  pollfd one{.fd = descriptor, .events = POLLIN, .revents = 0};
  constexpr int moment_ms = 5'000;
  poll(&one, 1, moment_ms);
  close(descriptor);
  // The kernel makes the pidfd readable, and then sends SIGCHLD to the parent. Meanwhile the kernel
  // holds a lock that waitid() needs. So when waitid() returns, SIGCHLD has been sent.
  siginfo_t ignored;
  waitid(P_PID, static_cast<id_t>(pid), &ignored, WEXITED | WNOHANG | WNOWAIT);
}

}  // namespace fault

#include "tests/adversity/fault/swift_time.h"

#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#include <ctime>

namespace fault {
namespace {

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

// Hides the clock that the kernel maps into the process (the vDSO), so that the process must ask by
// a system call. The stack of a new process holds the number of arguments, the arguments, the
// environment, and then pairs of a kind and a value. One pair has the address of that clock.
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

// Interrupts the process's wait by sending a signal that the upgrader ignores.
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

}  // namespace fault

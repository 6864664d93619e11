// Handles SIGTERM and SIGPIPE. SIGTERM is recorded and wakes the program; SIGPIPE has no effect.
// The handlers call only async-signal-safe functions.
#include "agent-protocol/cpp/agent/agent_signals.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "agent-protocol/cpp/session/session.h"

namespace agent_protocol {

namespace {

// Atomic, because a signal handler may run on any thread, while the program calls this library on
// one thread.
std::atomic<bool> term_seen = false;
std::atomic<bool> term_leaves = false;
std::atomic<int> event_number = -1;
std::atomic<pid_t> owner = 0;
// The signal handlers load and store these atomics, which must work without a lock: the macros are
// 0 for types that always need one. On ARMv5 they are 1, since operations other than load and store
// need help from the kernel.
static_assert(ATOMIC_INT_LOCK_FREE > 0 && ATOMIC_BOOL_LOCK_FREE > 0);

void add_one(int number) {
  const std::uint64_t one = 1;
  // A failed write is harmless: it fails only if the eventfd is full, and then the eventfd polls
  // readable already.
  [[maybe_unused]] const ssize_t written = ::write(number, &one, sizeof one);
}

void note_term(int signal) {
  const int error = errno;
  if (::getpid() != owner) {
    struct sigaction by_default {};
    by_default.sa_handler = SIG_DFL;
    ::sigaction(signal, &by_default, nullptr);
    ::raise(signal);
  } else if (term_leaves) {
    ::_exit(exit_status_terminated);
  } else {
    term_seen = true;
    add_one(event_number);
  }
  errno = error;
}

void do_nothing(int) {}

// Restores the former disposition of a signal, unless the program has set one of its own meanwhile.
void restore(int signal, void (*ours)(int), const struct sigaction& before) {
  struct sigaction now {};
  ::sigaction(signal, nullptr, &now);
  if (now.sa_handler == ours) ::sigaction(signal, &before, nullptr);
}

}  // namespace

Signals::Signals() {
  const Descriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.open()) return;
  event_ = Descriptor::private_copy_of(event.number());
  if (!event_.open()) return;
  term_seen = false;
  term_leaves = false;
  event_number = event_.number();
  owner = ::getpid();

  struct sigaction on_term {};
  on_term.sa_handler = &note_term;
  on_term.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &on_term, &old_term_);

  ::sigaction(SIGPIPE, nullptr, &old_pipe_);
  if (old_pipe_.sa_handler != SIG_DFL) return;
  struct sigaction on_pipe {};
  on_pipe.sa_handler = &do_nothing;
  on_pipe.sa_flags = SA_RESTART;
  ::sigaction(SIGPIPE, &on_pipe, nullptr);
}

Signals::~Signals() {
  restore(SIGTERM, &note_term, old_term_);
  restore(SIGPIPE, &do_nothing, old_pipe_);
  // The program may have set handlers of its own that call the handlers of this file even now. Such
  // a call must not end the process, or write to the eventfd, which is about to be closed.
  term_leaves = false;
  event_number = -1;
}

void Signals::wake() const {
  add_one(event_.number());
}

void Signals::drain() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t taken = ::read(event_.number(), &count, sizeof count);
}

bool Signals::terminated() const {
  return term_seen;
}

void Signals::take_terminated() {
  term_seen = false;
}

void Signals::leave_at_once(bool leave) {
  term_leaves = leave;
}

}  // namespace agent_protocol

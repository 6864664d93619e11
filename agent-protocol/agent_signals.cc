// SIGTERM as a note and a wake-up; SIGPIPE as nothing. The handlers call only what is
// async-signal-safe.
#include "agent-protocol/agent_signals.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "agent-protocol/session.h"

namespace agent_protocol {

namespace {

volatile std::sig_atomic_t term_seen = 0;
volatile std::sig_atomic_t term_leaves = 0;
volatile int event_number = -1;
volatile pid_t owner = 0;

void add_one(int number) {
  const std::uint64_t one = 1;
  // Full means that it polls readable already.
  [[maybe_unused]] const ssize_t written = ::write(number, &one, sizeof one);
}

void note_term(int signal) {
  const int error = errno;
  if (::getpid() != owner) {
    struct sigaction by_default {};
    by_default.sa_handler = SIG_DFL;
    ::sigaction(signal, &by_default, nullptr);
    ::raise(signal);
  } else if (term_leaves != 0) {
    ::_exit(exit_status_terminated);
  } else {
    term_seen = 1;
    add_one(event_number);
  }
  errno = error;
}

void do_nothing(int) {}

}  // namespace

Signals::Signals() {
  const Descriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.open()) return;
  event_ = Descriptor::private_copy_of(event.number());
  if (!event_.open()) return;
  term_seen = 0;
  term_leaves = 0;
  event_number = event_.number();
  owner = ::getpid();

  struct sigaction on_term {};
  on_term.sa_handler = &note_term;
  on_term.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &on_term, &old_term_);

  struct sigaction old_pipe {};
  ::sigaction(SIGPIPE, nullptr, &old_pipe);
  pipe_caught_ = old_pipe.sa_handler == SIG_DFL;
  if (!pipe_caught_) return;
  struct sigaction on_pipe {};
  on_pipe.sa_handler = &do_nothing;
  on_pipe.sa_flags = SA_RESTART;
  ::sigaction(SIGPIPE, &on_pipe, nullptr);
}

Signals::~Signals() {
  if (!event_.open()) return;
  ::sigaction(SIGTERM, &old_term_, nullptr);
  if (!pipe_caught_) return;
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &by_default, nullptr);
}

void Signals::wake() const {
  add_one(event_.number());
}

void Signals::rest() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t taken = ::read(event_.number(), &count, sizeof count);
}

bool Signals::terminated() const {
  return term_seen != 0;
}

void Signals::take_terminated() {
  term_seen = 0;
}

void Signals::leave_at_once(bool leave) {
  term_leaves = leave ? 1 : 0;
}

}  // namespace agent_protocol

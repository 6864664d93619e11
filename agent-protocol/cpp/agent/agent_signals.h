// The two signals that an agent must not die of, and the descriptor that wakes its loop. One at a
// time in a process: dispositions of signals belong to all of it.
#pragma once

#include <csignal>

#include "agent-protocol/cpp/agent/agent_descriptor.h"

namespace agent_protocol {

// While it lives SIGTERM is noted, and SIGPIPE does nothing if it had its default. Handlers, never
// SIG_IGN: what the program executes gets the defaults back. A process that was forked from this
// one dies of SIGTERM as by default. A handler that the program sets meanwhile stays.
class Signals {
 public:
  // Not caught, with errno, where there is no descriptor to be had.
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  [[nodiscard]] bool caught() const { return event_.open(); }

  // Polls readable after a SIGTERM and after wake(), until drain().
  [[nodiscard]] int descriptor() const { return event_.number(); }
  void wake() const;
  void drain() const;

  // Whether SIGTERM has come and has not been taken.
  [[nodiscard]] bool terminated() const;
  void take_terminated();

  // True: SIGTERM ends the process at once, inside the handler, so that a held agent whose start
  // hangs can still be ended.
  void leave_at_once(bool leave);

 private:
  Descriptor event_;
  struct sigaction old_term_ {};
  struct sigaction old_pipe_ {};
};

}  // namespace agent_protocol

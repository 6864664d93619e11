// This class catches SIGTERM and SIGPIPE, which must not kill an agent, and owns the descriptor
// that wakes the program. A process can have only one object of this class, since the dispositions
// of signals belong to the whole process.
#pragma once

#include <csignal>

#include "agent-protocol/cpp/agent/agent_descriptor.h"

namespace agent_protocol {

// While an object of this class exists, SIGTERM is recorded, and SIGPIPE has no effect if its
// disposition was the default. SIG_IGN would be inherited by programs that this process executes; a
// handler is not. In a forked process, SIGTERM kills as by default. The destructor leaves handlers
// in place that the program has set itself.
class Signals {
 public:
  // If no descriptor is left, catches no signal, and sets errno.
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  [[nodiscard]] bool caught() const { return event_.open(); }

  // Returns a descriptor that polls readable after a SIGTERM or a wake(), until drain() is called.
  [[nodiscard]] int descriptor() const { return event_.number(); }
  void wake() const;
  void drain() const;

  // Returns true if SIGTERM has come and take_terminated() has not been called since.
  [[nodiscard]] bool terminated() const;
  void take_terminated();

  // Sets whether SIGTERM ends the process at once, inside the handler. This is set while the agent
  // is held (it must not work yet), so that an agent whose start hangs can still be ended.
  void leave_at_once(bool leave);

 private:
  Descriptor event_;
  struct sigaction old_term_ {};
  struct sigaction old_pipe_ {};
};

}  // namespace agent_protocol

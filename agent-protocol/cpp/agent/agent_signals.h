// Catches the two signals that must not kill an agent, and has the descriptor that wakes its loop.
// A process can have only one such object, since dispositions belong to the whole process.
#pragma once

#include <csignal>

#include "agent-protocol/cpp/agent/agent_descriptor.h"

namespace agent_protocol {

// While the object exists, SIGTERM is noted, and SIGPIPE does nothing if it had its default. Both
// have handlers, not SIG_IGN, so programs that this one executes get the defaults back. A process
// that was forked from this one dies of SIGTERM as by default. A handler that the program sets
// meanwhile stays.
class Signals {
 public:
  // If there is no descriptor left, catches nothing and sets errno.
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  [[nodiscard]] bool caught() const { return event_.open(); }

  // Returns a descriptor that polls readable after a SIGTERM and after wake(), until drain().
  [[nodiscard]] int descriptor() const { return event_.number(); }
  void wake() const;
  void drain() const;

  // Returns true if SIGTERM has come and take_terminated() has not been called since.
  [[nodiscard]] bool terminated() const;
  void take_terminated();

  // Sets whether SIGTERM ends the process at once, inside the handler, so that a held agent whose
  // start hangs can still be ended.
  void leave_at_once(bool leave);

 private:
  Descriptor event_;
  struct sigaction old_term_ {};
  struct sigaction old_pipe_ {};
};

}  // namespace agent_protocol

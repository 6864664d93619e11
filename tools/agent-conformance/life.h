// Notes the messages that one agent has sent and received so far, and decides by them which
// messages the agent may send next.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/agent-conformance/facts.h"
#include "tools/agent-conformance/said.h"
#include "tools/agent-conformance/terms.h"

namespace conformance {

struct Life {
  std::string role;  // the agent's role; empty if it has no upgrader
  int generation = 0;

  int pid = 0;
  bool said_hello = false;
  bool said_ready = false;
  bool said_stopped = false;
  bool said_cancel = false;  // the agent has said `cancel` since the last `stop`
  bool wants_readiness = false;
  std::optional<std::string> version, state, unfit;
  std::vector<Time> heartbeats;
  Duration extended{0};  // the time in the agent's last `extend`
  std::optional<Time> extended_at;

  bool told_activate = false;
  bool told_stop = false;  // the agent got a stop, and has not said `cancel` since
  bool hung_up = false;    // the agent's input was closed
  bool signalled = false;  // the agent was sent SIGTERM
  // the id of the upgrade in the last stop; empty if that was not for an upgrade
  std::string upgrade;
  std::optional<Time> activated_at, stopped_at;

  bool output_closed = false;
  bool input_taken = false;
  bool trace_ended = false;
  std::optional<Exited> exited;
  std::vector<Facts> looks;
  std::vector<std::string> trace;

  [[nodiscard]] bool is_held() const { return !told_activate; }
  [[nodiscard]] bool is_on_trial() const { return told_activate && role == "candidate"; }

  // Returns whether the agent may exit now: it has said `stopped`, its input was closed, or it was
  // sent SIGTERM.
  [[nodiscard]] bool may_exit() const { return said_stopped || hung_up || signalled; }
};

// Returns why the agent must not send this message now, or nothing if it may.
[[nodiscard]] std::string out_of_turn(const Life& life, const Said& said);

// Notes an allowed message that the agent has sent.
void take(Life& life, const Said& said, Time now);

// Returns the agent's end in words: "exited with status 3", "was killed by signal 11 (SIGSEGV)".
[[nodiscard]] std::string end_in_words(const Exited& exited);

}  // namespace conformance

// The events that the upgrader can meet, as plain data. The code in upgrader/shell makes events;
// the supervisor decides what follows from them. If an event carries a generation, it is about the
// process of that agent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "agent-protocol/cpp/wire/codec.h"
#include "agent-protocol/cpp/wire/message.h"
#include "base/ending.h"
#include "base/result.h"
#include "base/time.h"
#include "upgrader/wire/control_request.h"

namespace upgrader {

// The number of a process that was started, counted from 1. Only the code in upgrader/shell knows
// pids; all other code refers to an agent by this number.
using Generation = std::int64_t;

// The number of a program: a checked executable that is kept open, with its arguments. The code in
// upgrader/shell keeps a program open while Supervisor::programs() lists its number.
using ProgramId = int;

// The upgrader has started, and AGENT on its command line can be started.
struct StartRequested {
  ProgramId program = 0;
  // Set with --attempts if too many starts of AGENT have failed: why AGENT should not be started
  // again. If set, AGENT is started only if there is no previous version (--previous) that can be
  // started.
  std::optional<std::string> attempts_exhausted;
};

// AGENT on the command line cannot be started. If Policy::previous is set, the program of
// --previous may be started instead.
struct StartRefused {
  Refusal refusal;
  int exit_status = 0;  // the upgrader's exit status if no other program can be started
};

// An agent has sent a well-formed message. `posthumous` is true if the message was found in the
// pipe after the process had been seen to exit.
struct MessageReceived {
  Generation generation = 0;
  agent_protocol::AgentMessage message;
  bool posthumous = false;
};

// An agent has sent a JSON object whose type is unknown, or that is malformed.
struct MessageRefused {
  Generation generation = 0;
  std::variant<agent_protocol::Unknown, agent_protocol::Malformed> what;
};

// An agent has written a line that is not a message of the protocol. `text` is the beginning of the
// line, escaped for the log.
struct StrayReceived {
  Generation generation = 0;
  std::string text;
};

// An agent has closed its output, and the kernel has not reported the exit of its process yet.
struct OutputClosed {
  Generation generation = 0;
};

// Nothing more can be sent to an agent: it has closed its input, or leaves more than
// `unsent_bytes_max` bytes unread.
struct InputClosed {
  Generation generation = 0;
};

// An `activate` that had waited in a full pipe has now been written whole.
struct ActivateWritten {
  Generation generation = 0;
};

// An agent's process has been reaped; all its messages have been delivered before.
struct ProcessExited {
  Generation generation = 0;
  Ending ending;
};

// How much of an `activate` has been written.
enum class Sent {
  written,
  waits,  // the pipe is full: ActivateWritten will follow
  lost    // nothing more can be sent to the agent: see InputClosed
};

// The outcome of an action. Only the last action that the supervisor returns for an event may have
// an outcome, which must then be the next event. Each member below has a meaning only for some
// actions.
struct Outcome {
  // Why the action failed; absent if it succeeded. A failed action has changed nothing.
  std::optional<Refusal> refused = std::nullopt;
  // In the outcome of Check or FindWayBack: the number of the program that was found, and can be
  // started.
  ProgramId program = 0;
  // after Check: the active agent's program can be started again, if the upgrade fails
  bool way_back = true;
  // In the outcome of Spawn: true if exec failed because of the file, and not because the system
  // lacked a resource.
  bool not_executable = false;
  Sent sent = Sent::written;  // how much of an `activate` the action Send has written
};

// All deadlines up to the time `by` have passed, and all messages and exits of agents up to that
// time have been handled. A deadline after `by` must wait for the next DeadlinePassed, even if the
// deadline has passed meanwhile: the agent may have sent its message in time, and that message has
// not been read yet.
struct DeadlinePassed {
  Time by = Time::max();
};

struct StopRequested {};     // SIGTERM or SIGINT has come
struct QuitRequested {};     // SIGQUIT has come
struct UpgradeRequested {};  // SIGUSR2 has come
struct SignalReceived {      // SIGHUP or SIGUSR1, which is passed on to the agent
  int signal = 0;
};

// An operator has sent a request through the control directory. Chronicle::judge() has already
// dropped requests that were answered before, and has given an id to an upgrade request without
// one.
using ControlRequested = ControlRequest;

using Event =
    std::variant<StartRequested, StartRefused, MessageReceived, MessageRefused, StrayReceived,
                 OutputClosed, InputClosed, ActivateWritten, ProcessExited, Outcome, DeadlinePassed,
                 StopRequested, QuitRequested, UpgradeRequested, SignalReceived, ControlRequested>;

}  // namespace upgrader

// The events that the upgrader can meet, as plain data. The shell makes events; the supervisor
// judges them. An event that carries a generation is about that agent's process and no other.
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

// Counts the processes started, from 1. Names an agent everywhere but in the shell, which alone
// knows pids.
using Generation = std::int64_t;

// Names a program (a checked executable, kept open, with its arguments) that the shell keeps for as
// long as the supervisor names it in programs().
using ProgramId = int;

// The upgrader has started, and AGENT on its command line is fit to be started.
struct StartRequested {
  ProgramId program = 0;
  std::optional<std::string> worn_out;  // with --attempts: why it should not be started once more
};

// AGENT cannot even be started, and there may be a way back: see Policy::previous.
struct StartRefused {
  Refusal refusal;
  int exit_status = 0;  // with which the upgrader ends where there is none
};

// An agent said something well formed. Posthumous: it was found in the pipe when the exit of its
// process had already been seen.
struct MessageReceived {
  Generation generation = 0;
  agent_protocol::AgentMessage message;
  bool posthumous = false;
};

// An agent sent a JSON object with a type that is unknown or malformed.
struct MessageRefused {
  Generation generation = 0;
  std::variant<agent_protocol::Unknown, agent_protocol::Malformed> what;
};

// An agent wrote a line that is no message. `text` is its beginning, fit for the log.
struct StrayReceived {
  Generation generation = 0;
  std::string text;
};

// An agent closed its output; the kernel has not told of its exit.
struct OutputClosed {
  Generation generation = 0;
};

// Something could not be sent to an agent: it has closed its input, or what it has not read exceeds
// `unsent_bytes_max`.
struct InputClosed {
  Generation generation = 0;
};

// An `activate` that had to wait for an agent to read has been written whole.
struct ActivateWritten {
  Generation generation = 0;
};

// An agent's process has been reaped; all that it had said has been delivered before.
struct ProcessExited {
  Generation generation = 0;
  Ending ending;
};

// The fate of an `activate`.
enum class Sent {
  written,
  waits,  // behind a full pipe: ActivateWritten follows
  lost    // the agent has closed its input
};

// The outcome of the last action of the step before, and the next event. The action says which
// members mean something.
struct Outcome {
  std::optional<Refusal> refused = std::nullopt;  // nothing: it is done. Otherwise all is as it was
  ProgramId program = 0;                          // Check, FindWayBack: fit to be started
  bool way_back = true;         // Check: the active agent's program could be started again
  bool not_executable = false;  // Spawn: exec was refused, rather than a process or descriptor
  Sent sent = Sent::written;    // Send
};

// Deadlines up to `by` have passed, and all that the kernel held at that moment has been delivered.
// A deadline that has passed since then, or was set since then, is judged after another look.
struct DeadlinePassed {
  Time by = Time::max();
};

struct StopRequested {};     // SIGTERM or SIGINT
struct QuitRequested {};     // SIGQUIT
struct UpgradeRequested {};  // SIGUSR2
struct SignalReceived {      // one that is passed on: SIGHUP, SIGUSR1
  int signal = 0;
};

// An operator asks for something by the control directory; its name has had no answer yet, and an
// upgrade has an id.
struct ControlRequested {
  ControlRequest request;
};

using Event =
    std::variant<StartRequested, StartRefused, MessageReceived, MessageRefused, StrayReceived,
                 OutputClosed, InputClosed, ActivateWritten, ProcessExited, Outcome, DeadlinePassed,
                 StopRequested, QuitRequested, UpgradeRequested, SignalReceived, ControlRequested>;

}  // namespace upgrader

// The actions that the supervisor orders, as plain data. The code in upgrader/shell, which does all
// input and output, performs them in the order of the list. An action for an agent names the agent
// by its generation: 1 is the first process of an agent that this upgrader has started, 2 the
// second, and so on. An action for a process that has been reaped is dropped.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent-protocol/cpp/wire/message.h"
#include "upgrader/core/event.h"
#include "upgrader/core/log_level.h"
#include "upgrader/core/state.h"

namespace upgrader {

// Check that an executable can be started, and that `running_program`, the program that runs now,
// can be started again if the upgrade fails. The outcome of this action is the next event that the
// supervisor gets.
struct Check {
  // The file to check. If absent, it is the file that AGENT on the command line names now.
  std::optional<std::string> executable;
  // The arguments with which the executable will be started. If `args` is absent, there are two
  // cases. If `executable` is given, they are the arguments of the program that runs now. Otherwise
  // they are the arguments on the upgrader's command line.
  std::optional<std::vector<std::string>> args;
  ProgramId running_program = 0;
  bool operator==(const Check&) const = default;
};

// Start a process. The outcome of this action is the next event that the supervisor gets.
struct Spawn {
  Generation generation = 0;
  ProgramId program = 0;
  bool operator==(const Spawn&) const = default;
};

// Send a message to an agent. If the message is an `activate`, the next event that the supervisor
// gets is the outcome: the message has been written whole, waits because the pipe is full, or is
// lost because nothing more can be sent to the agent. Other messages have no outcome.
struct Send {
  Generation generation = 0;
  agent_protocol::UpgraderMessage message;
  bool operator==(const Send&) const = default;
};

// Close an agent's input, and drop the bytes that have not been written to it yet.
struct CloseInput {
  Generation generation = 0;
  bool operator==(const CloseInput&) const = default;
};

// Send SIGKILL to an agent.
struct Kill {
  Generation generation = 0;
  bool operator==(const Kill&) const = default;
};

// Send SIGTERM to a first agent that has not said `hello`. Such an agent perhaps does not speak the
// protocol, so it cannot be sent `stop`.
struct Terminate {
  Generation generation = 0;
  bool operator==(const Terminate&) const = default;
};

struct PassSignal {
  Generation generation = 0;
  int signal = 0;
  bool operator==(const PassSignal&) const = default;
};

// AGENT's program has failed at boot. Check that the link of --previous leads to an executable that
// can be started, and that this executable is not AGENT's. The outcome of this action is the next
// event that the supervisor gets.
struct FindWayBack {
  bool operator==(const FindWayBack&) const = default;
};

// Reset the count of failed starts (--attempts) to 0. Ordered when an agent has stayed active for
// as long as a trial lasts, or when an upgrade has been committed.
struct ForgetAttempts {
  bool operator==(const ForgetAttempts&) const = default;
};

// Check that AGENT's link can be replaced, and sync the new program and the directories that lead
// to it. Ordered before the old agent is stopped, so that the later Relink is quick and unlikely to
// fail. The outcome of this action is the next event that the supervisor gets.
struct ProveRelink {
  ProgramId program = 0;
  bool operator==(const ProveRelink&) const = default;
};

// Make AGENT's link (the symbolic link that the command line names as AGENT) lead to this program,
// durably, because the program is committed. In an upgrade, ProveRelink has been performed before.
// The outcome of this action is the next event that the supervisor gets.
struct Relink {
  ProgramId program = 0;
  // True if the link of --previous must be moved, too. It is moved first, to the target that
  // AGENT's link has now.
  bool moves_previous = true;
  bool operator==(const Relink&) const = default;
};

// Point AGENT's link back to the committed program, durably. Ordered at the beginning of an upgrade
// that the user may have requested by changing this link: if the upgrader dies before the commit,
// the next upgrader must start the committed program. The outcome of this action is the next event
// that the supervisor gets.
struct PutLinkBack {
  bool operator==(const PutLinkBack&) const = default;
};

// Point AGENT's link back to the committed program, as PutLinkBack does, after an upgrade has
// failed or was refused. Unlike PutLinkBack, this action has no outcome.
struct RestoreLink {
  bool operator==(const RestoreLink&) const = default;
};

struct Log {
  LogLevel level = LogLevel::info;
  std::string text;
  // If this line says why the upgrader ends, `text` begins with the reason, and this is the
  // reason's length in bytes. status.json shows only the reason. Every other line has 0.
  std::size_t why_it_ends = 0;
  bool operator==(const Log&) const = default;
};

// A log line that an agent, or a process that writes to the control directory, can cause as often
// as it likes. Only one line of each kind is shown per second (log_limit.h).
enum class NoticeKind { stray, status, error, refusal, request };
struct Notice {
  Generation generation = 0;  // the agent that caused the line; 0 if a request did
  NoticeKind kind = NoticeKind::stray;
  std::string text;
  bool operator==(const Notice&) const = default;
};

// The answer to an operator's request, published under the request's name.
struct Answer {
  std::string name;
  Deed deed = Deed::shutdown;
  // The reason why the request was refused; empty if the request is carried out, or if the upgrade
  // that it requests was accepted.
  std::string refusal;
  bool operator==(const Answer&) const = default;
};

// Record how the upgrade under way has ended. Ordered exactly once for each upgrade that was
// accepted.
struct RecordEnding {
  UpgradeOutcome outcome = UpgradeOutcome::committed;
  // Why the upgrade failed; absent if it was committed.
  std::optional<agent_protocol::Failure> failure;
  bool operator==(const RecordEnding&) const = default;
};

// End the upgrader with this exit status. Always the very last action.
struct Exit {
  int status = 0;
  bool operator==(const Exit&) const = default;
};

using Action = std::variant<Check, FindWayBack, ForgetAttempts, Spawn, Send, CloseInput, Kill,
                            Terminate, PassSignal, ProveRelink, Relink, PutLinkBack, RestoreLink,
                            Log, Notice, Answer, RecordEnding, Exit>;
using Actions = std::vector<Action>;

}  // namespace upgrader

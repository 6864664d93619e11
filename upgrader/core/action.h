// The supervisor's orders, as plain data, to be performed in order. An order to an agent names its
// generation; the shell drops orders for a process that has been reaped.
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
// could be started again. This action has an outcome.
struct Check {
  // If absent, the file that AGENT on the command line names now.
  std::optional<std::string> executable;
  // If absent, the arguments of `running_program`, or, without `executable`, those of the command
  // line.
  std::optional<std::vector<std::string>> args;
  ProgramId running_program = 0;
  bool operator==(const Check&) const = default;
};

// Start a process. This action has an outcome.
struct Spawn {
  Generation generation = 0;
  ProgramId program = 0;
  bool operator==(const Spawn&) const = default;
};

// Send a message to an agent. Only an `activate` has an outcome.
struct Send {
  Generation generation = 0;
  agent_protocol::UpgraderMessage message;
  bool operator==(const Send&) const = default;
};

// Write nothing more to an agent, and drop the bytes that wait to be written.
struct CloseInput {
  Generation generation = 0;
  bool operator==(const CloseInput&) const = default;
};

// Send SIGKILL to an agent.
struct Kill {
  Generation generation = 0;
  bool operator==(const Kill&) const = default;
};

// Send SIGTERM to a first agent that has not said that it speaks the protocol.
struct Terminate {
  Generation generation = 0;
  bool operator==(const Terminate&) const = default;
};

struct PassSignal {
  Generation generation = 0;
  int signal = 0;
  bool operator==(const PassSignal&) const = default;
};

// Check that the link of --previous names an executable that can be started and is not the one that
// has failed. This action has an outcome.
struct FindWayBack {
  bool operator==(const FindWayBack&) const = default;
};

// Forget how often AGENT's executable has been started in vain.
struct ForgetAttempts {
  bool operator==(const ForgetAttempts&) const = default;
};

// Prove that the link can be replaced, and sync this program and the directories that lead to it.
// This is done early, since Relink follows only when the old agent has gone, and must then be quick
// and unlikely to fail. This action has an outcome.
struct ProveRelink {
  ProgramId program = 0;
  bool operator==(const ProveRelink&) const = default;
};

// Make the link name this program, durably. ProveRelink has come before. This action has an
// outcome.
struct Relink {
  ProgramId program = 0;
  bool moves_previous = true;  // first make the link of --previous name AGENT's present target
  bool operator==(const Relink&) const = default;
};

// Make the link name again, durably, the target of the last commit, or of the start. The user has
// set the link to the version that the beginning upgrade is for; if this upgrader dies, the next
// upgrader must not start that version. This action has an outcome.
struct PutLinkBack {
  bool operator==(const PutLinkBack&) const = default;
};

// Make the link name again the target of the last commit, like PutLinkBack, but after an upgrade
// has ended. This action has no outcome.
struct RestoreLink {
  bool operator==(const RestoreLink&) const = default;
};

struct Log {
  LogLevel level = LogLevel::info;
  std::string text;
  // The number of bytes at the start of `text` that are the reason why the upgrader ends; 0 in all
  // other lines.
  std::size_t why_it_ends = 0;
  bool operator==(const Log&) const = default;
};

// A log line that an agent, or a process that writes to the control directory, can cause as often
// as it likes. Only one line of each kind is shown per second (log_limit.h).
enum class NoticeKind { stray, status, error, refusal, request };
struct Notice {
  Generation generation = 0;  // 0 for the control directory
  NoticeKind kind = NoticeKind::stray;
  std::string text;
  bool operator==(const Notice&) const = default;
};

// The answer to an operator's request, published under the request's name.
struct Answer {
  std::string name;
  Deed deed = Deed::shutdown;
  std::string refusal;  // empty if the request is carried out, or the upgrade was accepted
  bool operator==(const Answer&) const = default;
};

// Record how the upgrade under way ended. Ordered exactly once for each upgrade that was accepted.
struct RecordEnding {
  UpgradeOutcome outcome = UpgradeOutcome::committed;
  std::optional<agent_protocol::Failure> failure;  // absent if the upgrade was committed
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

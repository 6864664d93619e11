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

// Look whether an executable can be started, and whether `running_program`, the program that runs
// now, could be started again. It has an outcome.
struct Check {
  std::optional<std::string> executable;         // none: what AGENT on the command line names now
  std::optional<std::vector<std::string>> args;  // none: those of `running_program`; with no
                                                 // executable, the command line's
  ProgramId running_program = 0;
  bool operator==(const Check&) const = default;
};

// Start a process. It has an outcome.
struct Spawn {
  Generation generation = 0;
  ProgramId program = 0;
  bool operator==(const Spawn&) const = default;
};

// An `activate` has an outcome; no other message has one.
struct Send {
  Generation generation = 0;
  agent_protocol::UpgraderMessage message;
  bool operator==(const Send&) const = default;
};

// Write nothing more to an agent, not even what waits.
struct CloseInput {
  Generation generation = 0;
  bool operator==(const CloseInput&) const = default;
};

// SIGKILL.
struct Kill {
  Generation generation = 0;
  bool operator==(const Kill&) const = default;
};

// SIGTERM, for a first agent that has not said that it speaks the protocol.
struct Terminate {
  Generation generation = 0;
  bool operator==(const Terminate&) const = default;
};

struct PassSignal {
  Generation generation = 0;
  int signal = 0;
  bool operator==(const PassSignal&) const = default;
};

// Look whether the link of --previous names an executable that is fit to be started and is not what
// has failed. It has an outcome.
struct FindWayBack {
  bool operator==(const FindWayBack&) const = default;
};

// Forget how often AGENT's executable has been started in vain: it is as good as new.
struct ForgetAttempts {
  bool operator==(const ForgetAttempts&) const = default;
};

// Show that the link can be replaced, and sync this program and the directories that lead to it.
// Relink comes when the old agent has gone: little that may fail or take long is left to it.
// It has an outcome.
struct ProveRelink {
  ProgramId program = 0;
  bool operator==(const ProveRelink&) const = default;
};

// Make the link name this program, durably, after that has been proved. It has an outcome.
struct Relink {
  ProgramId program = 0;
  bool moves_previous = true;  // the link of --previous first, to what this one names now
  bool operator==(const Relink&) const = default;
};

// Make the link name again, durably, what it named at the last commit, or at the start. The upgrade
// that begins is to the newer target; if this upgrader dies, the next must not start that. It has
// an outcome.
struct PutLinkBack {
  bool operator==(const PutLinkBack&) const = default;
};

// The same, for an upgrade that is over; no outcome.
struct RestoreLink {
  bool operator==(const RestoreLink&) const = default;
};

struct Log {
  LogLevel level = LogLevel::info;
  std::string text;
  // How many bytes of `text`, from its start, say why the upgrader ends; 0 in all other lines.
  std::size_t why_it_ends = 0;
  bool operator==(const Log&) const = default;
};

// A log line that an agent, or who writes to the control directory, can cause as often as it likes:
// at most one of each kind a second is shown (log_limit.h).
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
  std::string refusal;  // empty: what was asked for has been begun; an upgrade: accepted
  bool operator==(const Answer&) const = default;
};

// The upgrade under way ends so. Ordered exactly once for each that was accepted.
struct RecordEnding {
  UpgradeOutcome outcome = UpgradeOutcome::committed;
  std::optional<agent_protocol::Failure> failure;  // of all but a committed one
  bool operator==(const RecordEnding&) const = default;
};

// The upgrader ends with this status. Always the last action of all.
struct Exit {
  int status = 0;
  bool operator==(const Exit&) const = default;
};

using Action = std::variant<Check, FindWayBack, ForgetAttempts, Spawn, Send, CloseInput, Kill,
                            Terminate, PassSignal, ProveRelink, Relink, PutLinkBack, RestoreLink,
                            Log, Notice, Answer, RecordEnding, Exit>;
using Actions = std::vector<Action>;

}  // namespace upgrader

// The vocabulary of the second table (`second.table`), an independent second description of the
// supervisor. This file declares the table's events, and the guards (conditions) and effects that
// the rows name. It also declares `Notes`: all facts that are not part of a situation (the
// upgrade's stage and the states of the two agents).
//
// The vocabulary was written from the protocol page, without a look at the supervisor.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "upgrader/core/action.h"
#include "upgrader/core/event.h"
#include "upgrader/core/supervisor.h"

namespace upgrader::test {

// One of the two agents of the second table (an independent second description of the supervisor).
// Agent A is active, or is started to become active, as a first agent or a fallback. Agent B waits
// to be activated: it is a candidate, or during a trial, a standby (an agent of the old version).
struct Party {
  Generation generation = 0;  // the agent's generation; 0 if there is no such agent
  agent_protocol::Role role = agent_protocol::Role::first;
  ProgramId program = 0;
  std::optional<std::string> version = {};
  std::optional<Time> limit = {};  // the deadline for `ready`, for `stopped`, or for the exit
  std::optional<Time> grace = {};  // the deadline for the exit after a pipe was closed
  std::optional<Time> beat = {};   // the deadline for the next `heartbeat`
  std::optional<Time> hello = {};  // the time at which the log reports a missing `hello`
  std::optional<Time> lasts = {};  // the time from which the agent's start counts as a success
  // True if the agent has missed the deadline for a `heartbeat`, and has sent none since.
  bool silent = false;
  bool offered = false;  // `activate` was sent to the agent, and is not fully written yet
  // True if the agent has the feature `readiness`, and so will send `healthy` when it works.
  bool promises_word = false;
  bool works = false;       // the agent has sent `healthy`, or need not send it
  bool left_unfit = false;  // the agent's message `unfit` was read only after its exit
  bool stood_by = false;    // started as a standby: during a trial, with the old version
  bool told_why = false;    // the message `welcome` said why the upgrade had failed

  bool operator==(const Party&) const = default;
};

// A requested upgrade. Its terms, such as the mode and the time limits, are those of the request;
// terms that the request does not set have their defaults.
struct Request {
  std::string id;
  bool by_signal = false;
  bool by_control = false;
  // True if the request names no executable: the upgrade is then to the file that AGENT on the
  // command line names. With --relink, AGENT is a link, and a failure of such an upgrade puts this
  // link back.
  bool of_agent = false;
  std::string owed = {};  // the operator's request that has no answer yet
  bool told = false;      // the active agent has been sent the upgrade's id
  Terms terms = {};
  std::optional<std::string> executable = {};
  std::optional<std::vector<std::string>> args = {};
  ProgramId program = 0;
  Generation generation = 0;  // the candidate's generation; 0 until it has got one
  ProgramId previous = 0;
  std::optional<std::string> previous_version = {};
  std::optional<std::string> failed_version = {};
  std::optional<Time> limit = {};  // the deadline of the trial, or of the wait for a `confirm`
  std::optional<agent_protocol::Failure> cause = {};
  // The reason why the upgrader, at its own start, starts the previous program: the first agent has
  // failed at its start, or its executable has been started too often. No value if the previous
  // program is not started for such a reason.
  std::optional<agent_protocol::PastFailure> boot = {};

  bool operator==(const Request&) const = default;
};

struct Notes {
  Policy policy;
  Party a, b;
  Generation last = 0;
  Request request;  // the upgrade under way; if there is none, its id is empty
  // Facts about the agent that was active last: whether it said `stopped` (`clean`), the state that
  // it left (`left`), and the status with which the upgrader would exit because of this agent's
  // exit (`end`).
  bool clean = false;
  std::optional<std::string> left;
  int end = 0;
  std::optional<int> verdict;  // the upgrader's exit status, once it is final
  int signals = 0;             // how many signals SIGUSR2 have come so far
  bool attempts_over = false;  // no more starts of AGENT's executable are counted
  bool put_off = false;        // the deadline that has passed had been postponed before
  // The order whose outcome the supervisor awaits. If there is one, the next event must be its
  // outcome.
  std::optional<Action> asked;

  bool operator==(const Notes&) const = default;
};

// The number of an event's name, such as "exits", in the list of all event names that
// `second.table` uses.
using What = std::size_t;
[[nodiscard]] What what_named(std::string_view name);  // npos if the name is unknown
[[nodiscard]] std::string name_of_what(What what);
[[nodiscard]] std::size_t count_of_whats();

// An event of the supervisor. Its name is taken from `second.table`, the second description of the
// supervisor, which was written independently of the code.
struct Happening {
  What what = 0;
  const Event* event = nullptr;
  bool from_b = false;
  Time now{};
};

// Returns the last of these actions if the supervisor must wait for the outcome of that action.
// Otherwise returns nothing.
[[nodiscard]] std::optional<Action> asked_by(const Actions& actions);

// Returns the earliest of the deadlines that have passed, or null if none has passed.
[[nodiscard]] std::optional<Time>* deadline_due(Notes& notes, Time now);

// Returns the message's name. Messages have the same names on the wire and in `second.table`.
[[nodiscard]] std::string_view wire_name(const agent_protocol::AgentMessage& message);

// Translates an event of the supervisor into an event of `second.table`. Returns nothing if the
// event is about an agent that has ended. Also returns nothing if the event is DeadlinePassed, but
// no deadline in `notes` has passed.
[[nodiscard]] std::optional<Happening> happening_of(const Notes& notes, const Event& event,
                                                    Time now);

using Guard = bool (*)(const Notes&, const Happening&);
using Effect = void (*)(Notes&, const Happening&, Actions&);
[[nodiscard]] Guard guard_named(std::string_view name);    // null if the name is unknown
[[nodiscard]] Effect effect_named(std::string_view name);  // null if the name is unknown

// ---- functions that the guards and the effects share: they read an event, and find an effect by
// ---- its name

template <class Kind>
const Kind& as(const Happening& happening) {
  return std::get<Kind>(*happening.event);
}

template <class Kind>
const Kind& said(const Happening& happening) {
  return std::get<Kind>(as<MessageReceived>(happening).message);
}

// Returns the terms of a requested upgrade, such as the mode and the time limits. Terms that the
// request does not set get their defaults.
[[nodiscard]] Terms terms_of(const Policy& policy, const agent_protocol::Upgrade& asked,
                             bool by_signal);

template <class Function>
struct Named {
  const char* name;
  Function function;
};

template <class Function, std::size_t size>
Function named(const Named<Function> (&all)[size], std::string_view name) {
  for (const auto& one : all) {
    if (one.name == name) return one.function;
  }
  return nullptr;
}

// Returns the effect on deadlines with this name, or null if there is none.
[[nodiscard]] Effect deadline_effect_named(std::string_view name);

}  // namespace upgrader::test

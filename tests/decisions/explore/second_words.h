// The words of the second table: the events that its rows answer, the notes that are taken beside
// the situation, and the guards and effects that rows name. Written from the protocol page, without
// a look at the supervisor.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "upgrader/core/action.h"
#include "upgrader/core/event.h"
#include "upgrader/core/supervisor.h"

namespace upgrader::test {

// One of the two agents. A has the work, or is started without a trial to get it. B is a candidate
// that waits for it.
struct Party {
  Generation generation = 0;  // 0: there is none
  agent_protocol::Role role = agent_protocol::Role::first;
  ProgramId program = 0;
  std::optional<std::string> version = {};
  std::optional<Time> limit = {};  // to be ready, to have stopped, to have exited
  std::optional<Time> grace = {};  // to exit after a pipe was closed
  std::optional<Time> beat = {};   // to have said `heartbeat`
  std::optional<Time> hello = {};  // to have said `hello`, before that is told to people
  std::optional<Time> lasts = {};  // then it has lasted: its start counts as no failure
  bool silent = false;             // that has passed, and it has not said it since
  bool offered = false;            // its `activate` is being written, or waits
  bool promises_word = false;      // feature `readiness`: it says `healthy` when it works
  bool works = false;              // it has said that, or need not
  bool left_unfit = false;         // that it was unfit was found when its exit had been seen
  bool stood_by = false;           // it was started beside the agent on trial
  bool told_why = false;           // its `welcome` had the failure

  bool operator==(const Party&) const = default;
};

// An upgrade as it was requested, with the defaults filled in.
struct Request {
  std::string id;
  bool by_signal = false;
  bool by_control = false;
  bool of_agent = false;  // to what AGENT names: its link is put back where that fails
  std::string owed = {};  // the name under which an operator waits for an answer
  bool told = false;      // the active agent knows the id
  Terms terms = {};
  std::optional<std::string> executable = {};
  std::optional<std::vector<std::string>> args = {};
  ProgramId program = 0;
  Generation generation = 0;  // 0: not taken yet
  ProgramId previous = 0;
  std::optional<std::string> previous_version = {};
  std::optional<std::string> failed_version = {};
  std::optional<Time> limit = {};  // of the gate, or the trial
  std::optional<agent_protocol::Failure> cause = {};
  std::optional<agent_protocol::PastFailure> boot = {};  // the first agent's: this is the way back

  bool operator==(const Request&) const = default;
};

struct Notes {
  Policy policy;
  Party a, b;
  Generation last = 0;
  Request request;  // with an id if an upgrade is under way
  // The last active agent: whether it confirmed its stop, the state that it left, and the status
  // with which the upgrader would exit.
  bool clean = false;
  std::optional<std::string> left;
  int end = 0;
  std::optional<int> verdict;   // what the upgrader exits with whatever else comes
  int signals = 0;              // SIGUSR2 so far
  bool attempts_over = false;   // AGENT's executable is not counted any more
  bool put_off = false;         // the deadline that is due has been put off before
  std::optional<Action> asked;  // the order whose outcome is next

  bool operator==(const Notes&) const = default;
};

// A kind of event that rows name: an index into the list of names.
using What = std::size_t;
[[nodiscard]] What what_named(std::string_view name);  // npos if there is none
[[nodiscard]] std::string name_of_what(What what);
[[nodiscard]] std::size_t count_of_whats();

// An event as the table sees it.
struct Happening {
  What what = 0;
  const Event* event = nullptr;
  bool from_b = false;
  Time now{};
};

// Returns the action of these whose outcome the supervisor waits for next, or nothing if it waits
// for none.
[[nodiscard]] std::optional<Action> asked_by(const Actions& actions);

// Returns the first deadline that has passed, or null.
[[nodiscard]] std::optional<Time>* deadline_due(Notes& notes, Time now);

// Returns the message's name on the wire, which the table uses, too.
[[nodiscard]] std::string_view wire_name(const agent_protocol::AgentMessage& message);

// Translates an event into the table's terms. Returns nothing if the event is about an agent that
// has ended, or if no deadline has passed.
[[nodiscard]] std::optional<Happening> happening_of(const Notes& notes, const Event& event,
                                                    Time now);

using Guard = bool (*)(const Notes&, const Happening&);
using Effect = void (*)(Notes&, const Happening&, Actions&);
[[nodiscard]] Guard guard_named(std::string_view name);    // or null
[[nodiscard]] Effect effect_named(std::string_view name);  // or null

[[nodiscard]] std::string print(const Notes& notes);

}  // namespace upgrader::test

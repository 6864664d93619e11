// A check, and its script: the steps that the check performs with one or several agents. This file
// also declares functions that make single steps and parts of scripts. All types are plain data,
// except for the small functions with which a check judges its observations, and for Life, which
// keeps track of one agent's messages.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/agent-conformance/said.h"
#include "tools/agent-conformance/seen.h"

namespace conformance {

using Duration = std::chrono::milliseconds;
using Time = std::chrono::microseconds;  // the time since the beginning of the check

// The times that options can set. All except `watch` are time limits for the agent. Their defaults
// are long, so that an agent on a loaded machine meets them.
struct Terms {
  // the time limit for the agent's `hello` after its start, for its `ready` after its `hello`, and
  // for reading the bytes that were sent to it
  Duration start_timeout{std::chrono::seconds{30}};
  Duration stop_timeout{std::chrono::seconds{30}};  // the longest time from `stop` to `stopped`
  // the time limit for the agent's exit after its `stopped`, after a signal, and after the end of
  // its input
  Duration exit_grace{std::chrono::seconds{30}};
  Duration watch{300};  // how long to watch an agent that must do nothing
  bool has_strace = false;
};

// The state of the conversation with one agent: the messages that the agent has sent and received
// so far. They decide which messages the agent may send next.
struct Life {
  std::string role;  // the agent's role; empty if the agent runs without an upgrader
  // True for a fallback that the upgrader starts because the agent that it started first has
  // failed. Unlike any other fallback, this agent is on trial when it is active, and the message
  // `committed` that it gets has the id `boot`.
  bool is_boot_fallback = false;
  int generation = 0;

  int pid = 0;
  bool said_hello = false;
  bool said_ready = false;
  bool said_stopped = false;
  bool said_cancel = false;  // the agent has sent `cancel` since the last `stop`
  bool wants_readiness = false;
  bool said_healthy = false;
  std::optional<std::string> version, state, unfit;
  std::vector<Time> heartbeats;
  Duration extended{0};  // the time that the agent requested by its last `extend`

  bool told_activate = false;
  bool told_stop = false;  // `stop` was sent, and the agent has not sent `cancel` since
  bool hung_up = false;    // the agent's input was closed
  bool signalled = false;  // the agent was sent SIGTERM
  // the id of the upgrade for which the last `stop` was sent; empty if that `stop` had a different
  // reason
  std::string upgrade;

  bool output_closed = false;
  bool input_taken = false;
  bool trace_ended = false;
  std::optional<Exited> exited;
  std::vector<Facts> looks;
  std::vector<std::string> trace;

  [[nodiscard]] bool is_held() const { return !told_activate; }
  [[nodiscard]] bool is_on_trial() const {
    return told_activate && (role == "candidate" || is_boot_fallback);
  }

  // Returns true if the agent may exit now: it has sent `stopped`, its input was closed, or it was
  // sent SIGTERM.
  [[nodiscard]] bool may_exit() const { return said_stopped || hung_up || signalled; }
};

// Returns the reason why the agent must not send this message now, or an empty string if the agent
// may send it.
[[nodiscard]] std::string out_of_turn(const Life& life, const Said& said);

// Records in `life` a message that the agent has sent and was allowed to send.
void take(Life& life, const Said& said, Time now);

// Returns how the agent ended: "exited with status 3", "was killed by signal 11 (SIGSEGV)".
[[nodiscard]] std::string end_in_words(const Exited& exited);

// Returns the duration as text, such as "30 s" or "1500 ms".
[[nodiscard]] std::string duration_in_words(Duration duration);

// A literal sentence of agent-protocol(7), and the section of the page that contains the sentence.
struct Quote {
  std::string_view section;
  std::string_view sentence;
};

using Lives = std::vector<Life>;

struct Fault {
  std::string came{};  // the wrong behavior of the agent, in words
  // the sentence of agent-protocol(7) that the agent has violated; absent if this is the first of
  // the check's `quotes`
  std::optional<Quote> quote{};
};

struct Judgement;
using Judge = std::function<Judgement(const Lives&, Time now)>;

struct Step {
  enum class Kind : std::uint8_t {
    start,  // starts a new agent; `text` is the answer to its `hello`
    await,  // waits until the agent has done `what`, for example sent `ready`
    tell,   // sends the lines in `text` to the agent
    hang_up,
    signal,
    watch,  // watches the agent for `time`; any reaction of the agent is a fault
    taken,  // waits until the agent has read all lines that were sent to it
    look,   // reads facts about the agent's processes from /proc
    clog,
    unclog,
    traced,  // waits until strace has reported all system calls of an agent that has exited
    judge
  };
  enum class What : std::uint8_t { hello, ready, stopped, answer, exit, closed };

  Kind kind = Kind::watch;
  int agent = 0;
  What what = What::hello;
  std::string text{};
  bool bytewise = false;
  bool activates = false;  // the lines in `text` contain an `activate`
  bool stops = false;      // the lines in `text` contain a `stop`
  std::string upgrade{};   // the id of the upgrade for which `text` contains a `stop`, or empty
  Duration time{0};        // for await: the time limit; 0 means the usual time limit
  Start terms{};
  Life life{};  // for start: the agent's role and state
  Judge judge{};

  [[nodiscard]] bool awaits_word() const {
    return kind == Kind::await && what != What::exit && what != What::closed;
  }
};

using Script = std::vector<Step>;

// The judgement of a check on everything that was observed so far.
struct Judgement {
  std::optional<Fault> fault{};
  std::vector<std::string> notes{};
  Script more{};  // steps to insert before the rest of the script
};

// The rules that a check applies to every line and every event of an agent, in every step of the
// check's script.
enum Rule : std::uint32_t {
  rule_none = 0,
  rule_stray = 1U << 0U,
  // The rule that no message is malformed or of an unknown type.
  rule_form = 1U << 1U,
  rule_turn = 1U << 2U,   // the rule that each message comes only when it is allowed
  rule_last = 1U << 3U,   // the rule that no line comes after `stopped`
  rule_first = 1U << 4U,  // the rule that no line comes before `hello`
  rule_pipes = 1U << 5U,  // the rule that an agent that closes its output must exit
  // the rule that a `cancel`, and each message after it, comes only when it is allowed
  rule_cancel = 1U << 6U,
};

struct Check {
  std::string_view name;
  std::string_view doing;     // for the report: what the check does to the agent
  std::string_view expected;  // for the report: what the agent must do
  std::vector<Quote> quotes;
  // if one of these checks has not passed, this check is not judged
  std::vector<std::string_view> needs;
  std::function<Script(const Terms&)> script;
  std::uint32_t rules = rule_none;
  // True if the result of the check depends on time. A fault then counts only if the check is
  // repeated with longer times and finds a fault again.
  bool twice = false;
  bool unfit_is_fine = false;  // this check sends strange input, so an agent may answer `unfit`
  bool is_advice = false;      // a fault is reported as advice, not as a failure
};

// ---- functions that make single steps and parts of scripts

[[nodiscard]] Script join(std::initializer_list<Script> parts);

// Makes the step that starts a first agent, which has no previous agent. When the agent has sent
// `hello`, it gets the line `welcome` as the answer. If `welcome` is empty, it gets no answer.
[[nodiscard]] Step start_first(const std::string& welcome, Start terms = {});
// Makes the step that starts a candidate, an agent that is to replace the active agent.
// `generation` is the candidate's number in its `welcome`: an upgrader numbers its agents from 1.
[[nodiscard]] Step start_candidate(int agent, int generation, std::string_view previous_version);

[[nodiscard]] Step await(int agent, Step::What what, Duration time = {});
[[nodiscard]] Step tell(int agent, std::string line);
[[nodiscard]] Step tell_activate(int agent, std::string line);
[[nodiscard]] Step tell_stop(int agent, std::string line, std::string_view upgrade = {});
[[nodiscard]] Step hang_up(int agent);
[[nodiscard]] Step send_sigterm(int agent);
[[nodiscard]] Step watch(Duration time);
[[nodiscard]] Step taken(int agent);
[[nodiscard]] Step look(int agent);
[[nodiscard]] Step of_kind(Step::Kind kind, int agent = 0);
[[nodiscard]] Step examine(Judge judge);

// The next three functions make scripts for a first agent. After held(), the agent is ready, but
// not activated. After active(), the agent is active. stopped_for_upgrade() continues after
// active(): the agent is told to stop for an upgrade, and says `stopped`.
[[nodiscard]] Script held(Start terms = {});
[[nodiscard]] Script active(Start terms = {});
[[nodiscard]] Script stopped_for_upgrade(const Terms& terms);
// Makes the script that starts a candidate (an agent that is to replace the active agent) and
// activates it with the line `activate_line`.
[[nodiscard]] Script active_candidate(const std::string& activate_line);

}  // namespace conformance

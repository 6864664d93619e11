// A check and its script: what it does to agents, step by step. Plain data, except for the small
// functions by which a check judges what was seen, and for Life, which knows one agent's messages.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/agent-conformance/facts.h"
#include "tools/agent-conformance/said.h"
#include "tools/agent-conformance/seen.h"
#include "tools/agent-conformance/terms.h"

namespace conformance {

// Notes the messages that one agent has sent and received so far, and decides by them which
// messages the agent may send next.
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

// A sentence of agent-protocol(7), exactly as on the page, and the page's section.
struct Quote {
  std::string_view section;
  std::string_view sentence;
};

using Lives = std::vector<Life>;

struct Fault {
  std::string came{};  // what the agent did instead of what it must do
  // the sentence of the page that the agent has broken; if absent, the check's first quotation
  std::optional<Quote> quote{};
};

struct Judgement;
using Judge = std::function<Judgement(const Lives&, Time now)>;

struct Step {
  enum class Kind : std::uint8_t {
    start,  // starts a new agent, which is sent `text` when it says hello
    await,  // waits until the agent has done `what`, such as sent `ready`, or exited
    tell,   // sends the lines in `text` to the agent
    hang_up,
    signal,
    watch,  // watches for `time`; it is a fault if the agent does anything in that time
    taken,  // waits until the agent has read everything sent to it
    look,   // reads facts about the agent's processes from /proc
    clog,
    unclog,
    traced,  // waits until strace has reported every call of an agent that has exited
    judge
  };
  enum class What : std::uint8_t { hello, ready, stopped, answer, exit, closed };

  Kind kind = Kind::watch;
  int agent = 0;
  What what = What::hello;
  std::string text{};
  bool bytewise = false;
  bool activates = false;  // the lines in `text` make the agent active
  bool stops = false;      // the lines in `text` tell the agent to stop
  std::string upgrade{};   // the id of the upgrade, if `text` is a stop for an upgrade
  Duration time{0};        // for await: how long to wait; 0 means the usual time limit
  Start terms{};
  Life life{};  // for the step start: the agent's role and state
  Judge judge{};

  [[nodiscard]] bool awaits_word() const {
    return kind == Kind::await && what != What::exit && what != What::closed;
  }
};

using Script = std::vector<Step>;

// The result of judging all events of the check so far.
struct Judgement {
  std::optional<Fault> fault{};
  std::vector<std::string> notes{};
  Script more{};  // steps to take before the rest of the script
};

// Rules that an agent must keep all the time, whatever the steps of the script are. Each is judged
// at every line and every event.
enum Rule : std::uint32_t {
  rule_none = 0,
  rule_stray = 1U << 0U,
  // The rule that the agent sends no unknown types and no malformed messages.
  rule_form = 1U << 1U,
  rule_turn = 1U << 2U,    // the rule that each message comes only when it is allowed
  rule_last = 1U << 3U,    // the rule that no line comes after `stopped`
  rule_first = 1U << 4U,   // the rule that no line comes before `hello`
  rule_pipes = 1U << 5U,   // the rule that an agent that closes its output must exit
  rule_cancel = 1U << 6U,  // no cancel of an unknown upgrade, no `stopped` after a cancel
};

struct Check {
  std::string_view name;
  std::string_view doing;     // what the check does to the agent, for the report
  std::string_view expected;  // what the agent must do, for the report
  std::vector<Quote> quotes;
  std::vector<std::string_view> needs;  // the checks that must pass, or else this one is not judged
  std::function<Script(const Terms&)> script;
  std::uint32_t rules = rule_none;
  // True if the check depends on time. A fault then counts only if a second try, with longer times,
  // finds it, too.
  bool twice = false;
  bool unfit_is_fine = false;  // this check sends odd input, so an agent may answer `unfit`
  bool is_advice = false;      // a fault is reported, but does not count against conformance
};

}  // namespace conformance

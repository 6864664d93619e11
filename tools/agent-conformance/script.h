// A check, and its script: what it does to agents, step by step. Plain data, but for the small
// functions by which a check looks at what was seen.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/agent-conformance/life.h"
#include "tools/agent-conformance/seen.h"
#include "tools/agent-conformance/terms.h"

namespace conformance {

// A sentence of agent-protocol(7), as it stands there, and the section in which.
struct Quote {
  std::string_view section;
  std::string_view sentence;
};

using Lives = std::vector<Life>;

struct Fault {
  std::string came{};            // what came instead
  std::optional<Quote> quote{};  // where another sentence is meant than the check's first
};

struct Judgement;
using Judge = std::function<Judgement(const Lives&, Time now)>;

struct Step {
  enum class Kind : std::uint8_t {
    start,  // a new agent, told `text` when it says hello
    await,  // until the agent has done `what`
    tell,   // writes `text`
    hang_up,
    signal,
    watch,  // for `time`: nothing is to happen
    taken,  // until the agent has read all that it was told
    look,   // at its processes
    clog,
    unclog,
    traced,  // until strace has said all of an agent that has ended
    judge
  };
  enum class What : std::uint8_t { hello, ready, stopped, answer, exit, closed };

  Kind kind = Kind::watch;
  int agent = 0;
  What what = What::hello;
  std::string text{};
  bool bytewise = false;
  bool activates = false;  // what is told makes the agent active,
  bool stops = false;      // or tells it to stop,
  std::string upgrade{};   // for this upgrade
  Duration time{0};        // of an await: 0 is the deadline that fits
  Start terms{};
  Life life{};  // what an agent that starts is to be
  Judge judge{};

  [[nodiscard]] bool awaits_word() const {
    return kind == Kind::await && what != What::exit && what != What::closed;
  }
};

using Script = std::vector<Step>;

// The result of a look at all that was seen.
struct Judgement {
  std::optional<Fault> fault{};
  std::vector<std::string> notes{};
  Script more{};  // to be done next
};

// Rules that are judged in every line and at every moment of a check, beside its script.
enum Rule : std::uint32_t {
  rule_none = 0,
  rule_stray = 1U << 0U,
  rule_form = 1U << 1U,    // unknown types, malformed messages
  rule_turn = 1U << 2U,    // what may not be said now
  rule_last = 1U << 3U,    // anything behind stopped
  rule_first = 1U << 4U,   // anything before hello
  rule_pipes = 1U << 5U,   // the agent closes its output while it lives
  rule_cancel = 1U << 6U,  // cancels what there is not, or stops although it has cancelled
};

struct Check {
  std::string_view name;
  std::string_view doing;     // what is done to the agent
  std::string_view expected;  // of it
  std::vector<Quote> quotes;
  std::vector<std::string_view> needs;  // checks without which this one makes no sense
  std::function<Script(const Terms&)> script;
  std::uint32_t rules = rule_none;
  bool twice = false;          // depends on time: a fault counts if it shows again, with more time
  bool unfit_is_fine = false;  // the agent may find that it cannot do with what it got
  bool is_advice = false;      // a fault is told, and is no reason to say that it does not conform
};

}  // namespace conformance

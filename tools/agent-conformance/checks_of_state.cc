// Checks how an agent reads the state in its `activate`, which comes from the agent before it. The
// cases: no state, an empty state, a long one, a state with every escape of JSON, and a state after
// a stop that was not clean.
#include <utility>

#include "tools/agent-conformance/checks.h"
#include "tools/agent-conformance/messages.h"
#include "tools/agent-conformance/script.h"

namespace conformance {

namespace {

using What = Step::What;

constexpr std::string_view works_on =
    "It takes the work, works on, and says stopped when it is told to stop; or it says that it is "
    "unfit, if it can do nothing with such a state.";

constexpr Quote unread{"MESSAGES FROM AN AGENT",
                       "a text, optional, that goes to the next agent unread."};

Check with_state(std::string_view name, std::string_view doing, std::vector<Quote> quotes,
                 std::string line, std::string_view need = "state-absent") {
  return {
      .name = name,
      .doing = doing,
      .expected = works_on,
      .quotes = std::move(quotes),
      .needs = {need},
      .script =
          [line = std::move(line)](const Terms& terms) {
            return join({active_candidate(line),
                         {watch(terms.watch), tell_stop(0, stop("shutdown", terms.stop_timeout)),
                          await(0, What::stopped)}});
          },
      .unfit_is_fine = true};
}

Check candidate() {
  return {.name = "candidate",
          .doing = "It is started as candidate, beside an active agent of version 1.0.",
          .expected = "It says ready, and waits.",
          .quotes = {{"UPGRADES",
                      "The candidate says hello, gets welcome, connects, verifies, and says "
                      "ready."}},
          .needs = {"stop-shutdown"},
          .script = [](const Terms& terms) -> Script {
            return {start_candidate(0, 2, "1.0"), await(0, What::hello), await(0, What::ready),
                    watch(terms.watch)};
          }};
}

constexpr const char* every_escape =
    R"({"type":"activate","clean":true,"state":"\"\\\/\b\f\n\r\t\u0041\u001f\u007f\u00e9\u00E9)"
    R"(\u20ac\u2028\ud83d\ude00\uD83D\uDE00 {\"type\":\"novelty\"} )"
    "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"}\n";

// Returns an `activate` whose state has the largest size that is allowed for its escaped form. The
// state consists of newlines, each of which is escaped as two bytes.
std::string longest_line() {
  constexpr std::size_t escaped_pair = 2;  // a newline is escaped as two characters: \ and n
  return activate_on_trial(true, std::string(state_escaped_bytes_max / escaped_pair, '\n'));
}

}  // namespace

std::vector<Check> checks_of_state() {
  return {
      candidate(),
      with_state("state-absent",
                 "It is made active, on trial, after a clean stop that left no state.",
                 {{"MESSAGES TO AN AGENT",
                   "a text, if the agent that was active last left any; never for a first agent"}},
                 activate_on_trial(true), "candidate"),
      with_state("state-empty", "It is made active with an empty state.", {unread},
                 activate_on_trial(true, "")),
      with_state(
          "state-unclean",
          "It is made active with a state, after a stop that was not confirmed: clean is "
          "false.",
          {{"MESSAGES TO AN AGENT", "true only if the agent before confirmed its stop."}, unread},
          activate_on_trial(false, "line 4711")),
      with_state("state-long", "It is made active with a state of 32,768 bytes.",
                 {{"MESSAGES FROM AN AGENT",
                   "It has at most 32,768 bytes, and at most 65,000 as the escaping rule writes "
                   "it, without its quotes."},
                  unread},
                 activate_on_trial(true, std::string(state_bytes_max, 'x'))),
      with_state("state-escaped-long",
                 "It is made active with a state that takes 65,000 bytes when it is escaped.",
                 {{"MESSAGES FROM AN AGENT",
                   "It has at most 32,768 bytes, and at most 65,000 as the escaping rule writes "
                   "it, without its quotes."},
                  unread},
                 longest_line()),
      with_state(
          "state-escapes",
          "It is made active with a state that is spelled with every escape of JSON.",
          {{"LINES", "A reader accepts every escape of RFC 8259, in names of members as well"},
           unread},
          every_escape),
  };
}

}  // namespace conformance

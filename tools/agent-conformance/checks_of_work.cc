// Checks the behaviour of an agent while it works: from its activation until a stop or a SIGTERM.
#include <algorithm>

#include "tools/agent-conformance/checks.h"
#include "tools/agent-conformance/messages.h"
#include "tools/agent-conformance/script.h"

namespace conformance {

namespace {

using What = Step::What;

Check activates() {
  return {.name = "activate",
          .doing = "It is told activate, without state, and left to work for a while.",
          .expected = "It works on, and keeps both pipes open.",
          .quotes = {{"MESSAGES TO AN AGENT", "The work is the agent's, now."},
                     {"CHANNEL",
                      "An active agent that closes its output goes on serving, but it "
                      "cannot confirm a stop."}},
          .needs = {"ready", "held"},
          .script =
              [](const Terms& terms) {
                return join({active(), {watch(terms.watch)}});
              },
          .rules = rule_pipes};
}

Judgement judge_clean_end(const Lives& lives, Time) {
  const Exited& end = *lives[0].exited;
  if (end.signal == 0) return {};
  return {.fault = Fault{.came = "it " + end_in_words(end)}};
}

Check active_end() {
  return {.name = "active-end-of-input",
          .doing = "Its input ends while it is active: the upgrader has gone.",
          .expected = "It finishes, and exits by itself.",
          .quotes = {{"CHANNEL", "An active one stops cleanly and exits."},
                     {"CHANNEL", "An agent never carries on without an upgrader."}},
          .needs = {"activate"},
          .script = [](const Terms& terms) {
            return join(
                {active(),
                 {watch(terms.watch), hang_up(0), await(0, What::exit), examine(judge_clean_end)}});
          }};
}

Check active_sigterm() {
  return {.name = "active-sigterm",
          .doing = "It gets SIGTERM while it is active.",
          .expected = "It finishes, and exits by itself: the signal does not kill it.",
          .quotes = {{"LIFE AND DEATH",
                      "An active agent that gets SIGTERM itself, from an operator or from the "
                      "kernel when the upgrader has died, finishes, gives everything up and exits, "
                      "as for a stop."}},
          .needs = {"activate"},
          .script =
              [](const Terms& terms) {
                return join({active(),
                             {watch(terms.watch), send_sigterm(0), await(0, What::exit),
                              examine(judge_clean_end)}});
              },
          .twice = true};
}

// ---- heartbeats

constexpr int beats_watched = 4;  // the heartbeats are counted for this many times watchdog_ms

Duration watchdog(const Terms& terms) {
  return std::max<Duration>(std::chrono::seconds{1}, terms.watch * 4);
}

// Judges the number of heartbeats. The protocol requires two in each watchdog_ms. Because the
// machine may be loaded, an agent is at fault only if it has sent less than half of that number.
Judgement judge_heartbeats(const Lives& lives, Time) {
  const std::size_t count = lives[0].heartbeats.size();
  if (count >= beats_watched) return {};
  return {.fault = Fault{.came = "in " + std::to_string(beats_watched) +
                                 " times watchdog_ms there came " + std::to_string(count) +
                                 " heartbeats, and not at least " +
                                 std::to_string(2 * beats_watched - 1)}};
}

Script heartbeat_script(const Terms& terms) {
  const Duration each = watchdog(terms);
  const std::string welcome = Object("welcome")
                                  .number("protocol", 1)
                                  .raw("features", "[]")
                                  .number("generation", 1)
                                  .text("role", "first")
                                  .number("watchdog_ms", each.count())
                                  .line();
  return {start_first(welcome),
          await(0, What::hello),
          await(0, What::ready),
          tell_activate(0, activate(false)),
          taken(0),
          watch(each * beats_watched),
          examine(judge_heartbeats)};
}

Check heartbeats() {
  return {.name = "heartbeats",
          .doing = "Its welcome has watchdog_ms, and it is active for four times as long.",
          .expected =
              "It sends heartbeat at least every half of that time. The kit complains where "
              "less than half of them have come.",
          .quotes = {{"GROWTH",
                      "If welcome has watchdog_ms, an active agent sends heartbeat at least "
                      "every half of that time, from activate until it says stopped or is sent "
                      "stop with reason rollback."}},
          .needs = {"activate"},
          .script = heartbeat_script,
          .twice = true};
}

}  // namespace

std::vector<Check> checks_of_work() {
  return {activates(), active_end(), active_sigterm(), heartbeats()};
}

}  // namespace conformance

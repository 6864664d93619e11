// Checks the behavior of an active agent. Some checks are about the time in which the agent works,
// from its activation until a `stop` or SIGTERM. The other checks are about the stop itself, in
// every state of the agent in which an upgrader may send `stop`.
#include <algorithm>

#include "tools/agent-conformance/checks.h"
#include "tools/agent-conformance/messages.h"
#include "tools/agent-conformance/script.h"

namespace conformance {

namespace {

using What = Step::What;

Check activates() {
  return {.name = "activate",
          .doing = "The agent is told activate, without state, and left to work for a while.",
          .expected = "The agent works on, and keeps both pipes open.",
          .quotes = {{"MESSAGES TO AN AGENT", "The agent has the work from now on."},
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
          .doing = "The agent's input ends while it is active: the upgrader has gone.",
          .expected = "The agent finishes, and exits by itself.",
          .quotes = {{"CHANNEL",
                      "An active agent that reads the end of its input stops cleanly and exits."},
                     {"CHANNEL", "An agent never continues to work without an upgrader."}},
          .needs = {"activate"},
          .script = [](const Terms& terms) {
            return join(
                {active(),
                 {watch(terms.watch), hang_up(0), await(0, What::exit), examine(judge_clean_end)}});
          }};
}

Check active_sigterm() {
  return {.name = "active-sigterm",
          .doing = "The agent gets SIGTERM while it is active.",
          .expected = "The agent finishes, and exits by itself: the signal does not kill it.",
          .quotes = {{"LIFE AND DEATH",
                      "An active agent that gets SIGTERM itself, from an operator or from "
                      "the kernel when the upgrader has died, finishes, gives everything "
                      "up and exits, as after a stop."}},
          .needs = {"activate"},
          .script =
              [](const Terms& terms) {
                return join({active(),
                             {watch(terms.watch), send_sigterm(0), await(0, What::exit),
                              examine(judge_clean_end)}});
              },
          .twice = true};
}

// ---- the check of the agent's heartbeats

constexpr int beats_watched = 4;  // for how many periods of `watchdog_ms` heartbeats are counted

Duration watchdog(const Terms& terms) {
  return std::max<Duration>(std::chrono::seconds{1}, terms.watch * 4);
}

// Judges the number of heartbeats. The protocol requires two heartbeats in each `watchdog_ms`.
// Because the machine may be loaded, an agent is at fault only if it has sent less than half of the
// required heartbeats.
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
          tell_activate(0, activate()),
          taken(0),
          watch(each * beats_watched),
          examine(judge_heartbeats)};
}

Check heartbeats() {
  return {.name = "heartbeats",
          .doing = "The agent's welcome has watchdog_ms, and it is active for four times as long.",
          .expected =
              "The agent sends heartbeat at least every half of that time. The check fails only if "
              "less than half of the heartbeats have come.",
          .quotes = {{"GROWTH",
                      "If welcome has watchdog_ms, an active agent sends heartbeat at "
                      "least once in every half of that time, from activate until it says "
                      "stopped or is sent stop with reason rollback."}},
          .needs = {"activate"},
          .script = heartbeat_script,
          .twice = true};
}

}  // namespace

std::vector<Check> checks_of_work() {
  return {activates(), active_end(), active_sigterm(), heartbeats()};
}

// ---- checks of how an agent stops

namespace {

constexpr Quote stopped_quote{"MESSAGES FROM AN AGENT",
                              "An active agent that was sent stop sends stopped once, when it has "
                              "finished its work and given up all that it owned."};
constexpr Quote last_quote{"MESSAGES FROM AN AGENT",
                           "After stopped the agent does nothing more, and exits."};

Script whole_life(const Terms& terms) {
  return join({active(), {watch(terms.watch)}, stopped_for_upgrade(terms), {await(0, What::exit)}});
}

Check stops() {
  return {.name = "stop",
          .doing = "The agent is active, and told to stop for an upgrade.",
          .expected = "The agent says stopped.",
          .quotes = {stop_quote, stopped_quote},
          .needs = {"activate"},
          .script = [](const Terms& terms) {
            return join({active(), {watch(terms.watch)}, stopped_for_upgrade(terms)});
          }};
}

Check exits() {
  return {.name = "exit",
          .doing = "The agent is told to stop, and has said stopped.",
          .expected = "The agent exits.",
          .quotes = {last_quote,
                     {"UPGRADES",
                      "An agent that has said stopped but does not exit is killed after "
                      "the exit grace."}},
          .needs = {"stop"},
          .script = whole_life};
}

Judgement judge_status(const Lives& lives, Time) {
  const Exited& end = *lives[0].exited;
  if (end.signal == 0 && end.status == 0) return {};
  return {.fault = Fault{.came = "it " + end_in_words(end)}};
}

Check exit_status() {
  return {.name = "exit-status",
          .doing = "The agent is told to stop, says stopped, and exits.",
          .expected = "The agent's exit status is 0.",
          .quotes = {stop_quote},
          .needs = {"exit"},
          .script = [](const Terms& terms) {
            return join({whole_life(terms), {examine(judge_status)}});
          }};
}

Check last_word() {
  return {.name = "last-word",
          .doing = "The agent is told to stop, says stopped, and exits.",
          .expected = "The agent writes nothing behind stopped.",
          .quotes = {last_quote},
          .needs = {"exit"},
          .script = whole_life,
          .rules = rule_last};
}

Check stop_for_shutdown() {
  return {
      .name = "stop-shutdown",
      .doing = "The agent is active, and told to stop with reason shutdown, without an upgrade.",
      .expected = "The agent says stopped.",
      .quotes = {stop_quote},
      .needs = {"stop"},
      .script = [](const Terms& terms) {
        return join({active(),
                     {watch(terms.watch), tell_stop(0, stop("shutdown", terms.stop_timeout)),
                      await(0, What::stopped)}});
      }};
}

Check stop_at_once() {
  return {.name = "stop-at-once",
          .doing = "The agent is told activate and stop by one write.",
          .expected = "The agent takes both messages, and says stopped.",
          .quotes = {{"LINES",
                      "A message is one JSON object as in RFC 8259, in UTF-8, on one line that a "
                      "newline ends."},
                     stop_quote},
          .needs = {"stop"},
          .script = [](const Terms& terms) {
            Step both =
                tell_stop(0, activate() + stop_for_upgrade(terms.stop_timeout, 2), upgrade_id);
            both.activates = true;
            return join({held(), {both, await(0, What::stopped)}});
          }};
}

// ---- the check of an agent that gets the message `candidate_lost` during a stop

std::string candidate_lost() {
  return Object("candidate_lost")
      .text("id", upgrade_id)
      .text("reason", "exited with status 1 before it was activated")
      .line();
}

// Judges how an agent that was stopping for an upgrade has answered `candidate_lost`. An agent that
// has sent `cancel` has taken the work back, and must keep it until the next `stop`. An agent that
// has not sent `cancel` must exit.
Judgement judge_answer(const Terms& terms, const Lives& lives) {
  if (!lives[0].said_cancel) return {.more = {await(0, What::exit)}};
  Step again = tell_stop(0, stop("shutdown", terms.stop_timeout));
  return {.more = {taken(0), watch(terms.watch), again, await(0, What::stopped)}};
}

Check candidate_is_lost() {
  return {
      .name = "candidate-lost",
      .doing =
          "The agent is told to stop for an upgrade, and at once that the candidate is lost. If "
          "it cancels, it is told to stop again later.",
      .expected = "The agent cancels that upgrade and stays active, or it says stopped and exits.",
      .quotes = {{"MESSAGES TO AN AGENT",
                  "If the agent can still take the work back, it answers with cancel, "
                  "and stays active without a gap."},
                 {"MESSAGES TO AN AGENT",
                  "An agent that does not know this message simply continues its "
                  "stop."},
                 {"MESSAGES TO AN AGENT",
                  "After a stop, the upgrader sends the agent no further stop until the "
                  "agent has sent cancel."}},
      .needs = {"exit", "stop-shutdown"},
      .script =
          [](const Terms& terms) {
            Step both = tell_stop(0, stop_for_upgrade(terms.stop_timeout, 2) + candidate_lost(),
                                  upgrade_id);
            return join({active(),
                         {watch(terms.watch), both, await(0, What::answer),
                          examine([terms](const Lives& lives, Time) {
                            return judge_answer(terms, lives);
                          })}});
          },
      .rules = rule_cancel};
}

// ---- the check of an agent that needs more time for its stop

// In the check `extend`, the deadline of the `stop` is the stop timeout divided by this number.
// This time is so short that the agent must ask for more time.
constexpr int short_part = 10;

Script short_stop(const Terms& terms) {
  const Duration brief = terms.stop_timeout / short_part;
  return join({active(),
               {watch(terms.watch), tell_stop(0, stop_for_upgrade(brief, 2), upgrade_id),
                await(0, What::stopped, brief * 2)}});
}

Check extends() {
  return {.name = "extend",
          .doing =
              "The agent is told to stop within a tenth of the stop timeout, and is given twice as "
              "long, or as long as its extend asks for.",
          .expected = "The agent says stopped in time, or extend as long as it needs more.",
          .quotes = {{"MESSAGES FROM AN AGENT",
                      "its current deadline is moved to ms milliseconds from now, unless the "
                      "deadline is later already."},
                     {"MESSAGES TO AN AGENT",
                      "an integer of at least 1: the time that is left of the stop "
                      "timeout"}},
          .needs = {"stop"},
          .script = short_stop,
          .twice = true};
}

}  // namespace

std::vector<Check> checks_of_stop() {
  return {stops(),
          exits(),
          exit_status(),
          last_word(),
          stop_for_shutdown(),
          stop_at_once(),
          candidate_is_lost(),
          extends()};
}

}  // namespace conformance

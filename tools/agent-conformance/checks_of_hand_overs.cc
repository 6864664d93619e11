// Checks whether the work can be handed over to an agent. The agent may be a candidate (the new
// version), a fallback (the old version, started after a failed upgrade) or a standby (a fallback
// that is started before the failure). The message `activate` gives the work to the agent, and may
// contain the state of the previous agent.
//
// The agent must accept every valid state: none, an empty state, a long one, one with every escape
// of JSON, and one from an agent that has not stopped cleanly. The last check hands over the work
// ten times, each time to a new agent.
#include <utility>

#include "tools/agent-conformance/checks.h"
#include "tools/agent-conformance/effects.h"
#include "tools/agent-conformance/messages.h"
#include "tools/agent-conformance/script.h"

namespace conformance {

namespace {

using What = Step::What;

constexpr std::string_view works_on =
    "The agent takes the work, works on, and says stopped when it is told to stop; or it says that "
    "it is unfit, if it can do nothing with such a state.";

constexpr Quote unread{"MESSAGES FROM AN AGENT",
                       "a text, optional, that the upgrader passes on to the next agent without "
                       "interpreting it."};

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
          .doing = "The agent is started as candidate, beside an active agent of version 1.0.",
          .expected = "The agent says ready, and waits.",
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

// Returns an `activate` with a state whose escaped form has the largest allowed size. The state
// consists of newlines, each of which is escaped as two bytes.
std::string longest_line() {
  constexpr std::size_t escaped_pair = 2;  // a newline is escaped as two characters: \ and n
  return activate_on_trial(true, std::string(state_escaped_bytes_max / escaped_pair, '\n'));
}

}  // namespace

std::vector<Check> checks_of_state() {
  return {
      candidate(),
      with_state("state-absent",
                 "The agent is made active, on trial, after a clean stop that left no state.",
                 {{"MESSAGES TO AN AGENT",
                   "a text, if the agent that was active last has left one; never for "
                   "a first agent"}},
                 activate_on_trial(true), "candidate"),
      with_state("state-empty", "The agent is made active with an empty state.", {unread},
                 activate_on_trial(true, "")),
      with_state(
          "state-unclean",
          "The agent is made active with a state, after a stop that was not confirmed: clean is "
          "false.",
          {{"MESSAGES TO AN AGENT",
            "true only if the agent that was active last confirmed its stop."},
           unread},
          activate_on_trial(false, "line 4711")),
      with_state("state-long", "The agent is made active with a state of 32,768 bytes.",
                 {{"MESSAGES FROM AN AGENT",
                   "The text has at most 32,768 bytes, and at most 65,000 bytes when it is escaped "
                   "as in LINES, without the quotes around it."},
                  unread},
                 activate_on_trial(true, std::string(state_bytes_max, 'x'))),
      with_state(
          "state-escaped-long",
          "The agent is made active with a state that takes 65,000 bytes when it is escaped.",
          {{"MESSAGES FROM AN AGENT",
            "The text has at most 32,768 bytes, and at most 65,000 bytes when it is escaped as in "
            "LINES, without the quotes around it."},
           unread},
          longest_line()),
      with_state(
          "state-escapes",
          "The agent is made active with a state that is spelled with every escape of JSON.",
          {{"LINES", "A reader accepts every escape of RFC 8259, in names of members as well"},
           unread},
          every_escape),
  };
}

// ---- checks of candidates, fallbacks and standbys, and of ten hand-overs in a row

namespace {

Check commits() {
  return {.name = "committed",
          .doing = "The agent is a candidate that has become active, and is told committed.",
          .expected = "The agent works on.",
          .quotes = {{"MESSAGES TO AN AGENT", "The agent has passed its trial."}},
          .needs = {"state-absent"},
          .script = [](const Terms& terms) {
            return join({active_candidate(activate_on_trial(true)),
                         {watch(terms.watch), tell(0, committed(upgrade_id, 2)), taken(0),
                          watch(terms.watch)}});
          }};
}

Check stop_for_rollback() {
  return {.name = "stop-rollback",
          .doing =
              "The agent is a candidate that has become active, is on trial, and told to stop with "
              "reason rollback.",
          .expected = "The agent says stopped.",
          .quotes = {{"FAILURES",
                      "An agent that fails its trial and still runs is sent stop with "
                      "reason \u2018rollback\u2019, and SIGKILL when the stop timeout has passed."},
                     stop_quote},
          .needs = {"state-absent"},
          .script = [](const Terms& terms) {
            return join({active_candidate(activate_on_trial(true)),
                         {watch(terms.watch), tell_stop(0, stop("rollback", terms.stop_timeout)),
                          await(0, What::stopped)}});
          }};
}

Step start_fallback(int agent, const std::string& welcome, int generation) {
  Step start = start_first(welcome);
  start.agent = agent;
  start.life.role = "fallback";
  start.life.generation = generation;
  return start;
}

constexpr const char* fallback_welcome =
    R"({"type":"welcome","protocol":1,"features":[],"generation":4,"role":"fallback",)"
    R"("failure":{"id":"u2","stage":"trial","reason":"was killed by signal 11 (SIGSEGV) while it )"
    R"(was on trial","signal":11,"version":"1.2"}})";

Check fallback() {
  return {
      .name = "fallback",
      .doing =
          "The agent is started as fallback, with the failure of the version that was to replace "
          "it, and made active.",
      .expected = "The agent says ready, takes the work, and works on.",
      .quotes = {{"UPGRADES", "failure in the welcome of a fallback"},
                 {"FAILURES",
                  "The previous executable and arguments are started with role "
                  "\u2018fallback\u2019."}},
      .needs = {"activate"},
      .script = [](const Terms& terms) -> Script {
        return {start_fallback(0, fallback_welcome + std::string("\n"), 4), await(0, What::hello),
                await(0, What::ready), tell_activate(0, activate()), watch(terms.watch)};
      }};
}

constexpr const char* boot_welcome =
    R"({"type":"welcome","protocol":1,"features":[],"generation":2,"role":"fallback",)"
    R"("failure":{"id":"boot","stage":"start","reason":"exited with status 1 before it said )"
    R"(ready","exit_status":1}})";

Check fallback_at_boot() {
  return {
      .name = "fallback-boot",
      .doing =
          "The agent is started as fallback at the upgrader's own start, since the newer version "
          "could not be started. It is made active, on trial, and is told committed with the id "
          "boot.",
      .expected = "The agent says ready, takes the work, and works on.",
      .quotes =
          {{"ROLES",
            "A fallback at the upgrader's own start is on trial, as a candidate is, and the member "
            "failure of its welcome has the id \u2018boot\u2019."},
           {"ROLES",
            "After its trial, a fallback at the upgrader's own start is sent committed with the id "
            "\u2018boot\u2019."}},
      .needs = {"fallback", "committed", "in-turn"},
      .script = [](const Terms& terms) -> Script {
        Step start = start_fallback(0, boot_welcome + std::string("\n"), 2);
        start.life.is_boot_fallback = true;
        return {start,
                await(0, What::hello),
                await(0, What::ready),
                tell_activate(0, activate_on_trial(false)),
                watch(terms.watch),
                tell(0, committed(boot_id, 2)),
                taken(0),
                watch(terms.watch)};
      },
      .rules = rule_turn};
}

Step start_standby(int agent) {
  return start_fallback(agent, welcome_standby(4), 4);
}

Script standby_script(const Terms& terms) {
  return join({held_effects(start_standby(0), terms),
               {start_standby(1), await(1, What::hello), await(1, What::ready), watch(terms.watch),
                tell_activate(1, activate_standby(false)), taken(1), watch(terms.watch)}});
}

Check standby() {
  return {
      .name = "standby",
      .doing =
          "The agent is started as fallback while the version that is to replace it is on trial, "
          "and so is told no failure; held for a while, and its input ends. Then once more: held "
          "for a while, told the failure with activate, and made active.",
      .expected =
          "The agent says ready, and does nothing until it is activated: it binds no address and "
          "listens nowhere. Then it takes the work, and works on.",
      .quotes = {{"FAILURES",
                  "Like any held agent it verifies all that it needs, says ready, and does "
                  "nothing"},
                 {"FAILURES",
                  "When the trial has failed and the failed agent has been reaped, a "
                  "standby that is ready is activated immediately"}},
      .needs = {"fallback", "held-effects"},
      .script = standby_script};
}

// The number of consecutive hand-overs in the check. For each hand-over, a new agent is started,
// and the active agent hands over the work to the new agent.
constexpr int hand_overs = 10;

Script hand_over(int from, const Terms& terms, const Lives& lives);

Judgement hand_over_or_end(int active, const Terms& terms, const Lives& lives) {
  if (active < hand_overs) return {.more = hand_over(active, terms, lives)};
  return {.more = {tell_stop(active, stop("shutdown", terms.stop_timeout)),
                   await(active, What::stopped), await(active, What::exit)}};
}

// Activates the new agent with the state that the old agent has sent in `stopped`.
Judgement activate_next(int next, const Terms& terms, const Lives& lives) {
  const auto& state = lives[static_cast<std::size_t>(next - 1)].state;
  const std::string line = state ? activate_on_trial(true, *state) : activate_on_trial(true);
  return {.more = {tell_activate(next, line), taken(next),
                   tell(next, committed(upgrade_id, next + 1)), taken(next),
                   examine([next, terms](const Lives& all, Time) {
                     return hand_over_or_end(next, terms, all);
                   })}};
}

Script hand_over(int from, const Terms& terms, const Lives& lives) {
  const int next = from + 1;
  const auto& version = lives[static_cast<std::size_t>(from)].version;
  return {
      start_candidate(next, next + 1, version.value_or("")),
      await(next, What::hello),
      await(next, What::ready),
      tell_stop(from, stop_for_upgrade(terms.stop_timeout, next + 1), upgrade_id),
      await(from, What::stopped),
      await(from, What::exit),
      examine([next, terms](const Lives& all, Time) { return activate_next(next, terms, all); })};
}

Check ten_hand_overs() {
  return {
      .name = "hand-overs",
      .doing =
          "The agent is upgraded to itself ten times: each time a candidate is started beside it, "
          "it is told to stop, and the candidate gets the work, with the state that it "
          "left, and is committed.",
      .expected =
          "Every candidate says ready while the old one is active, every old one says "
          "stopped and exits, every new one works on with that state.",
      .quotes = {{"UPGRADES",
                  "The upgrader sends the candidate activate, with the state from the old "
                  "agent's stopped."},
                 {"UPGRADES", "The old agent finishes, sends stopped, and exits."}},
      .needs = {"committed", "exit", "stray-output", "well-formed", "in-turn"},
      .script =
          [](const Terms& terms) {
            return join({active(), {examine([terms](const Lives& lives, Time) {
                           return hand_over_or_end(0, terms, lives);
                         })}});
          },
      .rules = rule_stray | rule_form | rule_turn};
}

}  // namespace

std::vector<Check> checks_of_hand_overs() {
  return {commits(),          stop_for_rollback(), fallback(),
          fallback_at_boot(), standby(),           ten_hand_overs()};
}

}  // namespace conformance

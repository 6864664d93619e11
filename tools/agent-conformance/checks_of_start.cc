// Checks the behavior of an agent from its start until its activation.
#include "tools/agent-conformance/checks.h"
#include "tools/agent-conformance/effects.h"
#include "tools/agent-conformance/messages.h"
#include "tools/agent-conformance/script.h"

namespace conformance {

namespace {

using What = Step::What;

constexpr Quote held_quote{
    "ROLES",
    "Every agent begins held: it does nothing that has an effect outside itself until it is sent "
    "activate."};

Judgement judge_held_pipes(const Lives& lives, Time) {
  if (!lives[0].looks.back().input_closed) return {};
  return {.fault = Fault{.came = "it closed its input and lives on",
                         .quote = Quote{"CHANNEL",
                                        "A held agent that has closed its input fails when "
                                        "something is sent to it."}}};
}

Check hello() {
  return {.name = "hello",
          .doing = "The agent is started as the upgrader starts a first agent.",
          .expected = "The agent says hello, well formed, and nothing before it.",
          .quotes = {{"MESSAGES FROM AN AGENT",
                      "Every agent sends hello once, before all other messages."},
                     {"LINES",
                      "A message is answered with error, and changes nothing, if the "
                      "message is malformed, if its type is unknown, or if its sender may "
                      "not send it now."}},
          .needs = {},
          .script = [](const Terms&) -> Script {
            return {start_first(welcome_first()), await(0, What::hello)};
          },
          .rules = rule_first};
}

Check ready() {
  return {.name = "ready",
          .doing = "The agent is answered with welcome, as a first agent.",
          .expected = "The agent says ready when it has started, and so can be given the work.",
          .quotes = {{"MESSAGES FROM AN AGENT",
                      "The message says that the agent has started and verified all that it needs, "
                      "and has done nothing yet."}},
          .needs = {"hello"},
          .script = [](const Terms&) { return held(); }};
}

Check stays_held() {
  return {.name = "held",
          .doing = "The agent is ready, and is told nothing for a while.",
          .expected = "The agent waits, and keeps both pipes open.",
          .quotes = {{"CHANNEL", "A held agent that closes its output while it lives has failed."},
                     held_quote},
          .needs = {"ready"},
          .script =
              [](const Terms& terms) {
                return join({held(), {watch(terms.watch), look(0), examine(judge_held_pipes)}});
              },
          .rules = rule_pipes};
}

Check held_end() {
  return {.name = "held-end-of-input",
          .doing = "The agent's input ends while it is ready and held: the upgrader has gone.",
          .expected = "The agent exits at once.",
          .quotes = {{"CHANNEL",
                      "A held agent that reads the end of its input exits immediately, without any "
                      "side effect."}},
          .needs = {"ready", "held"},
          .script = [](const Terms&) {
            return join({held(), {hang_up(0), await(0, What::exit)}});
          }};
}

Check early_end() {
  return {.name = "early-end-of-input",
          .doing = "The agent's input ends when it has said hello, before it is welcome.",
          .expected = "The agent exits at once.",
          .quotes = {{"CHANNEL",
                      "A held agent that reads the end of its input exits immediately, without any "
                      "side effect."},
                     {"CHANNEL", "An agent never continues to work without an upgrader."}},
          .needs = {"hello"},
          .script = [](const Terms&) -> Script {
            return {start_first(""), await(0, What::hello), hang_up(0), await(0, What::exit)};
          }};
}

Check held_sigterm() {
  return {.name = "held-sigterm",
          .doing = "The agent gets SIGTERM while it is ready and held.",
          .expected = "The agent exits at once.",
          .quotes = {{"LIFE AND DEATH", "A held agent that gets SIGTERM exits immediately."}},
          .needs = {"ready"},
          .script = [](const Terms&) {
            return join({held(), {send_sigterm(0), await(0, What::exit)}});
          }};
}

Check effects() {
  return {.name = "held-effects",
          .doing =
              "The agent is ready and held for a while, then its input ends. If strace is "
              "available, strace records what the agent does.",
          .expected =
              "The agent binds no address and listens nowhere. Files that it opens for writing or "
              "removes are reported as notes.",
          .quotes = {held_quote,
                     {"SERVING A PORT",
                      "The agent makes the socket itself, when it receives activate and "
                      "not before, and closes the socket before it says stopped."}},
          .needs = {"held", "held-end-of-input"},
          .script = [](const Terms& terms) {
            return held_effects(start_first(welcome_first()), terms);
          }};
}

}  // namespace

std::vector<Check> checks_of_start() {
  return {hello(), ready(), stays_held(), held_end(), early_end(), held_sigterm(), effects()};
}

}  // namespace conformance

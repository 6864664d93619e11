// Checks the form and the order of all messages that an agent sends from its start to its exit.
#include "tools/agent-conformance/checks.h"
#include "tools/agent-conformance/script.h"

namespace conformance {

namespace {

Script held_life(const Terms& terms) {
  return join({held(),
               {watch(terms.watch), tell_activate(0, "{\"type\":\"activate\",\"clean\":false}\n"),
                watch(terms.watch * 2)},
               stopped_for_upgrade(terms),
               {await(0, Step::What::exit)}});
}

constexpr std::string_view held_life_in_words =
    "It is started, held for a while, works for a while, is told to stop, and exits.";

}  // namespace

std::vector<Check> checks_of_words() {
  return {
      {.name = "stray-output",
       .doing = held_life_in_words,
       .expected =
           "Every line that it writes is a message: no print of the program, or of one that "
           "it starts, gets among them.",
       .quotes =
           {{"LINES",
             "A line is stray output if it is not a JSON object with a text as its type, nests "
             "deeper than 32 levels, is longer than the limit, or is cut off by the end of the "
             "output."},
            {"CHANNEL",
             "An agent keeps the pipes from its own children and from stray "
             "prints."}},
       .needs = {"exit"},
       .script = held_life,
       .rules = rule_stray},
      {.name = "well-formed",
       .doing = held_life_in_words,
       .expected = "Every message is of a type that an agent has, with the members that it needs, "
                   "within their limits.",
       .quotes = {{"LINES",
                   "Nothing but a well-formed message of a known type is obeyed, and "
                   "nothing else ever ends an agent."},
                  {"LINES",
                   "A known type that is malformed, one that its sender may not send now, "
                   "and an unknown type are answered with error and change nothing."}},
       .needs = {"exit"},
       .script = held_life,
       .rules = rule_form},
      {.name = "in-turn",
       .doing = held_life_in_words,
       .expected = "It says nothing that it may not say at that moment.",
       .quotes = {{"LINES",
                   "A known type that is malformed, one that its sender may not send now, "
                   "and an unknown type are answered with error and change nothing."}},
       .needs = {"exit"},
       .script = held_life,
       .rules = rule_turn},
  };
}

}  // namespace conformance

// Checks the messages that an agent sends: their form, and their order from the agent's start to
// its exit. Also checks how the agent reads its input: unknown messages, lines that are not
// messages, and messages in several pieces.
#include <utility>

#include "tools/agent-conformance/checks.h"
#include "tools/agent-conformance/messages.h"
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
    "The agent is started, held for a while, works for a while, is told to stop, and exits.";

}  // namespace

std::vector<Check> checks_of_words() {
  return {
      {.name = "stray-output",
       .doing = held_life_in_words,
       .expected = "Every line that it writes is a message: no output of the program, or of a "
                   "program that it starts, gets among the messages.",
       .quotes =
           {{"LINES",
             "A line is stray output if it nests deeper than 32 levels, is longer than the limit, "
             "is cut off by the end of the output, or is not a JSON object whose member type is a "
             "text."},
            {"CHANNEL",
             "An agent must not let its own children use the two pipes, and must "
             "not print anything but messages to them."}},
       .needs = {"exit"},
       .script = held_life,
       .rules = rule_stray},
      {.name = "well-formed",
       .doing = held_life_in_words,
       .expected = "Every message is of a type that an agent has, with the members that it needs, "
                   "within their limits.",
       .quotes = {{"LINES",
                   "Upgrader and agent obey only well-formed messages of known types; "
                   "a line of any other kind never ends an agent."},
                  {"LINES",
                   "A message is answered with error, and changes nothing, if the "
                   "message is malformed, if its type is unknown, or if its sender may "
                   "not send it now."}},
       .needs = {"exit"},
       .script = held_life,
       .rules = rule_form},
      {.name = "in-turn",
       .doing = held_life_in_words,
       .expected = "The agent says nothing that it may not say at that moment.",
       .quotes = {{"LINES",
                   "A message is answered with error, and changes nothing, if the "
                   "message is malformed, if its type is unknown, or if its sender may "
                   "not send it now."}},
       .needs = {"exit"},
       .script = held_life,
       .rules = rule_turn},
  };
}

// ---- checks of how an agent reads its input

namespace {

using What = Step::What;
using Kind = Step::Kind;

constexpr Quote ignored_quote{"LINES", "A reader ignores members that it does not know."};
constexpr Quote only_quote{"LINES",
                           "Upgrader and agent obey only well-formed messages of known types; "
                           "a line of any other kind never ends an agent."};

// Makes the script that sends `lines` to an agent twice: once while the agent is held (started, but
// not yet activated), and once while it is active. Afterwards the agent must still obey `stop`.
Script told_in_between(const Terms& terms, const std::string& lines) {
  return join({held(),
               {tell(0, lines), taken(0), watch(terms.watch), tell_activate(0, activate()),
                tell(0, lines), taken(0), watch(terms.watch)},
               stopped_for_upgrade(terms)});
}

Check told(std::string_view name, std::string_view doing, std::string_view expected,
           std::vector<Quote> quotes, std::string lines, std::string_view need = "stop") {
  return {.name = name,
          .doing = doing,
          .expected = expected,
          .quotes = std::move(quotes),
          .needs = {need},
          .script = [lines = std::move(lines)](const Terms& terms) {
            return told_in_between(terms, lines);
          }};
}

Check unknown_types() {
  return told(
      "unknown-types",
      "The agent is told messages of types that this version does not have, held and active.",
      "The agent takes no notice, and says stopped when it is told to stop.",
      {{"GROWTH", "A later version only adds types, optional members and values."}, only_quote},
      "{\"type\":\"novelty\"}\n"
      "{\"type\":\"novelty\",\"of\":[1,-2.5e3,true,null,{\"a\":[]}],\"id\":\"u1\"}\n"
      "{\"of\":\"another kind\",\"type\":\"\"}\n");
}

Check crossed_errors() {
  return told(
      "error",
      "The agent is told error, as for a message that crossed one of the upgrader's, held and "
      "active.",
      "The agent takes no harm, and says stopped when it is told to stop.",
      {{"LINES",
        "An agent must take no harm from an error, since it may get one "
        "without any mistake of its own: its message may have crossed a "
        "message of the upgrader."}},
      "{\"type\":\"error\",\"about\":\"status\",\"reason\":\"it crossed a stop\"}\n"
      "{\"type\":\"error\",\"reason\":\"it is not known what this was\"}\n");
}

Check stray_lines() {
  using namespace std::string_literals;
  std::string nested = "{\"type\":\"nested\",\"of\":";
  nested += std::string(60, '[') + std::string(60, ']') + "}\n";
  return told("stray-lines",
              "The agent is told lines that are not messages, held and active: empty, not JSON, "
              "not an object, a type that is not a text, invalid UTF-8, a NUL, sixty levels deep.",
              "The agent takes no notice, and says stopped when it is told to stop.", {only_quote},
              "\nwords\n[]\nnull\n7\n{}\n{\"type\":7}\n{\"type\":null}\n{\"type\":\"novelty\"\n"
              "\xff\xfe\x80\n{\"type\":\"n\0velty\"}\n"s +
                  nested);
}

Check long_lines() {
  constexpr std::size_t too_long = 70'000;
  return told("long-line", "The agent is told a line of 70,000 bytes, held and active.",
              "The agent skips that line to its newline, and says stopped when it is told to stop.",
              {{"LINES", "An over-long line is skipped to its newline."},
               {"LINES", "The line has at most 65,536 bytes, the newline included."}},
              std::string(too_long, 'x') + "\n", "byte-by-byte");
}

// ---- messages with unknown members, and messages with white space wherever JSON allows it

constexpr const char* more_members =
    R"("novelty":{"type":"stop","of":[1,-2.5e300,true,null,[[]],"\u00e9\ud83d\ude00"]},"count":0)";

std::string with_more_members(const std::string& line) {
  return "{" + std::string(more_members) + "," + line.substr(1);
}

Check unknown_members() {
  return {
      .name = "unknown-members",
      .doing =
          "The agent's welcome, activate and stop have members that this version does not have, "
          "of every kind.",
      .expected = "The agent ignores them: it says ready, takes the work, and says stopped.",
      .quotes = {ignored_quote,
                 {"GROWTH", "A later version only adds types, optional members and values."}},
      .needs = {"stop"},
      .script = [](const Terms& terms) -> Script {
        const std::string end = stop_for_upgrade(terms.stop_timeout, 2);
        return {start_first(with_more_members(welcome_first())),
                await(0, What::hello),
                await(0, What::ready),
                tell_activate(0, with_more_members(activate())),
                taken(0),
                watch(terms.watch),
                tell_stop(0, with_more_members(end), upgrade_id),
                await(0, What::stopped)};
      }};
}

Check white_space() {
  return {
      .name = "white-space",
      .doing =
          "The agent's welcome, activate and stop have blanks, tabs and carriage returns wherever "
          "JSON allows them, and the type comes last.",
      .expected = "The agent understands them: it says ready, takes the work, and says stopped.",
      .quotes = {{"LINES", "The order of members and the white space between them are free."}},
      .needs = {"stop"},
      .script = [](const Terms&) -> Script {
        return {start_first(" { \"role\" :\t\"first\" ,\r \"generation\" : 1 , \"features\" : "
                            "[ ] , \"protocol\"\t: 1 , \"type\" : \"welcome\" } \r\n"),
                await(0, What::hello),
                await(0, What::ready),
                tell_activate(0, "\t{\t\"clean\" : false\t,\t\"type\"\t:\t\"activate\"\t}\t\n"),
                taken(0),
                tell_stop(0,
                          "{ \"generation\" : 2 , \"id\" : \"u1\" , \"deadline_ms\" : 30000 , "
                          "\"reason\" : \"upgrade\" , \"type\" : \"stop\" }\n",
                          upgrade_id),
                await(0, What::stopped)};
      }};
}

// ---- messages that come byte by byte, and an output pipe that is full

Check byte_by_byte() {
  return {
      .name = "byte-by-byte",
      .doing =
          "The agent's welcome, activate and stop come a byte at a time, each when it has read the "
          "one before.",
      .expected =
          "The agent joins the bytes to lines: it says ready, takes the work, and says stopped.",
      .quotes = {{"LINES",
                  "A message is one JSON object as in RFC 8259, in UTF-8, on one line that a "
                  "newline ends."}},
      .needs = {"stop"},
      .script = [](const Terms& terms) -> Script {
        Step start = start_first(welcome_first());
        start.bytewise = true;
        Step work = tell_activate(0, activate());
        work.bytewise = true;
        Step end = tell_stop(0, stop_for_upgrade(terms.stop_timeout, 2), upgrade_id);
        end.bytewise = true;
        return {start, await(0, What::hello),  await(0, What::ready), work,
                end,   await(0, What::stopped)};
      }};
}

Check slow_reader() {
  return {
      .name = "slow-reader",
      .doing =
          "The agent's output is full when it is started, and again when it is told to stop; each "
          "time it is read after a while.",
      .expected =
          "The agent waits until there is room, and loses no message: hello, ready and stopped "
          "come whole.",
      .quotes = {{"CHANNEL",
                  "The upgrader starts every agent with two anonymous pipes, made by pipe(2) "
                  "and blocking at the agent's end."},
                 {"LINES",
                  "While an agent does not read its replies, the upgrader stops "
                  "reading from that agent."}},
      .needs = {"exit"},
      .script = [](const Terms& terms) {
        return join(
            {{start_first(welcome_first(), Start{.clogged = true}), watch(terms.watch),
              of_kind(Kind::unclog), await(0, What::hello), await(0, What::ready),
              tell_activate(0, activate()), taken(0), watch(terms.watch), of_kind(Kind::clog),
              tell_stop(0, stop_for_upgrade(terms.stop_timeout, 2), upgrade_id), taken(0),
              watch(terms.watch), of_kind(Kind::unclog), await(0, What::stopped),
              await(0, What::exit)}});
      }};
}

// ---- checks whose faults count only as advice: no upgrader sends the lines of these checks today,
// but an agent should cope with them

constexpr Duration advice_timeout = std::chrono::seconds{5};

Check escaped_names() {
  return {.name = "escaped-names",
          .doing =
              "The agent's activate and stop have names and types written with escapes, as in "
              "\\u0073top. The upgrader of today writes no such thing.",
          .expected = "The agent understands them, and says stopped.",
          .quotes = {{"LINES",
                      "A reader accepts every escape of RFC 8259, in names of members as well"}},
          .needs = {"stop"},
          .script =
              [](const Terms&) {
                return join(
                    {held(),
                     {tell_activate(0, R"({"\u0074ype":"\u0061ctivate","cl\u0065an":false})"
                                       "\n"),
                      taken(0),
                      tell_stop(0,
                                R"({"typ\u0065":"\u0073top","re\u0061son":"upgr\u0061de",)"
                                R"("deadline\u005fms":30000,"id":"\u0075\u0031","generation":2})"
                                "\n",
                                upgrade_id),
                      await(0, What::stopped, advice_timeout)}});
              },
          .is_advice = true};
}

Check malformed_orders() {
  return {.name = "malformed-orders",
          .doing =
              "The agent is active, and told stops that are malformed: without a reason, with an "
              "unknown reason, with a text as deadline, with a second type. The upgrader "
              "of today writes no such thing.",
          .expected = "The agent obeys none of them.",
          .quotes = {only_quote, {"LINES", "a member that the reader knows occurs twice"}},
          .needs = {"stop", "in-turn"},
          .script =
              [](const Terms& terms) {
                return join({active(),
                             {tell(0,
                                   "{\"type\":\"stop\"}\n"
                                   "{\"type\":\"stop\",\"reason\":\"whim\",\"deadline_ms\":9000}\n"
                                   "{\"type\":\"stop\",\"reason\":\"shutdown\","
                                   "\"deadline_ms\":\"9000\"}\n"
                                   "{\"type\":\"stop\",\"reason\":\"shutdown\",\"deadline_ms\":9000"
                                   ",\"type\":\"stop\"}\n"),
                              taken(0), watch(terms.watch)}});
              },
          .rules = rule_turn,
          .is_advice = true};
}

}  // namespace

std::vector<Check> checks_of_reading() {
  std::vector<Check> checks = checks_of_state();
  for (Check& check : std::vector{unknown_types(), unknown_members(), crossed_errors(),
                                  stray_lines(), white_space(), byte_by_byte(), long_lines(),
                                  slow_reader(), escaped_names(), malformed_orders()}) {
    checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace conformance

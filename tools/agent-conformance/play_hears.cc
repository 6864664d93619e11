// Handles an agent's lines and its exit. Judges both by the rules of the check, and answers the
// agent's messages as an upgrader would.
#include <algorithm>
#include <utility>

#include "tools/agent-conformance/messages.h"
#include "tools/agent-conformance/play.h"

namespace conformance {

namespace {

using Kind = Step::Kind;
using What = Step::What;

// The time in which an agent that has closed its output must exit. A closed output is a fault only
// if the agent still runs after this time, because an exit closes the output, too.
constexpr Duration close_grace = std::chrono::seconds{3};

}  // namespace

void Play::take_line(int agent, const Line& line, Time now) {
  if (seat(agent).is_clogged && line.bytes.empty()) return;
  Life& it = life(agent);
  transcript_.add(now, agent, Entry::Kind::said, line.bytes);
  const Said said = judge(line);
  if (seat(agent).is_alone) {
    if (said.kind == Said::Kind::stray) return;
    return fail("it spoke the protocol, although there is no upgrader: " + shown(line.bytes));
  }
  const std::string text = shown(line.bytes, 120);
  if (it.said_stopped && has(rule_last)) return fail("behind stopped it wrote " + text);
  if (said.kind == Said::Kind::stray) {
    if (has(rule_stray) && !it.said_stopped)
      fail("it wrote a line that is no message, since " + said.why + ": " + text);
    return;
  }
  const bool is_good_hello = said.type == "hello" && said.kind == Said::Kind::message;
  if (!it.said_hello && !is_good_hello && has(rule_first)) {
    return fail(said.type == "hello" ? "its hello is malformed, since " + said.why + ": " + text
                                     : "it said something else first: " + text);
  }
  if (said.kind != Said::Kind::message) {
    return refuse(agent, said, rule_form, said.why, now);
  }
  const std::string why = out_of_turn(it, said);
  if (!why.empty()) return refuse(agent, said, rule_turn, why, now);
  take_message(agent, said, now);
}

void Play::refuse(int agent, const Said& said, Rule rule, const std::string& why, Time now) {
  const bool cancels = said.type == "cancel" || life(agent).said_cancel;
  if ((has(rule) || (has(rule_cancel) && cancels)) && !life(agent).said_stopped) {
    return fail("it said `" + said.type + "`, which is not obeyed, since " + why);
  }
  tell(agent, Object("error").text("about", said.type).text("reason", why).line(), now);
}

void Play::take_message(int agent, const Said& said, Time now) {
  Life& it = life(agent);
  take(it, said, now);
  if (said.type == "unfit") {
    const std::string unfit = shown_whole("it said that it is unfit: " + it.unfit.value_or(""));
    if (!check_.unfit_is_fine) return fail(unfit);
    notes_.push_back(unfit);
    over_ = true;
    return;
  }
  if (said.type == "extend") extend_deadline(it, now);
  if (said.type == "stopped" && !it.told_stop) {
    notes_.push_back(
        "it says stopped although nobody has told it to stop, and is answered with error");
  }
  answer(agent, said, now);
}

// Sends the answer that an upgrader would send to this message of the agent.
void Play::answer(int agent, const Said& said, Time now) {
  Life& it = life(agent);
  if (said.type == "hello" && !seat(agent).welcome.empty()) {
    const std::string& welcome = seat(agent).welcome;
    tell(agent, it.wants_readiness ? with_readiness(welcome) : welcome, now, seat(agent).bytewise);
  } else if (said.type == "upgrade") {
    tell(agent, upgrade_failed(*said.id, "request", "busy: nothing is upgraded in this check"),
         now);
  } else if (said.type == "cancel") {
    tell(agent, upgrade_failed(*said.id, "start", "the candidate exited with status 1"), now);
  } else if (said.type == "healthy" && it.is_on_trial() && !seat(agent).is_committed) {
    seat(agent).is_committed = true;
    tell(agent, committed(it.is_boot_fallback ? boot_id : upgrade_id, it.generation), now);
  }
}

void Play::extend_deadline(const Life& it, Time now) {
  if (steps_.empty() || !begun_ || !deadline_ || !steps_.front().awaits_word()) return;
  if (&it != &life(steps_.front().agent)) return;
  deadline_ = std::max(*deadline_, now + it.extended);
}

void Play::take_exit(int agent, const Exited& exited, Time now) {
  Life& it = life(agent);
  it.exited = exited;
  transcript_.add(now, agent, Entry::Kind::happened, name(agent) + " " + end_in_words(exited));
  if (it.may_exit() || (begun_ && !steps_.empty() && steps_.front().what == What::exit &&
                        steps_.front().kind == Kind::await && steps_.front().agent == agent)) {
    return;
  }
  const std::string when = it.told_stop           ? " without having said stopped"
                           : it.told_activate     ? ", although it was active"
                           : it.said_ready        ? ", although it was held"
                           : seat(agent).is_alone ? ""
                           : it.said_hello        ? " before it said ready"
                                                  : " before it said hello";
  fail(name(agent) + " " + end_in_words(exited) + when);
}

void Play::take_close(int agent, Time now) {
  Life& it = life(agent);
  it.output_closed = true;
  if (it.exited || it.may_exit()) return;
  transcript_.add(now, agent, Entry::Kind::happened, name(agent) + " has no output any more");
  if (!has(rule_pipes)) return;
  steps_.push_front({.kind = Kind::judge, .judge = [](const Lives&, Time) {
                       return Judgement{.fault = Fault{"it closed its output and lives on", {}}};
                     }});
  steps_.push_front({.kind = Kind::watch, .time = close_grace});
  begun_ = false;
}

}  // namespace conformance

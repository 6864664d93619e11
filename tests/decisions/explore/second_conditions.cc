// The conditions in the rows of the second table (`second.table`), an independent second
// description of the supervisor. This file has the names of the table's events, the translation of
// each event of the supervisor into such a name, and the guards. Written from the protocol page,
// without a look at the supervisor.
#include <algorithm>
#include <array>
#include <iterator>

#include "tests/decisions/explore/second_words.h"

namespace upgrader::test {
namespace {

using namespace agent_protocol;

// ---- the names of events in the second table

constexpr std::array agents_whats{"hello",          "ready",
                                  "unfit",          "upgrade",
                                  "confirm",        "cancel",
                                  "stopped",        "healthy",
                                  "extend",         "heartbeat",
                                  "status",         "unknown",
                                  "malformed",      "stray",
                                  "closes output",  "closes input",
                                  "takes activate", "exits",
                                  "limit",          "grace",
                                  "silence",        "mute",
                                  "last stopped",   "last unfit",
                                  "last other",     "activate written",
                                  "activate waits", "activate lost",
                                  "lasts"};
constexpr std::array other_whats{"start",
                                 "checked",
                                 "check fails",
                                 "spawned",
                                 "spawn fails",
                                 "proved",
                                 "proof fails",
                                 "linked",
                                 "link fails",
                                 "request limit",
                                 "sigterm",
                                 "sigquit",
                                 "sigusr2",
                                 "signal",
                                 "go",
                                 "commit",
                                 "fall back",
                                 "late",
                                 "link back",
                                 "link stays",
                                 "control upgrade",
                                 "control confirm",
                                 "control cancel",
                                 "control commit",
                                 "control rollback",
                                 "control shutdown",
                                 "start refused",
                                 "way back",
                                 "no way back"};
constexpr std::size_t others_begin = 2 * agents_whats.size();

What what_of(bool from_b, std::string_view name) {
  const auto found = std::find(agents_whats.begin(), agents_whats.end(), name);
  return (from_b ? agents_whats.size() : 0) +
         static_cast<What>(std::distance(agents_whats.begin(), found));
}

What what_of(std::string_view name) {
  const auto found = std::find(other_whats.begin(), other_whats.end(), name);
  return others_begin + static_cast<What>(std::distance(other_whats.begin(), found));
}

const char* last_word(const AgentMessage& message) {
  if (std::holds_alternative<Stopped>(message)) return "last stopped";
  if (std::holds_alternative<Unfit>(message)) return "last unfit";
  return "last other";
}

// An event as the rows of `second.table` describe it: by a name such as "exits" or "last stopped",
// and by the generation of the agent that the event is about. The generation is 0 if the event is
// about no agent.
struct About {
  Generation generation = 0;
  std::string_view name;
};

About about(const Event& event) {
  if (const auto* received = std::get_if<MessageReceived>(&event)) {
    return {received->generation,
            received->posthumous ? last_word(received->message) : wire_name(received->message)};
  }
  if (const auto* refused = std::get_if<MessageRefused>(&event)) {
    const bool unknown = std::holds_alternative<Unknown>(refused->what);
    return {refused->generation, unknown ? "unknown" : "malformed"};
  }
  if (const auto* stray = std::get_if<StrayReceived>(&event)) return {stray->generation, "stray"};
  if (const auto* closed = std::get_if<OutputClosed>(&event)) {
    return {closed->generation, "closes output"};
  }
  if (const auto* closed = std::get_if<InputClosed>(&event)) {
    return {closed->generation, "closes input"};
  }
  if (const auto* written = std::get_if<ActivateWritten>(&event)) {
    return {written->generation, "takes activate"};
  }
  if (const auto* exited = std::get_if<ProcessExited>(&event)) return {exited->generation, "exits"};
  return {};
}

const char* name_of_other(const Event& event) {
  if (std::holds_alternative<StartRequested>(event)) return "start";
  if (std::holds_alternative<StartRefused>(event)) return "start refused";
  if (std::holds_alternative<StopRequested>(event)) return "sigterm";
  if (std::holds_alternative<QuitRequested>(event)) return "sigquit";
  if (std::holds_alternative<UpgradeRequested>(event)) return "sigusr2";
  return std::holds_alternative<SignalReceived>(event) ? "signal" : nullptr;
}

// Translates an outcome into an event of `second.table`, such as "check fails". `asked` is the
// supervisor's action that has this outcome. Only the outcomes of a `send` are about an agent: the
// receiver of the message.
About name_of(const Outcome& outcome, const Action& asked) {
  const auto either = [&outcome](const char* done, const char* refused) {
    return About{0, outcome.refused ? refused : done};
  };
  if (const auto* send = std::get_if<Send>(&asked)) {
    constexpr std::array sent{"activate written", "activate waits", "activate lost"};
    return {send->generation, sent[static_cast<std::size_t>(outcome.sent)]};
  }
  if (std::holds_alternative<Check>(asked)) return either("checked", "check fails");
  if (std::holds_alternative<FindWayBack>(asked)) return either("way back", "no way back");
  if (std::holds_alternative<PutLinkBack>(asked)) return either("link back", "link stays");
  if (std::holds_alternative<Spawn>(asked)) return either("spawned", "spawn fails");
  if (std::holds_alternative<ProveRelink>(asked)) return either("proved", "proof fails");
  return either("linked", "link fails");
}

std::optional<What> what_is_due(const Notes& notes, Time now) {
  const auto due = [now](const std::optional<Time>& deadline) {
    return deadline && *deadline <= now;
  };
  if (due(notes.a.limit)) return what_of(false, "limit");
  if (due(notes.a.grace)) return what_of(false, "grace");
  if (due(notes.a.beat)) return what_of(false, "silence");
  if (due(notes.a.hello)) return what_of(false, "mute");
  if (due(notes.b.limit)) return what_of(true, "limit");
  if (due(notes.b.grace)) return what_of(true, "grace");
  if (due(notes.b.hello)) return what_of(true, "mute");
  if (due(notes.request.limit)) return what_of("request limit");
  if (due(notes.a.lasts)) return what_of(false, "lasts");
  return std::nullopt;
}

}  // namespace

// Returns the name that the message has on the wire and in `second.table`. The names are in the
// order of the variant AgentMessage.
std::string_view wire_name(const AgentMessage& message) {
  constexpr std::array names{"hello",   "ready",   "unfit",  "upgrade",   "confirm", "cancel",
                             "stopped", "healthy", "extend", "heartbeat", "status"};
  return names[message.index()];
}

std::optional<Time>* deadline_due(Notes& notes, Time now) {
  for (std::optional<Time>* deadline :
       {&notes.a.limit, &notes.a.grace, &notes.a.beat, &notes.a.hello, &notes.b.limit,
        &notes.b.grace, &notes.b.hello, &notes.request.limit, &notes.a.lasts}) {
    if (*deadline && **deadline <= now) return deadline;
  }
  return nullptr;
}

std::optional<Action> asked_by(const Actions& actions) {
  if (actions.empty()) return std::nullopt;
  const Action& last = actions.back();
  const auto* send = std::get_if<Send>(&last);
  const bool asks =
      send != nullptr
          ? std::holds_alternative<Activate>(send->message)
          : std::holds_alternative<Check>(last) || std::holds_alternative<FindWayBack>(last) ||
                std::holds_alternative<PutLinkBack>(last) || std::holds_alternative<Spawn>(last) ||
                std::holds_alternative<ProveRelink>(last) || std::holds_alternative<Relink>(last);
  return asks ? std::optional(last) : std::nullopt;
}

What what_named(std::string_view name) {
  for (What what = 0; what < count_of_whats(); ++what) {
    if (name_of_what(what) == name) return what;
  }
  return std::string::npos;
}

std::string name_of_what(What what) {
  if (what >= others_begin) return other_whats[what - others_begin];
  const bool from_b = what >= agents_whats.size();
  return (from_b ? "B " : "A ") + std::string(agents_whats[what % agents_whats.size()]);
}

std::size_t count_of_whats() {
  return others_begin + other_whats.size();
}

std::optional<Happening> happening_of(const Notes& notes, const Event& event, Time now) {
  Happening happening{.event = &event, .now = now};
  if (const auto* passed = std::get_if<DeadlinePassed>(&event)) {
    const Time by = std::min(passed->by, now);
    const std::optional<What> due = what_is_due(notes, by);
    if (!due) return std::nullopt;
    Notes copy = notes;
    const bool late = now - **deadline_due(copy, by) > std::chrono::seconds(1);
    happening.what = late && !notes.put_off ? what_of("late") : *due;
    return happening;
  }
  if (const auto* asked = std::get_if<ControlRequested>(&event)) {
    constexpr std::array names{"control upgrade", "control confirm",  "control cancel",
                               "control commit",  "control rollback", "control shutdown"};
    happening.what = what_of(names[static_cast<std::size_t>(asked->deed)]);
    return happening;
  }
  if (const char* name = name_of_other(event)) {
    happening.what = what_of(name);
    return happening;
  }
  const auto* outcome = std::get_if<Outcome>(&event);
  const About it = outcome != nullptr ? name_of(*outcome, *notes.asked) : about(event);
  if (outcome != nullptr && it.generation == 0) {
    happening.what = what_of(it.name);
    return happening;
  }
  happening.from_b = it.generation == notes.b.generation;
  if (it.generation != notes.a.generation && !happening.from_b) return std::nullopt;
  happening.what = what_of(happening.from_b, it.name);
  return happening;
}

// ---- guards: the conditions under which a row of the second table applies

namespace {

Duration or_default(std::optional<std::int64_t> ms, Duration value) {
  return ms ? Duration(*ms) : value;
}

using N = Notes;
using H = Happening;

const Named<Guard> guards[] = {
    {"fit",
     [](const N& n, const H& h) {
       const auto* asked = std::get_if<ControlRequested>(h.event);
       const Terms terms = asked ? terms_of(n.policy, asked->upgrade, true)
                                 : terms_of(n.policy, said<Upgrade>(h), false);
       const bool gate = terms.gate == Gate::none || terms.mode == Mode::parallel;
       const bool commit = terms.commit == CommitRule::survive || terms.trial != Duration::zero();
       return gate && commit;
     }},
    {"its id",
     [](const N& n, const H& h) {
       if (const auto* asked = std::get_if<ControlRequested>(h.event)) {
         return asked->upgrade.id == n.request.id;
       }
       const auto& message = as<MessageReceived>(h).message;
       const auto* confirm = std::get_if<Confirm>(&message);
       return (confirm ? confirm->id : std::get<Cancel>(message).id) == n.request.id;
     }},
    {"told", [](const N& n, const H&) { return n.request.told; }},
    {"of AGENT", [](const N& n, const H&) { return n.request.of_agent; }},
    {"way back", [](const N&, const H& h) { return as<Outcome>(h).way_back; }},
    {"sequential", [](const N& n, const H&) { return n.request.terms.mode == Mode::sequential; }},
    {"gate", [](const N& n, const H&) { return n.request.terms.gate == Gate::confirm; }},
    {"continue",
     [](const N& n, const H&) { return n.request.terms.on_unclean_stop == UncleanStop::carry_on; }},
    {"must be healthy",
     [](const N& n, const H&) { return n.request.terms.commit == CommitRule::healthy; }},
    {"no trial", [](const N& n, const H&) { return n.request.terms.trial == Duration::zero(); }},
    {"warm", [](const N& n, const H&) { return n.request.terms.fallback == FallbackMode::warm; }},
    {"stood by", [](const N& n, const H&) { return n.a.stood_by; }},
    {"relink", [](const N& n, const H&) { return n.policy.relink; }},
    {"previous", [](const N& n, const H&) { return n.policy.previous; }},
    {"boot", [](const N& n, const H&) { return n.request.boot.has_value(); }},
    {"exhausted",
     [](const N& n, const H& h) {
       if (n.request.boot) return n.request.boot->failure.stage == Stage::boot;
       return as<StartRequested>(h).attempts_exhausted.has_value();
     }},
    {"counts attempts", [](const N& n, const H&) { return n.policy.attempts && !n.attempts_over; }},
    {"owes a heartbeat", [](const N& n, const H&) { return n.a.beat || n.a.silent; }},
    {"has not said that it works", [](const N& n, const H&) { return !n.a.works; }},
    {"owes healthy",
     [](const N& n, const H&) { return !n.a.works && n.a.role != Role::candidate; }},
    {"promises its word",
     [](const N& n, const H& h) { return (h.from_b ? n.b : n.a).promises_word; }},
    {"quitting", [](const N& n, const H&) { return n.verdict == 131; }},
    {"A left unfit", [](const N& n, const H&) { return n.a.left_unfit; }},
    {"exec refused", [](const N&, const H& h) { return as<Outcome>(h).not_executable; }},
    {"an upgrade's",
     [](const N&, const H& h) {
       return std::get<Malformed>(as<MessageRefused>(h).what).id.has_value();
     }},
};

}  // namespace

Terms terms_of(const Policy& policy, const Upgrade& asked, bool by_signal) {
  Terms terms = policy.defaults;
  terms.mode = asked.mode.value_or(terms.mode);
  if (terms.mode == Mode::sequential) terms.gate = Gate::none;
  terms.gate = asked.gate.value_or(terms.gate);
  terms.commit = asked.commit.value_or(terms.commit);
  terms.start_timeout = or_default(asked.start_timeout_ms, terms.start_timeout);
  if (!by_signal) terms.confirm_timeout = Duration(0);
  terms.confirm_timeout = or_default(asked.confirm_timeout_ms, terms.confirm_timeout);
  terms.stop_timeout = or_default(asked.stop_timeout_ms, terms.stop_timeout);
  terms.trial = or_default(asked.trial_ms, terms.trial);
  terms.on_unclean_stop = asked.on_unclean_stop.value_or(terms.on_unclean_stop);
  terms.fallback = asked.fallback.value_or(terms.fallback);
  if (terms.mode == Mode::sequential) terms.fallback = FallbackMode::cold;
  return terms;
}

Guard guard_named(std::string_view name) {
  return named(guards, name);
}

}  // namespace upgrader::test

// The guards that the rows of the second table (second.table) name. Written from the protocol page,
// without a look at the supervisor.
#include "tests/decisions/explore/second_notes.h"

namespace upgrader::test {

using namespace agent_protocol;

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
       const Terms terms = asked ? terms_of(n.policy, asked->request.upgrade, true)
                                 : terms_of(n.policy, said<Upgrade>(h), false);
       const bool gate = terms.gate == Gate::none || terms.mode == Mode::parallel;
       const bool commit = terms.commit == CommitRule::survive || terms.trial != Duration::zero();
       return gate && commit;
     }},
    {"its id",
     [](const N& n, const H& h) {
       if (const auto* asked = std::get_if<ControlRequested>(h.event)) {
         return asked->request.upgrade.id == n.request.id;
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
    {"worn out",
     [](const N& n, const H& h) {
       if (n.request.boot) return n.request.boot->failure.stage == Stage::boot;
       return as<StartRequested>(h).worn_out.has_value();
     }},
    {"counts attempts", [](const N& n, const H&) { return n.policy.attempts && !n.attempts_over; }},
    {"owes a heartbeat", [](const N& n, const H&) { return n.a.beat || n.a.silent; }},
    {"has not said that it works", [](const N& n, const H&) { return !n.a.works; }},
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

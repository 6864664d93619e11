// The effects on deadlines that the rows of the second table (`second.table`) name. The second
// table is an independent second description of the supervisor. These effects were written from the
// protocol page, without a look at the supervisor.
#include <algorithm>

#include "tests/decisions/explore/second_words.h"

namespace upgrader::test {
namespace {

using namespace agent_protocol;

std::optional<Time> after(Time now, Duration limit) {
  return limit == Duration::zero() ? std::nullopt : std::optional<Time>(now + limit);
}

void extend(Party& party, const Happening& happening) {
  if (!party.limit) return;
  party.limit = std::max(*party.limit, happening.now + Duration(said<Extend>(happening).ms));
}

Duration longer(Duration one, Duration other) {
  if (one == Duration::zero() || other == Duration::zero()) return Duration::zero();
  return std::max(one, other);
}

using N = Notes;
using H = Happening;
using A = Actions;

const Named<Effect> deadline_effects[] = {
    {"A limit start",
     [](N& n, const H& h, A&) { n.a.limit = after(h.now, n.policy.defaults.start_timeout); }},
    {"A limit fallback",
     [](N& n, const H& h, A&) {
       n.a.limit =
           after(h.now, longer(n.request.terms.start_timeout, n.policy.defaults.start_timeout));
     }},
    {"B limit fallback",
     [](N& n, const H& h, A&) {
       n.b.limit =
           after(h.now, longer(n.request.terms.start_timeout, n.policy.defaults.start_timeout));
     }},
    {"A limit stop",
     [](N& n, const H& h, A&) { n.a.limit = after(h.now, n.policy.defaults.stop_timeout); }},
    {"A limit trial",
     [](N& n, const H& h, A&) {
       const Terms& terms = n.request.terms;
       const bool none = terms.trial == Duration::zero();
       n.a.limit = after(h.now, none ? terms.stop_timeout : terms.trial);
     }},
    {"A limit its stop",
     [](N& n, const H& h, A&) { n.a.limit = after(h.now, n.request.terms.stop_timeout); }},
    {"A limit exit", [](N& n, const H& h, A&) { n.a.limit = after(h.now, n.policy.exit_grace); }},
    {"A limit log", [](N& n, const H& h, A&) { n.a.limit = h.now + Duration(10'000); }},
    {"A no limit", [](N& n, const H&, A&) { n.a.limit.reset(); }},
    {"A grace", [](N& n, const H& h, A&) { n.a.grace = h.now + Duration(200); }},
    {"A no grace", [](N& n, const H&, A&) { n.a.grace.reset(); }},
    {"A more time", [](N& n, const H& h, A&) { extend(n.a, h); }},
    {"B limit start",
     [](N& n, const H& h, A&) { n.b.limit = after(h.now, n.request.terms.start_timeout); }},
    {"B limit trial",
     [](N& n, const H& h, A&) {
       const Terms& terms = n.request.terms;
       const bool none = terms.trial == Duration::zero();
       n.b.limit = after(h.now, none ? terms.stop_timeout : terms.trial);
     }},
    {"B limit log", [](N& n, const H& h, A&) { n.b.limit = h.now + Duration(10'000); }},
    {"B no limit", [](N& n, const H&, A&) { n.b.limit.reset(); }},
    {"B grace", [](N& n, const H& h, A&) { n.b.grace = h.now + Duration(200); }},
    {"B more time", [](N& n, const H& h, A&) { extend(n.b, h); }},
    // An agent must say `hello` within five seconds. If the agent does not, one log line says so,
    // and there is no other consequence.
    {"A owes hello", [](N& n, const H& h, A&) { n.a.hello = h.now + Duration(5'000); }},
    {"B owes hello", [](N& n, const H& h, A&) { n.b.hello = h.now + Duration(5'000); }},
    {"A keeps people waiting", [](N& n, const H&, A&) { n.a.hello.reset(); }},
    {"B keeps people waiting", [](N& n, const H&, A&) { n.b.hello.reset(); }},
    {"limit gate",
     [](N& n, const H& h, A&) { n.request.limit = after(h.now, n.request.terms.confirm_timeout); }},
    {"trial until its limit", [](N& n, const H&, A&) { n.request.limit = n.b.limit; }},
    {"trial until A's limit", [](N& n, const H&, A&) { n.request.limit = n.a.limit; }},
    {"A is to last",
     [](N& n, const H& h, A& a) {
       if (!n.policy.attempts || n.attempts_over) return;
       n.a.lasts = after(h.now, n.policy.defaults.trial);
       if (n.a.lasts) return;
       n.attempts_over = true;
       a.push_back(ForgetAttempts{});
     }},
    {"no request limit", [](N& n, const H&, A&) { n.request.limit.reset(); }},
    {"put it off",
     [](N& n, const H& h, A&) {
       std::optional<Time>& deadline = *deadline_due(n, h.now);
       deadline = h.now + std::min(h.now - *deadline, Duration(10'000));
     }},
    {"A owes a heartbeat",
     [](N& n, const H& h, A&) {
       n.a.beat = after(h.now, n.policy.watchdog);
       n.a.silent = false;
     }},
    {"A works", [](N& n, const H&, A&) { n.a.works = true; }},
    {"A owes no heartbeat",
     [](N& n, const H&, A&) {
       n.a.beat.reset();
       n.a.silent = false;
     }},
    {"A is silent",
     [](N& n, const H&, A&) {
       n.a.beat.reset();
       n.a.silent = true;
     }},
};

}  // namespace

Effect deadline_effect_named(std::string_view name) {
  return named(deadline_effects, name);
}

}  // namespace upgrader::test

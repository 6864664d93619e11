// The effects that the rows of the second table (`second.table`) name, except for effects on
// deadlines, which are in second_deadlines.cc. The second table is an independent second
// description of the supervisor. These effects were written from the protocol page, without a look
// at the supervisor.
#include <algorithm>
#include <utility>

#include "base/errno_name.h"
#include "tests/decisions/explore/second_words.h"

namespace upgrader::test {
namespace {

using namespace agent_protocol;

// ---- requests for upgrades

Request request_of(const Notes& notes, const Upgrade& asked) {
  Request request;
  request.id = asked.id;
  request.told = true;
  request.terms = terms_of(notes.policy, asked, false);
  request.executable = asked.executable;
  request.args = asked.args;
  return request;
}

// Begins the upgrade that `notes.request` describes: orders the check of the new program.
void begin(Notes& notes, Actions& actions) {
  Request& request = notes.request;
  request.previous = notes.a.program;
  request.previous_version = notes.a.version;
  actions.push_back(Check{request.executable, request.args, notes.a.program});
}

// ---- the causes of failures

enum class Detail { none, ending, trouble };

Failure failure_of(const std::string& id, Stage stage) {
  Failure failure;
  failure.id = id;
  failure.stage = stage;
  return failure;
}

// Adds to `actions` the order that puts AGENT's link back, if --relink is set and the upgrade was
// to the executable that this link names.
void put_link_back(const Notes& notes, Actions& actions) {
  if (notes.request.of_agent && notes.policy.relink) actions.push_back(RestoreLink{});
}

const ControlRequest& requested(const Happening& happening) {
  return as<ControlRequested>(happening);
}

void answer(const ControlRequest& request, bool ok, Actions& actions) {
  actions.push_back(Answer{request.name, request.deed, ok ? "" : "refused"});
}

// Answers the operator's request for this upgrade, if there is one that has no answer yet. Called
// when the upgrade is accepted or refused.
void answer_what_is_owed(Notes& notes, bool ok, Actions& actions) {
  const std::string name = std::exchange(notes.request.owed, {});
  if (!name.empty()) actions.push_back(Answer{name, Deed::upgrade, ok ? "" : "refused"});
}

void note_cause(Notes& notes, const Happening& happening, Stage stage, Detail detail) {
  if (notes.request.cause) return;  // only the first cause of a failure is kept
  Failure failure = failure_of(notes.request.id, stage);
  if (detail == Detail::ending) {
    const Ending& ending = as<ProcessExited>(happening).ending;
    if (ending.how == Ending::How::exited) failure.exit_status = ending.value;
    if (ending.how == Ending::How::signalled) failure.signal = ending.value;
  }
  if (detail == Detail::trouble) {
    const auto* outcome = std::get_if<Outcome>(happening.event);
    const Refusal& refusal = outcome ? *outcome->refused : as<StartRefused>(happening).refusal;
    failure.errno_name = errno_name(refusal.error_number);
  }
  notes.request.cause = failure;
}

template <Stage stage, Detail detail = Detail::none>
void cause(Notes& notes, const Happening& happening, Actions& actions) {
  answer_what_is_owed(notes, false, actions);
  put_link_back(notes, actions);
  note_cause(notes, happening, stage, detail);
}

// ---- helpers of the effects: messages to agents, and the ends of agents and upgrades

void send(Actions& actions, const Party& party, UpgraderMessage message) {
  actions.push_back(Send{party.generation, std::move(message)});
}

void offer(const Notes& notes, Party& party, Actions& actions) {
  party.offered = true;
  Activate message{notes.left, notes.clean, std::nullopt};
  // A standby is an agent of the old version that has waited during the trial, and is activated
  // when the upgrade has failed. It must be told once why: in its `welcome`, or else in this
  // `activate`.
  if (party.stood_by && !party.told_why) {
    message.failure = PastFailure{notes.request.cause.value(), notes.request.failed_version};
  }
  send(actions, party, std::move(message));
}

// Sends the agent an `activate` that puts it on trial. The message says how long the trial is and
// what commits the upgrade. If the length is 0, there is no trial, and the message says neither.
void offer_on_trial(const Notes& notes, Party& party, Actions& actions) {
  offer(notes, party, actions);
  const Terms& terms = notes.request.terms;
  if (terms.trial == Duration::zero()) return;
  auto& activate = std::get<Activate>(std::get<Send>(actions.back()).message);
  activate.trial_ms = terms.trial.count();
  activate.commit = terms.commit;
}

void close_input(Party& party, Actions& actions) {
  party.offered = false;
  actions.push_back(CloseInput{party.generation});
}

void kill_party(Party& party, Time now, Actions& actions) {
  if (party.offered) close_input(party, actions);
  actions.push_back(Kill{party.generation});
  party.limit = now + Duration(10'000);
  party.grace.reset();
  party.hello.reset();
  party.lasts.reset();  // the start of a killed agent never counts as a success
  party.beat.reset();   // a killed agent need not send heartbeats; `silent` stays as it is
}

void spawn(Party& party, Generation generation, Role role, ProgramId program, Actions& actions) {
  party = Party{.generation = generation, .role = role, .program = program};
  actions.push_back(Spawn{generation, program});
}

void welcome(const Notes& notes, Party& party, const Happening& happening, Actions& actions) {
  const auto& hello = said<Hello>(happening);
  party.version = hello.version;
  party.hello.reset();
  Welcome message;
  message.protocol = std::min(hello.protocol, protocol_version);
  message.generation = party.generation;
  message.role = party.role;
  party.promises_word = !hello.features.empty();
  message.features = hello.features;  // `readiness` is the only feature in these tests
  if (notes.policy.watchdog != Duration::zero()) {
    message.watchdog_ms = notes.policy.watchdog.count();
  }
  if (party.role == Role::candidate) message.previous_version = notes.request.previous_version;
  const bool needed = !party.stood_by || notes.request.cause;
  if (party.role == Role::fallback && needed) {
    message.failure = notes.request.boot.value_or(
        PastFailure{notes.request.cause.value_or(Failure{}), notes.request.failed_version});
    party.told_why = true;
  }
  send(actions, party, message);
}

// Forgets the state that the last active agent has left, and how that agent has exited. Called when
// the next agent's `activate`, which contains the state, has been fully written.
void forget_what_was_left(Notes& notes) {
  notes.clean = false;
  notes.left.reset();
  notes.end = 0;
}

void stop(Notes& notes, StopReason reason, Duration timeout, Time now, Actions& actions) {
  Stop message;
  message.reason = reason;
  message.deadline_ms = timeout.count();
  if (reason == StopReason::upgrade) {
    message.id = notes.request.id;
    message.generation = notes.request.generation;
    notes.request.told = true;
  }
  notes.a.limit = now + timeout;
  send(actions, notes.a, message);
}

void answer_error(const Notes& notes, const Happening& happening, Actions& actions) {
  Error error;
  if (const auto* received = std::get_if<MessageReceived>(happening.event)) {
    error.about = wire_name(received->message);
  } else {
    const auto& what = as<MessageRefused>(happening).what;
    error.about = std::visit(
        [](const auto& refused) { return refused.type.substr(0, about_bytes_max); }, what);
  }
  send(actions, happening.from_b ? notes.b : notes.a, error);
}

void refuse(const Notes& notes, const std::string& id, Actions& actions) {
  send(actions, notes.a, UpgradeFailed{failure_of(id, Stage::request)});
}

void tell_failed(Notes& notes, Actions& actions) {
  if (notes.request.told)
    send(actions, notes.a, UpgradeFailed{notes.request.cause.value_or(Failure{})});
}

// Records how an accepted upgrade has ended. Each accepted upgrade has exactly one ending.
template <UpgradeOutcome outcome>
void ends(Notes& notes, const Happening&, Actions& actions) {
  const Request& request = notes.request;
  if (request.generation == 0) return;
  RecordEnding ending{outcome, request.cause};
  if (outcome == UpgradeOutcome::ended && !request.cause) {
    ending.failure = failure_of(request.id, Stage::shutdown);
  }
  actions.push_back(ending);
}

// Records that the previous program is started at a boot, and why: the first agent has failed, or
// its executable has been started too often. The trial of the previous program has the terms that
// the options set, except for the mode, the gate and the commit rule, which are fixed.
template <Stage stage, Detail detail = Detail::none>
void fails(Notes& notes, const Happening& happening, Actions&) {
  notes.request = Request{.id = "boot", .terms = terms_of(notes.policy, {}, true)};
  notes.request.terms.mode = Mode::parallel;
  notes.request.terms.gate = Gate::none;
  notes.request.terms.commit = CommitRule::survive;
  if (const auto* start = std::get_if<StartRequested>(happening.event)) {
    notes.request.program = start->program;
  }
  note_cause(notes, happening, stage, detail);
  notes.request.boot = PastFailure{*std::exchange(notes.request.cause, {}), notes.a.version};
}

void forget_attempts(Notes& notes, const Happening&, Actions& actions) {
  if (!notes.policy.attempts) return;
  actions.push_back(ForgetAttempts{});
  notes.attempts_over = true;
  notes.a.lasts.reset();
}

void restore_link(const Notes& notes, Actions& actions) {
  if (notes.policy.relink) actions.push_back(RestoreLink{});
}

int status_of(const Ending& ending) {
  switch (ending.how) {
    case Ending::How::exited:
      return ending.value;
    case Ending::How::signalled:
      return 128 + ending.value;
    case Ending::How::unknown:
      return 125;
  }
  return 125;
}

// Records how agent A, the active agent, has ended.
void note_end(Notes& notes, const Happening& happening, bool clean) {
  notes.clean = clean;
  if (!clean) notes.left.reset();
  notes.end = clean ? 0 : status_of(as<ProcessExited>(happening).ending);
}

// ---- the names of the effects in the table's rows

using N = Notes;
using H = Happening;
using A = Actions;

const Named<Effect> effects[] = {
    // Effects on processes.
    {"spawn first",
     [](N& n, const H& h, A& a) {
       spawn(n.a, n.last + 1, Role::first, as<StartRequested>(h).program, a);
     }},
    {"spawn candidate",
     [](N& n, const H&, A& a) {
       const Generation taken = n.request.generation;
       spawn(n.b, taken ? taken : n.last + 1, Role::candidate, n.request.program, a);
     }},
    {"spawn fallback",
     [](N& n, const H&, A& a) {
       spawn(n.a, n.last + 1, Role::fallback, n.request.previous, a);
     }},
    {"spawn standby",
     [](N& n, const H&, A& a) {
       spawn(n.b, n.last + 1, Role::fallback, n.request.previous, a);
       n.b.stood_by = true;
     }},
    {"count it", [](N& n, const H&, A&) { ++n.last; }},
    {"it takes A's generation", [](N& n, const H&, A&) { n.request.generation = n.a.generation; }},
    {"spawn AGENT",
     [](N& n, const H&, A& a) { spawn(n.a, n.last + 1, Role::first, n.request.program, a); }},
    {"take a generation", [](N& n, const H&, A&) { n.request.generation = ++n.last; }},
    {"kill A", [](N& n, const H& h, A& a) { kill_party(n.a, h.now, a); }},
    {"kill B", [](N& n, const H& h, A& a) { kill_party(n.b, h.now, a); }},
    {"terminate A",
     [](N& n, const H&, A& a) {
       a.push_back(Terminate{n.a.generation});
       n.a.hello.reset();
     }},
    {"forget A", [](N& n, const H&, A&) { n.a = Party{}; }},
    {"forget B", [](N& n, const H&, A&) { n.b = Party{}; }},
    {"B becomes A", [](N& n, const H&, A&) { n.a = std::exchange(n.b, Party{}); }},
    {"pass it on",
     [](N& n, const H& h, A& a) {
       a.push_back(PassSignal{n.a.generation, as<SignalReceived>(h).signal});
     }},

    // Effects that concern upgrades: requests for them, answers and messages to agents, the links
    // of AGENT and of --previous, and the ends of upgrades.
    {"note request",
     [](N& n, const H& h, A& a) {
       n.request = request_of(n, said<Upgrade>(h));
       begin(n, a);
     }},
    {"note signal",
     [](N& n, const H&, A& a) {
       n.request = Request{.id = "sigusr2-" + std::to_string(++n.signals),
                           .by_signal = true,
                           .of_agent = true,
                           .terms = terms_of(n.policy, {}, true)};
       begin(n, a);
     }},
    {"note control",
     [](N& n, const H& h, A& a) {
       n.request = request_of(n, requested(h).upgrade);
       n.request.told = false;
       n.request.by_control = true;
       n.request.owed = requested(h).name;
       n.request.terms = terms_of(n.policy, requested(h).upgrade, true);
       n.request.of_agent = requested(h).upgrade.executable.empty();
       if (n.request.of_agent) n.request.executable.reset();
       begin(n, a);
     }},
    {"grant", [](N&, const H& h, A& a) { answer(requested(h), true, a); }},
    {"deny", [](N&, const H& h, A& a) { answer(requested(h), false, a); }},
    {"restore its link",
     [](N& n, const H& h, A& a) {
       if (requested(h).upgrade.executable.empty()) restore_link(n, a);
     }},
    {"count signal", [](N& n, const H&, A&) { ++n.signals; }},
    {"note program",
     [](N& n, const H& h, A&) { n.request.program = as<Outcome>(h).program; }},
    {"refuse", [](N& n, const H& h, A& a) { refuse(n, said<Upgrade>(h).id, a); }},
    {"refuse malformed",
     [](N& n, const H& h, A& a) {
       refuse(n, *std::get<Malformed>(as<MessageRefused>(h).what).id, a);
     }},
    {"accepted",
     [](N& n, const H&, A& a) {
       answer_what_is_owed(n, true, a);
       const bool by_agent = !n.request.by_signal && !n.request.by_control;
       if (by_agent) send(a, n.a, Accepted{n.request.id, n.request.generation});
     }},
    {"candidate_ready",
     [](N& n, const H&, A& a) {
       // An agent cannot confirm the upgrade of an operator, so no agent gets this message.
       if (n.request.by_control) return;
       n.request.told = true;
       send(a, n.a, CandidateReady{n.request.id, n.request.generation, n.b.version});
     }},
    {"candidate_lost",
     [](N& n, const H&, A& a) { send(a, n.a, CandidateLost{n.request.id, {}}); }},
    {"upgrade_failed", [](N& n, const H&, A& a) { tell_failed(n, a); }},
    {"failed by shutdown",
     [](N& n, const H&, A& a) {
       const Failure failure = failure_of(n.request.id, Stage::shutdown);
       if (n.request.told) send(a, n.a, UpgradeFailed{failure});
     }},
    {"committed",
     [](N& n, const H&, A& a) {
       send(a, n.a, Committed{n.request.id, n.request.generation});
     }},
    {"ends committed", ends<UpgradeOutcome::committed>},
    {"ends kept", ends<UpgradeOutcome::kept>},
    {"ends fallen back", ends<UpgradeOutcome::fell_back>},
    {"ends with it", ends<UpgradeOutcome::ended>},
    {"prove link",
     [](N& n, const H&, A& a) { a.push_back(ProveRelink{n.request.program}); }},
    {"relink",
     [](N& n, const H&, A& a) { a.push_back(Relink{n.a.program, !n.request.boot}); }},
    {"return link", [](N&, const H&, A& a) { a.push_back(PutLinkBack{}); }},
    {"restore link", [](N& n, const H&, A& a) { restore_link(n, a); }},
    {"upgrade is over", [](N& n, const H&, A&) { n.request = Request{.id = n.request.id}; }},
    {"put link back", [](N& n, const H&, A& a) { put_link_back(n, a); }},
    {"forget request", [](N& n, const H&, A&) { n.request = Request{}; }},

    // Effects that record the failure of the first agent at a boot, and start the previous program
    // instead.
    {"fails boot", fails<Stage::boot>},
    {"fails spawn errno", fails<Stage::spawn, Detail::trouble>},
    {"fails start", fails<Stage::start>},
    {"fails start ending", fails<Stage::start, Detail::ending>},
    {"find way back", [](N&, const H&, A& a) { a.push_back(FindWayBack{}); }},
    {"note way back",
     [](N& n, const H& h, A&) {
       n.request.program = n.request.previous = as<Outcome>(h).program;
     }},
    {"forget attempts", forget_attempts},
    {"forget what is counted",
     [](N& n, const H& h, A& a) {
       if (!n.attempts_over) forget_attempts(n, h, a);
     }},
    {"attempts are over", [](N& n, const H&, A&) { n.attempts_over = n.policy.attempts; }},

    // Effects that record why an upgrade has failed.
    {"cause request", cause<Stage::request>},
    {"cause request errno", cause<Stage::request, Detail::trouble>},
    {"cause spawn errno", cause<Stage::spawn, Detail::trouble>},
    {"cause start", cause<Stage::start>},
    {"cause start ending", cause<Stage::start, Detail::ending>},
    {"cause confirm", cause<Stage::confirm>},
    {"cause cancel", cause<Stage::cancel>},
    {"cause stop", cause<Stage::stop>},
    {"cause stop ending", cause<Stage::stop, Detail::ending>},
    {"cause trial", cause<Stage::trial>},
    {"cause trial ending", cause<Stage::trial, Detail::ending>},
    {"cause commit errno", cause<Stage::commit, Detail::trouble>},
    {"cause shutdown", cause<Stage::shutdown>},

    // Effects that send messages.
    {"error", [](N& n, const H& h, A& a) { answer_error(n, h, a); }},
    {"welcome A", [](N& n, const H& h, A& a) { welcome(n, n.a, h, a); }},
    {"welcome B",
     [](N& n, const H& h, A& a) {
       welcome(n, n.b, h, a);
       if (!n.b.stood_by) n.request.failed_version = n.b.version;
     }},
    {"note failed version",
     [](N& n, const H& h, A&) {
       if (!n.b.stood_by) n.request.failed_version = said<Hello>(h).version;
     }},
    {"offer A", [](N& n, const H&, A& a) { offer(n, n.a, a); }},
    {"offer A on trial", [](N& n, const H&, A& a) { offer_on_trial(n, n.a, a); }},
    {"offer B on trial", [](N& n, const H&, A& a) { offer_on_trial(n, n.b, a); }},
    {"A is not reached", [](N& n, const H&, A&) { n.a.offered = false; }},
    {"B is not reached", [](N& n, const H&, A&) { n.b.offered = false; }},
    {"A has the work",
     [](N& n, const H&, A&) {
       n.a.left_unfit = n.a.offered = false;
       n.a.works = !n.a.promises_word;
       forget_what_was_left(n);
     }},
    {"close A", [](N& n, const H&, A& a) { close_input(n.a, a); }},
    {"close B", [](N& n, const H&, A& a) { close_input(n.b, a); }},
    {"stop upgrade",
     [](N& n, const H& h, A& a) {
       stop(n, StopReason::upgrade, n.request.terms.stop_timeout, h.now, a);
     }},
    {"stop rollback",
     [](N& n, const H& h, A& a) {
       stop(n, StopReason::rollback, n.request.terms.stop_timeout, h.now, a);
     }},
    {"stop shutdown",
     [](N& n, const H& h, A& a) {
       stop(n, StopReason::shutdown, n.policy.defaults.stop_timeout, h.now, a);
     }},
    {"stop shutdown with what is left",
     [](N& n, const H& h, A& a) {
       const Duration left = n.a.limit.value_or(h.now) - h.now;
       stop(n, StopReason::shutdown, std::max(left, Duration(1)), h.now, a);
     }},
    {"keep state",
     [](N& n, const H& h, A&) { n.left = said<Stopped>(h).state; }},

    // Effects that record how the last active agent has ended, and with which status the upgrader
    // will exit.
    {"A left clean", [](N& n, const H& h, A&) { note_end(n, h, true); }},
    {"A left unclean", [](N& n, const H& h, A&) { note_end(n, h, false); }},
    {"verdict 125", [](N& n, const H&, A&) { n.verdict = n.verdict.value_or(125); }},
    {"verdict 126", [](N& n, const H&, A&) { n.verdict = n.verdict.value_or(126); }},
    {"note A unfit", [](N& n, const H&, A&) { n.a.left_unfit = true; }},
    {"verdict none", [](N& n, const H&, A&) { n.verdict.reset(); }},
    {"verdict as said",
     [](N& n, const H& h, A&) { n.verdict = as<StartRefused>(h).exit_status; }},
    {"verdict quit",
     [](N& n, const H&, A&) {
       n.verdict = 131;
       n.left.reset();
       n.clean = n.a.left_unfit = false;
       n.end = 0;
     }},
    {"verdict A but 0",
     [](N& n, const H& h, A&) {
       const int status = status_of(as<ProcessExited>(h).ending);
       n.verdict = n.verdict.value_or(status == 0 ? 125 : status);
     }},
    {"forget state", [](N& n, const H&, A&) { n.left.reset(); }},
    {"exit",
     [](N& n, const H&, A& a) {
       a.push_back(Exit{n.verdict.value_or(n.end)});
       const Notes before = std::exchange(n, {});
       n.policy = before.policy;
       n.last = before.last;
     }},
};

}  // namespace

Effect effect_named(std::string_view name) {
  const Effect effect = named(effects, name);
  return effect != nullptr ? effect : deadline_effect_named(name);
}

}  // namespace upgrader::test

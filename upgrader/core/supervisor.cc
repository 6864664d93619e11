#include "upgrader/core/supervisor.h"

#include <algorithm>

#include "agent-protocol/cpp/wire/message.h"
#include "base/check.h"
#include "base/utf8.h"
#include "upgrader/core/invariants.h"
#include "upgrader/core/terms.h"
#include "upgrader/core/words.h"

namespace upgrader {

using namespace agent_protocol;

namespace {

// The reasons for which agents are told to stop, as clauses for log lines, in the order of
// StopReason.
constexpr const char* stop_clauses[] = {"its candidate takes over", "it is rolled back",
                                        "the upgrader shuts down"};

// Returns the deadline that a timeout sets; a timeout of zero sets none.
std::optional<Time> deadline_after(Time now, Duration timeout) {
  if (timeout == Duration::zero()) return std::nullopt;
  return now + timeout;
}

// Calls `look(generation, deadline)` for every deadline in the state. `generation` is the agent
// whose messages must be read before the deadline takes effect. For a deadline that is not an
// agent's own, such as the end of a trial, this is the incumbent (the agent that does the work); 0
// if there is none.
void look_at_deadlines(auto& state, const auto& look) {
  const Generation keeper = state.incumbent ? state.incumbent->generation : 0;
  if (state.upgrade) look(keeper, state.upgrade->deadline);
  look(keeper, state.attempts_deadline);
  for (auto* agent : {&state.incumbent, &state.candidate}) {
    if (!*agent) continue;
    for (const auto deadline : agent_deadlines)
      look((*agent)->generation, (**agent).*deadline);
  }
}

// Handles one event completely. Only this class changes the state. Its functions are sorted in the
// order in which an upgrade needs them.
class Step {
 public:
  // `policy`, `state` and `actions` must outlive this object, which changes `state` and appends to
  // `actions`.
  Step(const Policy& policy, State& state, Time now, Actions& actions)
      : policy_(policy), state_(state), now_(now), actions_(actions) {}

  // Handles the outcome of the pending action. If no action is pending, nothing changes.
  void judge(const Outcome& outcome) {
    const std::optional<Refusal>& refused = outcome.refused;
    switch (std::exchange(state_.pending, Pending::nothing)) {
      case Pending::nothing:
        return;
      case Pending::way_back:
        return refused ? no_way_back() : way_back_found(outcome.program);
      case Pending::check:
        return checked(outcome);
      case Pending::link_back:
        return refused ? fail_upgrade(Stage::request, *refused) : start_upgrade();
      case Pending::spawn:
        return refused ? spawn_failed(*refused, outcome.not_executable) : spawned();
      case Pending::relink_proof:
        return refused ? fail_upgrade(Stage::commit, *refused) : tell_stop_for_upgrade();
      case Pending::relink:
        return refused ? fail_upgrade(Stage::commit, *refused) : tell_committed();
      case Pending::activate:
        activate_sent(outcome.sent);
    }
  }

  // ---- an agent is started

  void judge(const StartRequested& event) {
    if (started()) return;
    if (!event.attempts_exhausted || !policy_.previous)
      return order_spawn(Role::first, event.program, 1);
    first_failed(Stage::boot, *event.attempts_exhausted, 0, nullptr, exit_own_failure);
    state_.upgrade->program = event.program;
  }

  void order_spawn(Role role, ProgramId program, Generation generation) {
    Agent& agent = state_.spawning.emplace();
    agent.generation = generation;
    agent.role = role;
    agent.program = program;
    agent.standby = state_.incumbent && role == Role::fallback;
    order(Spawn{generation, program});
  }

  void spawned() {
    Agent agent = *std::exchange(state_.spawning, std::nullopt);
    state_.last_generation = std::max(state_.last_generation, agent.generation);
    await(agent, start_timeout_of(agent.role));
    agent.hello_deadline = now_ + hello_patience;
    if (agent.role != Role::candidate && !state_.incumbent) {
      if (state_.upgrade && state_.upgrade->boot) state_.upgrade->generation = agent.generation;
      state_.incumbent = std::move(agent);
      return;
    }
    state_.candidate = std::move(agent);
    // A sequential upgrade got its candidate's generation when it was accepted, before the old
    // agent was stopped. A parallel upgrade is accepted only now that its candidate has been
    // started.
    if (state_.upgrade->generation) return;
    state_.upgrade->generation = state_.candidate->generation;
    tell_accepted();
  }

  void spawn_failed(const Refusal& refusal, bool not_executable) {
    const Role role = std::exchange(state_.spawning, std::nullopt)->role;
    switch (role) {
      case Role::first:
        return first_failed(Stage::spawn, refusal.reason, refusal.error_number, nullptr,
                            not_executable ? exit_not_executable : exit_own_failure);
      case Role::candidate:
        return fail_upgrade(Stage::spawn, refusal);
      case Role::fallback:
        if (state_.incumbent) return standby_lost("process", refusal.reason);
        end_with(exit_own_failure, "the fallback could not be started: {}"_with(refusal.reason));
    }
  }

  Duration start_timeout_of(Role role) const {
    const Duration usual = policy_.defaults.start_timeout;
    if (role == Role::first) return usual;
    const Duration its = state_.upgrade->terms.start_timeout;
    return role == Role::candidate ? its : longer_of(usual, its);
  }

  // ---- what agents say

  void judge(const MessageReceived& event) {
    Agent* agent = find(event.generation);
    if (agent == nullptr) return;
    if (event.posthumous || agent->killed || agent->terminated) {
      return note_last_words(*agent, event.message);
    }
    const bool hello = std::holds_alternative<Hello>(event.message);
    if (!agent->greeted && !hello) {
      return send_error(*agent, type_name(event.message), "the first message must be hello");
    }
    std::visit([&](const auto& message) { hear(*agent, message); }, event.message);
  }

  void judge(const MessageRefused& event) {
    Agent* agent = find(event.generation);
    if (agent == nullptr || agent->killed || agent->terminated) return;
    if (const auto* unknown = std::get_if<Unknown>(&event.what)) {
      return send_error(*agent, unknown->type, "this type of message is not known here");
    }
    const auto& malformed = std::get<Malformed>(event.what);
    if (agent->activated && malformed.id) {
      return answer_refusal(*agent, *malformed.id, malformed.reason);
    }
    send_error(*agent, malformed.type, malformed.reason);
  }

  void judge(const StrayReceived& event) {
    if (find(event.generation) == nullptr) return;
    notice(event.generation, NoticeKind::stray,
           "generation {}: stray output: {}"_with(event.generation, event.text));
  }

  void hear(Agent& agent, const Hello& hello) {
    if (agent.greeted) return send_error(agent, "hello", "hello was said already");
    note_hello(agent, hello);
    Welcome welcome;
    if (agent.has_readiness) welcome.features.emplace_back(readiness_feature);
    welcome.protocol = std::min(hello.protocol, protocol_version);
    welcome.generation = agent.generation;
    welcome.role = agent.role;
    if (policy_.watchdog != Duration::zero()) welcome.watchdog_ms = policy_.watchdog.count();
    if (agent.role == Role::candidate) welcome.previous_version = state_.upgrade->previous_version;
    if (state_.upgrade && agent.role == Role::fallback) {
      const UpgradeUnderWay& upgrade = *state_.upgrade;
      if (upgrade.failure) welcome.failure = {*upgrade.failure, upgrade.version};
      if (upgrade.boot) welcome.failure = *upgrade.boot;
      agent.knows_failure = welcome.failure.has_value();
    }
    send(agent, std::move(welcome));
  }

  void hear(Agent& agent, const Ready&) {
    if (agent.activated) return send_error(agent, "ready", "it is active already");
    if (agent.ready) return send_error(agent, "ready", "ready was said already");
    agent.ready = true;
    agent.deadline.reset();
    // An agent that has closed a pipe must not be activated. It fails when it exits, or at the
    // latest after `close_grace` (supervisor.h).
    if (has_closed(agent)) return;
    if (agent.standby && state_.candidate) return log(LogLevel::info, "{} stands by"_with(agent));
    if (agent.role != Role::candidate) return activate_incumbent();
    if (!state_.incumbent) return activate_candidate();
    if (state_.upgrade->terms.gate == Gate::confirm) return wait_for_confirm();
    pass_gate();
  }

  void hear(Agent& agent, const Unfit& unfit) {
    if (agent.activated && (!on_trial(agent) || agent.told)) {
      return send_error(agent, "unfit", "only an agent that is held or on trial may say it");
    }
    const std::string reason = "unfit: {}"_with(unfit.reason);
    if (agent.activated) return fail_upgrade(Stage::trial, reason);
    held_agent_failed(agent, reason);
  }

  void hear(Agent& agent, const Upgrade& upgrade) {
    if (!agent.activated) return send_error(agent, "upgrade", "only the active agent may say it");
    if (const std::optional<std::string> busy = why_busy()) {
      return answer_refusal(agent, upgrade.id, *busy);
    }
    begin_upgrade(upgrade, Origin::agent);
  }

  void hear(Agent& agent, const Confirm& confirm) {
    if (!agent.activated || phase_of(state_) != Phase::confirming ||
        state_.upgrade->id != confirm.id || state_.upgrade->origin == Origin::control) {
      return send_error(agent, "confirm", "no upgrade of this id waits to be confirmed");
    }
    open_gate();
  }

  void hear(Agent& agent, const Cancel& cancel) {
    if (agent.stopped) return send_error(agent, "cancel", "stopped was said already");
    if (state_.shutdown && agent.told_id == cancel.id) {
      return tell_stop(agent, StopReason::shutdown, time_left(agent));
    }
    const bool knows = agent.activated && state_.upgrade && state_.upgrade->id == cancel.id &&
                       state_.upgrade->known_to_agent && !on_trial(agent);
    if (!knows) return send_error(agent, "cancel", "no upgrade of this id can be cancelled now");
    // If the upgrade has failed already, its failure is in the log, so log only that the agent
    // stays active. Otherwise fail_upgrade() below logs the failure.
    if (agent.told && state_.upgrade->failure) {
      log(LogLevel::info, "{} has taken its work back, and stays active{}"_with(
                              agent, words::behind_colon(cancel.reason)));
    }
    // If the agent still has to say `healthy`, its start timeout begins again.
    const bool owes_healthy = !agent.works && agent.role != Role::candidate;
    if (agent.told) await(agent, owes_healthy ? policy_.defaults.start_timeout : Duration{0});
    agent.told.reset();
    agent.told_id.reset();
    fail_upgrade(Stage::cancel,
                 "cancelled by the active agent{}"_with(words::behind_colon(cancel.reason)));
  }

  void hear(Agent& agent, const Stopped& stopped) {
    if (!agent.told) return send_error(agent, "stopped", "no stop was sent");
    if (agent.stopped) return send_error(agent, "stopped", "stopped was said already");
    note_stopped(agent, stopped);
  }

  void hear(Agent& agent, const Healthy&) {
    const bool commits = on_trial(agent) && !agent.told;
    if (!commits && !(agent.activated && agent.has_readiness)) {
      const bool too_late = agent.told == StopReason::rollback;
      return send_error(agent, "healthy",
                        too_late ? "it is being rolled back" : "it is not on trial");
    }
    if (!agent.works) {
      agent.works = true;
      if (!agent.told) agent.deadline.reset();
      log(LogLevel::info, "{} says that it works"_with(agent));
    }
    if (commits) commit();
  }

  void hear(Agent& agent, const Extend& extend) {
    const bool starting = !agent.ready || (agent.activated && !agent.works && !agent.told);
    const bool stopping = agent.told && !agent.stopped;
    if (!starting && !stopping) return send_error(agent, "extend", "nothing waits for it");
    if (!agent.deadline) return;
    const Duration added = std::max(Duration{0}, now_ + Duration(extend.ms) - *agent.deadline);
    *agent.deadline += added;
    agent.allowed += added;
    agent.extended += added;
  }

  void hear(Agent& agent, const Heartbeat&) {
    if (!agent.activated) return send_error(agent, "heartbeat", "only the active agent may say it");
    if (agent.silent) log(LogLevel::info, "{} sends heartbeats again"_with(agent));
    await_heartbeat(agent);
  }

  void hear(const Agent& agent, const Status& status) {
    notice(agent.generation, NoticeKind::status, "{}: {}"_with(agent, status.text));
  }

  // Handles a message that was read only after its agent had died or was killed. Records a `hello`,
  // a `stopped`, a `status` and the reason of an `unfit`; ignores all other messages.
  void note_last_words(Agent& agent, const AgentMessage& message) {
    const auto* hello = std::get_if<Hello>(&message);
    if (hello != nullptr && !agent.greeted) note_hello(agent, *hello);
    if (!agent.greeted) return;
    if (const auto* stopped = std::get_if<Stopped>(&message)) {
      if (agent.told && !agent.stopped) note_stopped(agent, *stopped);
    } else if (const auto* status = std::get_if<Status>(&message)) {
      hear(agent, *status);
    } else if (const auto* unfit = std::get_if<Unfit>(&message)) {
      agent.unfit = unfit->reason;
    }
  }

  void note_hello(Agent& agent, const Hello& hello) {
    agent.greeted = true;
    agent.hello_deadline.reset();
    agent.version = hello.version;
    agent.has_readiness =
        std::count(hello.features.begin(), hello.features.end(), readiness_feature) > 0;
    if (belongs_to_upgrade(agent)) state_.upgrade->version = hello.version;
  }

  void note_stopped(Agent& agent, const Stopped& stopped) {
    agent.stopped = true;
    await_no_heartbeat(agent);
    agent.state = stopped.state;
    if (!agent.killed) agent.deadline = deadline_after(now_, policy_.exit_grace);
    log(LogLevel::info, "{} confirmed its clean stop"_with(agent));
  }

  // ---- an upgrade, from its request to the stop of the active agent

  void judge(const UpgradeRequested&) {
    Upgrade request;
    request.id = "sigusr2-{}"_with(++state_.upgrade_signals);
    if (const std::optional<std::string> busy = why_busy()) {
      log(LogLevel::warning, "upgrade {} refused: {}"_with(request.id, *busy));
      return restore_link_unless_waiting();
    }
    begin_upgrade(request, Origin::signal);
  }

  std::optional<std::string> why_busy() const {
    if (shutting_down()) return "busy: the upgrader is stopping";
    if (state_.upgrade) return "busy: upgrade {} is under way"_with(state_.upgrade->id);
    if (state_.candidate) return "busy: the standby of the last upgrade has not ended yet";
    if (!state_.incumbent || !state_.incumbent->activated) return "busy: no agent is active yet";
    return std::nullopt;
  }

  void begin_upgrade(const Upgrade& request, Origin origin, std::string_view name = {}) {
    const Agent& active = *state_.incumbent;
    state_.last_failure.reset();
    UpgradeUnderWay& upgrade = state_.upgrade.emplace();
    upgrade.id = request.id;
    upgrade.origin = origin;
    upgrade.names_agent = request.executable.empty();
    upgrade.unanswered_name = name;
    upgrade.terms = terms_of(request, policy_.defaults, origin == Origin::agent);
    upgrade.previous = active.program;
    upgrade.previous_version = active.version;
    upgrade.known_to_agent = origin == Origin::agent;
    if (const std::optional<std::string> contradiction = contradiction_in(upgrade.terms)) {
      return fail_upgrade(Stage::request, *contradiction);
    }
    Check check{std::nullopt, request.args, active.program};
    if (!upgrade.names_agent) check.executable = request.executable;
    order(std::move(check));
  }

  void checked(const Outcome& outcome) {
    UpgradeUnderWay& upgrade = *state_.upgrade;
    if (outcome.refused) return fail_upgrade(Stage::request, *outcome.refused);
    if (!outcome.way_back) {
      return fail_upgrade(Stage::request,
                          "nothing to go back to: the running script's path no longer names its "
                          "file; move that file back, or restart the upgrader");
    }
    upgrade.program = outcome.program;
    if (policy_.relink && upgrade.names_agent) return order(PutLinkBack{});
    start_upgrade();
  }

  // Begins the upgrade to the program that has been checked. With --relink, AGENT's link has been
  // put back to the committed program before this call, if the user has changed it.
  void start_upgrade() {
    UpgradeUnderWay& upgrade = *state_.upgrade;
    if (upgrade.terms.mode == Mode::parallel) {
      return order_spawn(Role::candidate, *upgrade.program, state_.last_generation + 1);
    }
    upgrade.generation = ++state_.last_generation;
    tell_accepted();
    pass_gate();
  }

  void tell_accepted() {
    const UpgradeUnderWay& upgrade = *state_.upgrade;
    log(LogLevel::info, "upgrade {} accepted, {}, to generation {}"_with(
                            upgrade.id, name_of(upgrade.terms.mode), *upgrade.generation));
    answer_upgrade("");
    if (upgrade.origin != Origin::agent) return;
    send(*state_.incumbent, Accepted{upgrade.id, *upgrade.generation});
  }

  void wait_for_confirm() {
    UpgradeUnderWay& upgrade = *state_.upgrade;
    upgrade.waits_for_confirm = true;
    upgrade.deadline = deadline_after(now_, upgrade.terms.confirm_timeout);
    log(LogLevel::info,
        "{} is ready; upgrade {} waits to be confirmed"_with(*state_.candidate, upgrade.id));
    // The operator who requested the upgrade also confirms it, so the agent is not sent
    // `candidate_ready`.
    if (upgrade.origin == Origin::control) return;
    upgrade.known_to_agent = true;
    send(*state_.incumbent, CandidateReady{upgrade.id, *upgrade.generation, upgrade.version});
  }

  void open_gate() {
    state_.upgrade->waits_for_confirm = false;
    state_.upgrade->deadline.reset();
    // A candidate that has closed a pipe must not be activated. It fails when it exits, or at the
    // latest after `close_grace` (supervisor.h).
    if (has_closed(*state_.candidate)) return;
    pass_gate();
  }

  void pass_gate() {
    if (policy_.relink) return order(ProveRelink{*state_.upgrade->program});
    tell_stop_for_upgrade();
  }

  void tell_stop_for_upgrade() {
    state_.upgrade->known_to_agent = true;
    tell_stop(*state_.incumbent, StopReason::upgrade, state_.upgrade->terms.stop_timeout);
  }

  // ---- agents close their pipes and exit

  void judge(const OutputClosed& event) {
    Agent* agent = find(event.generation);
    if (agent == nullptr || agent->output_closed) return;
    agent->output_closed = true;
    if (agent->activate_waits) return;  // the agent may still read its `activate`
    if (!agent->activated) {
      start_close_grace(*agent);
    } else if (!agent->stopped) {
      log(LogLevel::debug, "{} closed its output; it cannot confirm a stop"_with(*agent));
    }
  }

  void judge(const InputClosed& event) {
    Agent* agent = find(event.generation);
    if (agent == nullptr || agent->input_closed) return;
    if (agent->activate_waits) return activate_lost(*agent);
    agent->input_closed = true;
    if (!agent->activated) {
      start_close_grace(*agent);
    } else if (agent->told) {
      log(LogLevel::debug, "{} no longer reads its input"_with(*agent));
    } else {
      log(LogLevel::warning,
          "{} no longer reads its input; a stop will not reach it, and will end with SIGKILL"_with(
              *agent));
    }
  }

  void start_close_grace(Agent& agent) {
    if (agent.killed || agent.terminated || agent.close_deadline) return;
    agent.close_deadline = now_ + close_grace;
  }

  void judge(const ProcessExited& event) {
    if (state_.candidate && state_.candidate->generation == event.generation) {
      Agent gone = *std::exchange(state_.candidate, std::nullopt);
      candidate_exited(gone, event.ending);
    } else if (state_.incumbent && state_.incumbent->generation == event.generation) {
      Agent gone = *std::exchange(state_.incumbent, std::nullopt);
      incumbent_exited(gone, event.ending);
    }
  }

  void candidate_exited(Agent& gone, const Ending& ending) {
    if (gone.killed) {
      log_reaped(gone);
      return go_on_after_reaping();
    }
    held_agent_failed(gone, words::failed_to_start(gone, ending), &ending);
  }

  void incumbent_exited(Agent& gone, const Ending& ending) {
    if (gone.activated) note_what_is_left(gone, ending);
    state_.attempts_deadline.reset();
    const char* const stop = gone.stopped ? " after its clean stop"
                             : gone.told  ? " without having confirmed its stop"
                                          : "";
    const std::string how_it_went = "{} {}{}"_with(gone, ending, stop);
    if (shutting_down()) {
      const bool unclean =
          gone.activated && state_.shutdown && state_.left_behind->exit_status != 0;
      log(unclean ? LogLevel::error : LogLevel::info, how_it_went);
      return go_on_after_reaping();
    }
    if (!gone.activated) return held_incumbent_exited(gone, ending);
    if (!state_.upgrade || (!gone.told && !belongs_to_upgrade(gone))) {
      restore_link_for_signal();
      if (state_.upgrade) drop_upgrade("the active agent exited");
      return end_with(exit_status_of(ending), how_it_went);
    }
    log(LogLevel::info, how_it_went);
    if (!belongs_to_upgrade(gone)) return take_over_from(gone, ending);
    const std::string reason =
        gone.unfit ? "unfit: {}"_with(*gone.unfit) : "{} while it was on trial"_with(ending);
    fail_upgrade(Stage::trial, reason, 0, &ending);
  }

  // Handles the exit of a first agent or a fallback that is not active yet. If the agent was
  // killed, its failure has been handled before.
  void held_incumbent_exited(Agent& gone, const Ending& ending) {
    if (!gone.killed) held_agent_failed(gone, words::failed_to_start(gone, ending), &ending);
    if (gone.killed && !gone.standby) log_reaped(gone);
    if (gone.killed || gone.standby) step_back();
  }

  // Returns the upgrader's exit status for a first agent that exited before it was activated. The
  // status is never 0, even if the agent exited with status 0, because no agent has ever worked.
  static int status_after_held(const Agent& gone, const Ending& ending) {
    if (gone.unfit) return exit_own_failure;
    const int status = exit_status_of(ending);
    return status == 0 ? exit_own_failure : status;
  }

  void log_reaped(const Agent& gone) { log(LogLevel::info, "{} has been reaped"_with(gone)); }

  void note_what_is_left(const Agent& gone, const Ending& ending) {
    state_.left_behind = LeftBehind{.clean = gone.stopped,
                                    .state = gone.state,
                                    .exit_status = gone.stopped ? 0 : exit_status_of(ending)};
  }

  // Handles the exit of the incumbent (the old agent) after it was sent `stop` for the upgrade.
  void take_over_from(const Agent& gone, const Ending& ending) {
    UpgradeUnderWay& upgrade = *state_.upgrade;
    if (upgrade.failure) return step_back();
    const bool fall_back = upgrade.terms.on_unclean_stop == UncleanStop::fall_back;
    if (!gone.stopped && fall_back) {
      const std::string reason =
          gone.killed ? "the active agent did not stop {}"_with(words::within(gone))
                      : "the active agent {} without having confirmed its stop"_with(ending);
      return fail_upgrade(Stage::stop, reason, 0, gone.killed ? nullptr : &ending);
    }
    if (!gone.stopped) log(LogLevel::warning, "{} stopped uncleanly; going on"_with(gone));
    if (upgrade.terms.mode == Mode::sequential) {
      return order_spawn(Role::candidate, *upgrade.program, *upgrade.generation);
    }
    // A candidate that has closed a pipe must not be activated. It fails when it exits, or at the
    // latest after `close_grace` (supervisor.h).
    if (has_closed(*state_.candidate)) return;
    activate_candidate();
  }

  void go_on_after_reaping() {
    if (shutting_down()) return exit_if_alone();
    // If the upgrade has failed, continue to undo it. Otherwise a standby (a fallback, started in
    // advance) has exited, and nothing is to be done: the upgrade continues without it, or is
    // committed already.
    if (state_.upgrade && state_.upgrade->failure) step_back();
  }

  // ---- an agent is activated, or its `activate` cannot be delivered

  void activate_incumbent() {
    send_activate(*state_.incumbent, state_.upgrade && state_.upgrade->boot);
  }

  void activate_candidate() {
    UPGRADER_CHECK(!state_.incumbent && state_.candidate->ready && !has_closed(*state_.candidate));
    send_activate(*state_.candidate, true);
  }

  // Sends `activate`. The agent is not active before the whole message has been written. Until
  // then, the `state` from the last active agent is kept for the next agent, in case this one
  // fails. The agent must read the message within its trial, or within the stop timeout if it has
  // no trial.
  void send_activate(Agent& agent, bool has_trial) {
    const Terms& terms = state_.upgrade ? state_.upgrade->terms : policy_.defaults;
    const bool on_trial = has_trial && terms.trial != Duration::zero();
    agent.activate_waits = true;
    await(agent, on_trial ? terms.trial : terms.stop_timeout);
    Activate activate;
    if (state_.left_behind)
      activate = {state_.left_behind->state, state_.left_behind->clean, std::nullopt};
    if (agent.standby && !agent.knows_failure) {
      activate.failure = {*state_.upgrade->failure, state_.upgrade->version};
      fit_line(activate);
    }
    if (on_trial) {
      activate.trial_ms = terms.trial.count();
      activate.commit = terms.commit;
    }
    order(Send{agent.generation, std::move(activate)});
  }

  void activate_sent(Sent sent) {
    Agent& agent = state_.candidate ? *state_.candidate : *state_.incumbent;
    UPGRADER_CHECK(agent.activate_waits);
    if (sent == Sent::written) activated();
    if (sent == Sent::lost) activate_lost(agent);
  }

  void judge(const ActivateWritten& event) {
    const Agent* agent = find(event.generation);
    if (agent != nullptr && agent->activate_waits) activated();
  }

  // Marks an agent as active, because its `activate` has been written whole.
  void activated() {
    if (state_.candidate) state_.incumbent = std::exchange(state_.candidate, std::nullopt);
    Agent& agent = *state_.incumbent;
    const std::optional<Time> trial_end = std::exchange(agent.deadline, std::nullopt);
    agent.activate_waits = false;
    agent.activated = true;
    agent.works = !agent.has_readiness;
    if (!agent.works && agent.role != Role::candidate) {
      await(agent, start_timeout_of(agent.role));
    }
    state_.left_behind.reset();
    await_heartbeat(agent);
    if (belongs_to_upgrade(agent)) return begin_trial(agent, trial_end);
    if (agent.role == Role::first) {
      log(LogLevel::info, "{} is active"_with(agent));
    } else {
      log(LogLevel::warning, "upgrade {} failed; {} is active again with the previous program"_with(
                                 state_.upgrade->id, agent));
      record_ending(UpgradeOutcome::fell_back);
      state_.last_failure = std::move(state_.upgrade->failure);
      state_.upgrade.reset();
    }
    await_lasting();
  }

  void begin_trial(const Agent& agent, const std::optional<Time>& end) {
    const Duration trial = state_.upgrade->terms.trial;
    if (trial == Duration::zero()) {
      log(LogLevel::info, "{} is active, without a trial"_with(agent));
      return commit();
    }
    log(LogLevel::info, "{} is active, on trial for {}"_with(agent, in_words(trial)));
    state_.upgrade->deadline = end;
    if (state_.upgrade->boot || state_.upgrade->terms.fallback == FallbackMode::cold) return;
    order_spawn(Role::fallback, state_.upgrade->previous, state_.last_generation + 1);
  }

  // Handles an agent whose `activate` could not be delivered, so that the agent was never
  // activated. It fails when it exits, or at the latest after `close_grace`, as if it had closed
  // its input.
  void activate_lost(Agent& agent) {
    agent.activate_waits = false;
    agent.input_closed = true;
    agent.deadline.reset();
    start_close_grace(agent);
  }

  // ---- an upgrade is committed

  void commit() {
    state_.upgrade->deadline.reset();
    if (policy_.relink) return order(Relink{*state_.upgrade->program, !state_.upgrade->boot});
    tell_committed();
  }

  void tell_committed() {
    const UpgradeUnderWay& upgrade = *state_.upgrade;
    log(LogLevel::info,
        "{} has passed; upgrade {} is committed"_with(*state_.incumbent, upgrade.id));
    send(*state_.incumbent, Committed{upgrade.id, *upgrade.generation});
    record_ending(UpgradeOutcome::committed);
    state_.proved_good = true;
    if (upgrade.boot) {
      state_.last_failure = upgrade.boot->failure;
    } else {
      // AGENT's link names a new program, for which earlier failed starts must not count
      forget_attempts();
    }
    state_.upgrade.reset();
    if (state_.candidate && !state_.candidate->killed) kill(*state_.candidate);
  }

  // ---- an upgrade fails

  // Refuses an upgrade that an agent has requested, before it becomes the upgrade under way.
  void answer_refusal(Agent& agent, const std::string& id, const std::string& reason) {
    notice(agent.generation, NoticeKind::refusal, "upgrade {} refused: {}"_with(id, reason));
    send(agent, UpgradeFailed{words::failure_of(id, Stage::request, reason, 0, nullptr)});
  }

  // Handles the failure of an agent that is held (not active yet). `ending` says how the agent
  // exited; null if it has not exited.
  void held_agent_failed(Agent& agent, const std::string& reason, const Ending* ending = nullptr) {
    if (agent.role == Role::candidate) return candidate_failed(reason, ending);
    if (ending == nullptr) kill(agent);
    if (agent.standby) return standby_lost(in_words(agent), reason);
    if (agent.role == Role::first) {
      const int status = ending == nullptr ? exit_own_failure : status_after_held(agent, *ending);
      return first_failed(Stage::start, reason, 0, ending, status, agent.version);
    }
    fallback_failed(agent, reason, ending);
  }

  // Ends the upgrader because a fallback has failed: there is no third program to start.
  void fallback_failed(const Agent& agent, const std::string& reason, const Ending* ending) {
    if (state_.upgrade->boot) {
      state_.upgrade->failure =
          words::failure_of(state_.upgrade->id, Stage::start, reason, 0, ending);
    }
    end_with(exit_own_failure, "{} failed: {}"_with(agent, reason));
  }

  void candidate_failed(const std::string& reason, const Ending* ending) {
    const bool news = state_.incumbent && state_.incumbent->told == StopReason::upgrade &&
                      !state_.incumbent->stopped && !state_.incumbent->killed;
    if (news) {
      send(*state_.incumbent,
           CandidateLost{state_.upgrade->id, fit_text(reason, reason_bytes_max)});
    }
    fail_upgrade(Stage::start, reason, 0, ending);
  }

  void fail_upgrade(Stage stage, const std::string& reason, int error = 0,
                    const Ending* ending = nullptr) {
    note_failure(stage, reason, error, ending);
    step_back();
  }

  void fail_upgrade(Stage stage, const Refusal& refusal) {
    fail_upgrade(stage, refusal.reason, refusal.error_number);
  }

  // Records the failure of the upgrade, unless an earlier failure has been recorded.
  void note_failure(Stage stage, const std::string& reason, int error, const Ending* ending) {
    UpgradeUnderWay& upgrade = *state_.upgrade;
    upgrade.deadline.reset();
    upgrade.waits_for_confirm = false;
    if (upgrade.failure) return;
    Failure failure = words::failure_of(upgrade.id, stage, reason, error, ending);
    const std::string told = words::failed(upgrade, failure, state_.incumbent);
    if (stage == Stage::request && upgrade.origin == Origin::agent) {
      notice(state_.incumbent->generation, NoticeKind::refusal, told);
    } else if (!upgrade.unanswered_name.empty()) {
      answer_upgrade(failure.reason);
    } else {
      log(LogLevel::warning, told);
    }
    upgrade.failure = std::move(failure);
    restore_link_for_signal();
  }

  // Does the next step of undoing a failed upgrade. Sends `stop` to an agent on trial. Any other
  // active agent stays active, and the upgrade ends when the candidate has exited. When no agent is
  // left, starts the fallback.
  void step_back() {
    const bool standby = state_.candidate && state_.candidate->standby;
    if (state_.candidate && !state_.candidate->killed && !standby) kill(*state_.candidate);
    if (state_.incumbent) {
      Agent& agent = *state_.incumbent;
      if (on_trial(agent) && !agent.told) {
        tell_stop(agent, StopReason::rollback, state_.upgrade->terms.stop_timeout);
      } else if (!agent.told && !state_.candidate) {
        end_failed_upgrade();
      }
      return;
    }
    if (state_.candidate && state_.candidate->killed) return;
    const bool boot_failed = state_.upgrade->boot && state_.upgrade->failure;
    if (boot_failed) return end_with(exit_own_failure, "the way back has failed, too");
    fall_back();
  }

  // Logs that a standby (a fallback, started in advance) has failed. The upgrade goes on. If the
  // trial of the new version fails, a new fallback has to be started then.
  void standby_lost(const std::string& who, const std::string& reason) {
    log(LogLevel::warning,
        "standby {} failed: {}; a fall-back has to start the previous program cold"_with(who,
                                                                                         reason));
  }

  // Gives the work back to the previous program. Called when no agent is active any more. If there
  // is a standby (a fallback that was started in advance), activates it now, or as soon as it is
  // ready. Otherwise starts a fallback.
  void fall_back() {
    if (!state_.candidate) {
      return order_spawn(Role::fallback, state_.upgrade->previous, state_.last_generation + 1);
    }
    state_.incumbent = std::exchange(state_.candidate, std::nullopt);
    if (state_.incumbent->ready && !has_closed(*state_.incumbent)) activate_incumbent();
  }

  // Records how the upgrade under way ended, if it was accepted.
  void record_ending(UpgradeOutcome outcome, const std::string& reason = {}) {
    if (!state_.upgrade || !state_.upgrade->generation) return;
    RecordEnding ending{outcome, state_.upgrade->failure};
    if (outcome != UpgradeOutcome::committed && !ending.failure) {
      ending.failure = words::failure_of(state_.upgrade->id, Stage::shutdown, reason, 0, nullptr);
    }
    order(std::move(ending));
  }

  void end_failed_upgrade() {
    record_ending(UpgradeOutcome::kept);
    const UpgradeUnderWay upgrade = *std::exchange(state_.upgrade, std::nullopt);
    state_.last_failure = upgrade.failure;
    if (!upgrade.known_to_agent) return;
    send(*state_.incumbent, UpgradeFailed{*upgrade.failure});
  }

  // Returns true if AGENT's link may name the new program, which is not committed yet. If the
  // upgrade fails, the link must then be put back to the committed program.
  bool owes_link() const { return policy_.relink && state_.upgrade && state_.upgrade->names_agent; }

  void restore_link_for_signal() {
    if (owes_link()) order(RestoreLink{});
  }

  // Points AGENT's link back to the committed program, because a requested upgrade could not begin.
  // Does nothing before the first agent has been started: an earlier upgrader may still run then,
  // and use the link.
  void restore_link_unless_waiting() {
    if (policy_.relink && started()) order(RestoreLink{});
  }

  // ---- a first agent fails, and the previous version is started (--previous, --attempts)

  void judge(const StartRefused& event) {
    if (started()) return;
    first_failed(Stage::spawn, event.refusal.reason, event.refusal.error_number, nullptr,
                 event.exit_status);
  }

  // Handles any failure of a first agent. With the option --previous, looks for the previous
  // version, to start it instead. Without that option, ends the upgrader.
  void first_failed(Stage stage, const std::string& reason, int error, const Ending* ending,
                    int status, const std::optional<std::string>& version = std::nullopt) {
    PastFailure past;
    past.failure = words::failure_of("boot", stage, reason, error, ending);
    past.version = version;
    if (!policy_.previous) return end_with(status, words::first_failed(past));
    UpgradeUnderWay& upgrade = state_.upgrade.emplace();
    upgrade.id = past.failure.id;
    upgrade.origin = Origin::boot;
    upgrade.terms = policy_.defaults;
    upgrade.terms.mode = Mode::parallel;
    upgrade.terms.gate = Gate::none;
    upgrade.terms.commit = CommitRule::survive;
    upgrade.boot = std::move(past);
    upgrade.boot_status = status;
    order(FindWayBack{});
  }

  void way_back_found(ProgramId program) {
    UpgradeUnderWay& upgrade = *state_.upgrade;
    upgrade.program = program;
    upgrade.previous = program;
    // AGENT's executable has failed, so --previous and --attempts count this start of the upgrader
    // as failed.
    state_.start_is_judged = true;
    log(LogLevel::warning,
        "{}; going back to what was there before"_with(words::first_failed(*upgrade.boot)));
    if (!state_.incumbent) order_spawn(Role::fallback, program, state_.last_generation + 1);
  }

  void no_way_back() {
    const UpgradeUnderWay upgrade = *std::exchange(state_.upgrade, std::nullopt);
    if (upgrade.boot->failure.stage == Stage::boot) {
      log(LogLevel::warning, "{}; nothing else to start"_with(words::first_failed(*upgrade.boot)));
      return order_spawn(Role::first, *upgrade.program, 1);
    }
    end_with(upgrade.boot_status, words::first_failed(*upgrade.boot));
  }

  // Called when an agent has been activated. Sets the time at which --attempts counts this start of
  // the upgrader as a success: when the agent has been active for as long as a trial takes.
  void await_lasting() {
    if (!policy_.previous && !policy_.attempts) return;
    if (state_.start_is_judged) return;
    if (policy_.defaults.trial == Duration::zero()) return has_lasted();
    state_.attempts_deadline = now_ + policy_.defaults.trial;
  }

  void has_lasted() {
    state_.proved_good = true;
    forget_attempts();
  }

  void forget_attempts() {
    state_.attempts_deadline.reset();
    if (!policy_.previous && !policy_.attempts) return;
    state_.start_is_judged = true;
    if (policy_.attempts) order(ForgetAttempts{});
  }

  // ---- an operator's requests through the control directory

  void judge(const ControlRequested& request) {
    if (request.deed == Deed::upgrade) return upgrade_by_control(request);
    const std::string refusal = why_not(request);
    answer(request.name, request.deed, refusal);
    if (refusal.empty()) obey(request);
  }

  void upgrade_by_control(const ControlRequest& request) {
    ++state_.control_reloads;
    if (const std::optional<std::string> busy = why_busy()) {
      answer(request.name, Deed::upgrade, *busy);
      if (request.upgrade.executable.empty()) restore_link_unless_waiting();
      return;
    }
    begin_upgrade(request.upgrade, Origin::control, request.name);
  }

  // Returns why the request cannot be obeyed, or an empty text.
  std::string why_not(const ControlRequest& request) const {
    if (request.deed == Deed::shutdown) return "";
    if (shutting_down()) return *why_busy();
    if (!state_.upgrade || state_.upgrade->id != request.upgrade.id) {
      return "no upgrade of this id is under way";
    }
    const Phase phase = phase_of(state_);
    const bool at_the_gate = phase == Phase::confirming;
    switch (request.deed) {
      case Deed::confirm:
        return at_the_gate ? "" : "it does not wait to be confirmed";
      case Deed::cancel:
        return why_not_cancel(phase);
      case Deed::commit:
      case Deed::rollback:
        return phase == Phase::trial ? "" : "no agent of it is on trial";
      case Deed::upgrade:
      case Deed::shutdown:
        break;
    }
    return "";
  }

  std::string why_not_cancel(Phase phase) const {
    if (state_.upgrade->failure) return "it has failed already";
    if (state_.upgrade->boot)
      return "it goes back to the previous version: there is no other to keep";
    if (phase == Phase::preparing || phase == Phase::confirming) return "";
    if (phase == Phase::trial) return "its agent is on trial: ask for a rollback instead";
    if (phase == Phase::replacing) return "the old agent has stopped: it cannot be kept any more";
    return "the active agent has been told to stop: only that agent can cancel it now";
  }

  void obey(const ControlRequest& request) {
    const std::string why = words::behind_colon(request.reason);
    switch (request.deed) {
      case Deed::confirm:
        return open_gate();
      case Deed::cancel:
        return fail_upgrade(Stage::cancel, "cancelled by the control directory{}"_with(why));
      case Deed::commit:
        return commit();
      case Deed::rollback:
        return fail_upgrade(Stage::trial, "rolled back by the control directory{}"_with(why));
      case Deed::shutdown:
        return judge(StopRequested{});
      case Deed::upgrade:
        return;
    }
  }

  // Answers an operator's request. The refusal is empty if the request is carried out.
  void answer(const std::string& name, Deed deed, std::string_view refusal) {
    order(Answer{name, deed, std::string(refusal)});
    if (refusal.empty()) return;
    notice(0, NoticeKind::request, words::request_refused(name, name_of(deed), refusal));
  }

  // Answers the operator's request for the upgrade under way, unless it has been answered.
  void answer_upgrade(std::string_view refusal) {
    const std::string name = std::exchange(state_.upgrade->unanswered_name, {});
    if (!name.empty()) answer(name, Deed::upgrade, refusal);
  }

  // ---- deadlines

  // Handles at most one deadline that has passed. The code in upgrader/shell then reads the agents'
  // messages again before it reports the next deadline.
  void judge(const DeadlinePassed& event) {
    passed_by_ = std::min(now_, event.by);
    put_off_what_is_late();
    if (state_.candidate && agent_deadline_passed(*state_.candidate)) return;
    if (state_.incumbent && agent_deadline_passed(*state_.incumbent)) return;
    if (state_.upgrade && has_passed(state_.upgrade->deadline)) return upgrade_deadline_passed();
    if (has_passed(state_.attempts_deadline)) has_lasted();
  }

  bool has_passed(const std::optional<Time>& deadline) const {
    return deadline && *deadline <= passed_by_;
  }

  // Puts off the deadlines that passed while the upgrader was frozen, since the agents may have
  // been frozen as well. Each deadline is put off only once; otherwise repeated freezes could put
  // it off for ever.
  void put_off_what_is_late() {
    std::erase_if(state_.put_off, [&](Time before) {
      bool is_set = false;
      look_at_deadlines(state_, [&](Generation, const std::optional<Time>& deadline) {
        is_set = is_set || deadline == before;
      });
      return !is_set;
    });
    Duration longest{};
    look_at_deadlines(state_, [&](Generation, std::optional<Time>& deadline) {
      if (!has_passed(deadline) || is_put_off(*deadline)) return;
      const Duration late = now_ - *deadline;
      if (late <= late_at_most) return;
      longest = std::max(longest, late);
      deadline = now_ + std::min(late, grace_max);
      state_.put_off.push_back(*deadline);
    });
    if (longest == Duration::zero()) return;
    log(LogLevel::warning,
        "deadlines come {} late: the upgrader did not run; what was due has {} more"_with(
            words::in_whole_seconds(longest),
            words::in_whole_seconds(std::min(longest, grace_max))));
  }

  bool is_put_off(Time deadline) const {
    return std::find(state_.put_off.begin(), state_.put_off.end(), deadline) !=
           state_.put_off.end();
  }

  // Handles a deadline of this agent that has passed. Returns false if no deadline has passed.
  bool agent_deadline_passed(Agent& agent) {
    if (has_passed(agent.close_deadline)) {
      held_agent_failed(agent, words::closed_its_pipe(agent));
    } else if (has_passed(agent.heartbeat_deadline)) {
      heartbeat_missed(agent);
    } else if (has_passed(agent.hello_deadline)) {
      agent.hello_deadline.reset();
      log(LogLevel::warning, "{} has not said hello for {}; {}"_with(
                                 agent, in_words(hello_patience), words::may_not_speak));
    } else if (has_passed(agent.deadline)) {
      waited_too_long(agent);
    } else {
      return false;
    }
    return true;
  }

  // Handles an agent whose `deadline` has passed before the agent did what was expected of it.
  void waited_too_long(Agent& agent) {
    if (agent.killed) {
      log(LogLevel::warning, "{} has been killed, but has not ended yet; waiting"_with(agent));
      agent.deadline = now_ + killed_log_interval;
    } else if (agent.activate_waits) {
      agent.activate_late = true;
      order(CloseInput{agent.generation});
      activate_lost(agent);
    } else if (agent.told || agent.terminated) {
      log(LogLevel::warning,
          agent.stopped ? "{} lingers after its clean stop; killing it"_with(agent)
                        : "{} has not stopped {}; killing it"_with(agent, words::within(agent)));
      kill(agent);
    } else if (agent.activated) {
      does_not_work(agent);
    } else {
      // The agent is killed now, so the warning that it has not said `hello` is not needed. With
      // hello_deadline cleared, hint() adds this fact to the reason instead.
      agent.hello_deadline.reset();
      held_agent_failed(agent, "not ready {}{}"_with(words::within(agent), words::hint(agent)));
    }
  }

  // Handles a first agent or a fallback that has not said `healthy` in time.
  void does_not_work(Agent& agent) {
    const std::string reason = "did not say healthy {}"_with(words::within(agent));
    if (on_trial(agent)) return fail_upgrade(Stage::trial, reason);
    restore_link_for_signal();
    if (state_.upgrade) drop_upgrade("the active agent failed");
    kill(agent);
    end_with(exit_own_failure, "{} failed: {}"_with(agent, reason));
  }

  // Handles a missed heartbeat. If the agent is on trial, its upgrade fails. Otherwise the upgrader
  // only stops sending WATCHDOG=1, with which it vouches for the agent to init.
  void heartbeat_missed(Agent& agent) {
    const std::string reason = "no heartbeat within {}"_with(in_words(policy_.watchdog));
    if (on_trial(agent)) return fail_upgrade(Stage::trial, reason);
    agent.heartbeat_deadline.reset();
    agent.silent = true;
    log(LogLevel::warning, "{} is silent: {}"_with(agent, reason));
  }

  // Sets the next heartbeat deadline. An agent that has said `stopped`, or has been told to stop
  // for a roll-back, need not send heartbeats.
  void await_heartbeat(Agent& agent) {
    if (agent.stopped || agent.told == StopReason::rollback) return;
    agent.silent = false;
    agent.heartbeat_deadline = deadline_after(now_, policy_.watchdog);
  }

  static void await_no_heartbeat(Agent& agent) {
    agent.silent = false;
    agent.heartbeat_deadline.reset();
  }

  void upgrade_deadline_passed() {
    const UpgradeUnderWay& upgrade = *state_.upgrade;
    if (upgrade.waits_for_confirm) {
      fail_upgrade(Stage::confirm,
                   "not confirmed within {}"_with(in_words(upgrade.terms.confirm_timeout)));
    } else if (upgrade.terms.commit == CommitRule::healthy) {
      fail_upgrade(Stage::trial,
                   "did not say healthy within {}"_with(in_words(upgrade.terms.trial)));
    } else {
      commit();
    }
  }

  // ---- the upgrader ends

  bool shutting_down() const { return state_.shutdown || state_.quit || state_.exit_with; }

  void judge(const StopRequested&) {
    if (state_.shutdown || state_.quit) return;
    state_.shutdown = true;
    log_why_it_ends("told to stop");
    const bool puts_link_back = owes_link();
    if (state_.upgrade) end_upgrade_for_shutdown();
    if (state_.candidate && !state_.candidate->killed) kill(*state_.candidate);
    if (state_.incumbent) stop_for_shutdown(*state_.incumbent);
    // RestoreLink and forget_attempts() sync files. They come after the agent's `stop`, so that a
    // slow disk does not delay the `stop`.
    if (puts_link_back) order(RestoreLink{});
    if (!state_.start_is_judged) forget_attempts();
    exit_if_alone();
  }

  void judge(const QuitRequested&) {
    if (state_.quit) return;
    state_.quit = true;
    log_why_it_ends("told to quit at once");
    const bool puts_link_back = owes_link();
    if (state_.upgrade) drop_upgrade("the upgrader was told to quit");
    if (state_.candidate && !state_.candidate->killed) kill(*state_.candidate);
    if (state_.incumbent && !state_.incumbent->killed) kill(*state_.incumbent);
    if (puts_link_back) order(RestoreLink{});
    exit_if_alone();
  }

  void judge(const SignalReceived& event) {
    if (!state_.incumbent || !state_.incumbent->activated) {
      return log(LogLevel::info, "signal {} dropped: no agent is active"_with(event.signal));
    }
    order(PassSignal{state_.incumbent->generation, event.signal});
  }

  void log_why_it_ends(std::string why) {
    const std::size_t bytes = why.size();
    order(Log{LogLevel::info, std::move(why), bytes});
  }

  // Ends the upgrader with this status, once all agents have been killed and reaped. Nobody
  // requested this end, so its log line is at least a warning.
  void end_with(int status, const std::string& why) {
    order(Log{status == 0 ? LogLevel::warning : LogLevel::error,
              "{}; {}"_with(why, words::ends_with(status)), why.size()});
    record_ending(UpgradeOutcome::ended, why);
    state_.exit_with = status;
    state_.upgrade.reset();
    if (state_.candidate && !state_.candidate->killed) kill(*state_.candidate);
    exit_if_alone();
  }

  // Ends the upgrade under way, because the upgrader ends. The caller sends the messages to agents
  // and puts AGENT's link back, if necessary.
  void drop_upgrade(const std::string& reason) {
    log(LogLevel::warning, "upgrade {} ends uncommitted: {}"_with(state_.upgrade->id, reason));
    record_ending(UpgradeOutcome::ended, reason);
    state_.upgrade.reset();
  }

  void end_upgrade_for_shutdown() {
    const UpgradeUnderWay upgrade = *state_.upgrade;
    std::string reason = "the upgrader was told to stop";
    if (upgrade.failure) reason += "; before that: {}"_with(upgrade.failure->reason);
    const bool owed = state_.incumbent && state_.incumbent->activated &&
                      !on_trial(*state_.incumbent) && upgrade.known_to_agent &&
                      !state_.incumbent->stopped && !state_.incumbent->killed;
    drop_upgrade(reason);
    if (!owed) return;
    send(*state_.incumbent,
         UpgradeFailed{words::failure_of(upgrade.id, Stage::shutdown, reason, 0, nullptr)});
  }

  void stop_for_shutdown(Agent& agent) {
    if (agent.killed || agent.told) return;
    if (agent.activated) {
      return tell_stop(agent, StopReason::shutdown, policy_.defaults.stop_timeout);
    }
    if (agent.greeted || agent.role != Role::first) return kill(agent);
    agent.terminated = true;
    agent.hello_deadline.reset();
    agent.close_deadline.reset();
    await(agent, policy_.defaults.stop_timeout);
    order(Terminate{agent.generation});
  }

  void exit_if_alone() {
    if (state_.incumbent || state_.candidate) return;
    int status = state_.exit_with.value_or(0);
    if (state_.shutdown) status = state_.left_behind ? state_.left_behind->exit_status : 0;
    if (state_.quit) status = exit_quit;
    if (state_.shutdown || state_.quit) {
      // The upgrader may have decided to end before this signal, and have logged an exit status.
      // If the signal changes the status, log the change.
      const bool ended_anyway = state_.exit_with && *state_.exit_with != status;
      log(status == 0 ? LogLevel::info : LogLevel::error,
          ended_anyway
              ? "told to {} before that: {}, and not with {}"_with(
                    state_.quit ? "quit" : "stop", words::ends_with(status), *state_.exit_with)
              : words::ends_with(status));
    }
    state_.ended = true;
    order(Exit{status});
  }

  // ---- small helpers

  bool started() const { return state_.last_generation > 0; }

  Agent* find(Generation generation) {
    if (state_.incumbent && state_.incumbent->generation == generation) return &*state_.incumbent;
    if (state_.candidate && state_.candidate->generation == generation) return &*state_.candidate;
    return nullptr;
  }

  bool belongs_to_upgrade(const Agent& agent) const {
    return state_.upgrade && state_.upgrade->generation == agent.generation;
  }

  bool on_trial(const Agent& agent) const { return agent.activated && belongs_to_upgrade(agent); }

  static bool has_closed(const Agent& agent) { return agent.output_closed || agent.input_closed; }

  Duration time_left(const Agent& agent) const {
    return std::max(Duration{1}, *agent.deadline - now_);
  }

  // Gives the agent a new deadline: `allowed` from now; none if `allowed` is 0.
  void await(Agent& agent, Duration allowed) const {
    agent.deadline = deadline_after(now_, allowed);
    agent.allowed = allowed;
    agent.extended = Duration{0};
  }

  void tell_stop(Agent& agent, StopReason reason, Duration timeout) {
    Stop stop;
    stop.reason = reason;
    stop.deadline_ms = timeout.count();
    if (reason == StopReason::upgrade) {
      stop.id = state_.upgrade->id;
      stop.generation = state_.upgrade->generation;
    }
    // After a second `stop`, log lines still show the time limit of the first one.
    const bool again = agent.told.has_value();
    agent.told = reason;
    agent.told_id = stop.id;
    if (reason == StopReason::rollback) await_no_heartbeat(agent);
    agent.deadline = now_ + timeout;
    if (!again) {
      agent.allowed = timeout;
      agent.extended = Duration{0};
    }
    log(LogLevel::info,
        "{} is told to stop: {}"_with(agent, stop_clauses[static_cast<std::size_t>(reason)]));
    send(agent, std::move(stop));
  }

  void kill(Agent& agent) {
    // Drop the rest of an `activate` that is only partly written. It contains the `state` of the
    // last active agent, which now goes to the next agent.
    if (agent.activate_waits) order(CloseInput{agent.generation});
    agent.killed = true;
    agent.activate_waits = false;
    agent.hello_deadline = agent.heartbeat_deadline = agent.close_deadline = std::nullopt;
    if (agent.activated) state_.attempts_deadline.reset();
    agent.deadline = now_ + killed_log_interval;
    order(Kill{agent.generation});
  }

  void send(const Agent& agent, UpgraderMessage message) {
    order(Send{agent.generation, std::move(message)});
  }

  void send_error(const Agent& agent, std::string_view about, std::string_view reason) {
    Error error;
    error.about = fit_text(about, about_bytes_max);
    error.reason = fit_text(reason, reason_bytes_max);
    notice(agent.generation, NoticeKind::error,
           "{} sent {}, which was not obeyed: {}"_with(agent, *error.about, error.reason));
    send(agent, std::move(error));
  }

  void notice(Generation generation, NoticeKind kind, std::string text) {
    order(Notice{generation, kind, std::move(text)});
  }

  void log(LogLevel level, std::string text) { order(Log{level, std::move(text)}); }

  // Orders an action. If the action has an outcome, that outcome must be the next event.
  void order(Action action) {
    state_.pending = pending_on(action);
    actions_.push_back(std::move(action));
  }

 private:
  const Policy& policy_;
  State& state_;
  const Time now_;
  Time passed_by_{};  // deadlines up to this time have passed
  Actions& actions_;
};

}  // namespace

Actions Supervisor::step(const Event& event, Time now, Actions memory) {
  UPGRADER_CHECK(state_.pending == Pending::nothing || std::holds_alternative<Outcome>(event));
  Actions actions = std::move(memory);
  actions.clear();
  if (state_.ended) return actions;
  Step step(policy_, state_, now, actions);
  std::visit([&](const auto& happened) { step.judge(happened); }, event);
  check_state(state_, actions);
  return actions;
}

std::optional<Time> Supervisor::next_deadline() const {
  std::optional<Time> next;
  look_at_deadlines(state_, [&](Generation, const std::optional<Time>& deadline) {
    next = earlier_of(next, deadline);
  });
  return next;
}

std::vector<Generation> Supervisor::late(Time by) const {
  std::vector<Generation> late;
  look_at_deadlines(state_, [&](Generation whose, const std::optional<Time>& deadline) {
    if (deadline && *deadline <= by) late.push_back(whose);
  });
  return late;
}

std::vector<ProgramId> Supervisor::programs() const {
  std::vector<ProgramId> needed;
  for (const std::optional<Agent>* agent :
       {&state_.incumbent, &state_.candidate, &state_.spawning}) {
    if (*agent) needed.push_back((*agent)->program);
  }
  if (state_.upgrade) needed.push_back(state_.upgrade->previous);
  if (state_.upgrade && state_.upgrade->program) needed.push_back(*state_.upgrade->program);
  return needed;
}

}  // namespace upgrader

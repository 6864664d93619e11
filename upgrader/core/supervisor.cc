// Transitions of the supervisor. Every change of the state is made here, by a Step: one event,
// taken to its end.
#include "upgrader/core/supervisor.h"

#include <algorithm>
#include <csignal>
#include <tuple>
#include <utility>

#include "upgrader/core/check.h"
#include "upgrader/core/words.h"

namespace upgrader {
namespace {

using agent_protocol::AgentMessage;
using agent_protocol::CommitRule;
using agent_protocol::Failure;
using agent_protocol::fit_text;
using agent_protocol::Gate;
using agent_protocol::Mode;
using agent_protocol::Role;
using agent_protocol::Stage;
using agent_protocol::StopReason;
using agent_protocol::UncleanStop;
using agent_protocol::UpgraderMessage;

// A deadline that a timeout sets; a zero timeout sets none.
std::optional<Time> deadline_after(Time now, Duration timeout) {
  if (timeout == Duration::zero()) return std::nullopt;
  return now + timeout;
}

// The longer of two timeouts, of which zero is no limit.
Duration longer_of(Duration one, Duration other) {
  if (one == Duration::zero() || other == Duration::zero()) return Duration::zero();
  return std::max(one, other);
}

// All that may be set.
std::vector<std::optional<Time>*> deadlines_of(State& state) {
  std::vector<std::optional<Time>*> all;
  for (std::optional<Agent>* agent : {&state.incumbent, &state.candidate}) {
    if (!*agent) continue;
    Agent& its = **agent;
    all.insert(all.end(),
               {&its.deadline, &its.hello_deadline, &its.close_deadline, &its.heartbeat_deadline});
  }
  if (state.upgrade) all.push_back(&state.upgrade->deadline);
  return all;
}

class Step {
 public:
  Step(const Policy& policy, State& state, Time now, Actions& actions)
      : policy_(policy), state_(state), now_(now), actions_(actions) {}

  // ---- what may happen

  void take(const StartRequested& event) {
    if (started()) return;
    order_spawn(Role::first, event.program, 1);
  }

  void take(const MessageReceived& event) {
    Agent* agent = find(event.generation);
    if (agent == nullptr) return;
    if (event.posthumous || agent->killed || agent->terminated) {
      take_last_words(*agent, event.message);
      return;
    }
    const bool hello = std::holds_alternative<agent_protocol::Hello>(event.message);
    if (!agent->greeted && !hello) {
      refuse_message(*agent, event.message, "the first message must be hello");
      return;
    }
    std::visit([&](const auto& message) { hear(*agent, message); }, event.message);
  }

  void take(const MessageRefused& event) {
    Agent* agent = find(event.generation);
    if (agent == nullptr || agent->killed || agent->terminated) return;
    if (const auto* unknown = std::get_if<agent_protocol::Unknown>(&event.what)) {
      send_error(*agent, unknown->type, "this type of message is not known here");
      return;
    }
    const auto& malformed = std::get<agent_protocol::Malformed>(event.what);
    if (agent->activated && malformed.id) {
      answer_refusal(*agent, *malformed.id, malformed.reason);
      return;
    }
    send_error(*agent, malformed.type, malformed.reason);
  }

  void take(const StrayReceived& event) {
    if (find(event.generation) == nullptr) return;
    notice(event.generation, NoticeKind::stray,
           words::generation(event.generation) + ": stray output: " + event.text);
  }

  void take(const OutputClosed& event) {
    Agent* agent = find(event.generation);
    if (agent == nullptr || agent->output_closed) return;
    agent->output_closed = true;
    if (agent->activate_waits) return;  // what counts is whether it takes that
    if (!agent->activated) {
      start_close_grace(*agent);
    } else if (!agent->stopped) {
      log(LogLevel::debug, words::who(*agent) + " closed its output; it cannot confirm a stop");
    }
  }

  void take(const InputClosed& event) {
    Agent* agent = find(event.generation);
    if (agent == nullptr || agent->input_closed) return;
    if (agent->activate_waits) return activate_lost(*agent);
    agent->input_closed = true;
    if (!agent->activated) {
      start_close_grace(*agent);
    } else {
      log(LogLevel::debug, words::who(*agent) + " no longer reads its input");
    }
  }

  void take(const ActivateWritten& event) {
    const Agent* agent = find(event.generation);
    if (agent != nullptr && agent->activate_waits) activated();
  }

  void take(const ProcessExited& event) {
    if (state_.candidate && state_.candidate->generation == event.generation) {
      const Agent gone = *std::exchange(state_.candidate, std::nullopt);
      candidate_exited(gone, event.ending);
    } else if (state_.incumbent && state_.incumbent->generation == event.generation) {
      const Agent gone = *std::exchange(state_.incumbent, std::nullopt);
      incumbent_exited(gone, event.ending);
    }
  }

  void take(const Checked& event) {
    if (!expect(Pending::check)) return;
    UpgradeUnderWay& upgrade = *state_.upgrade;
    if (!event.way_back) {
      refuse_upgrade({"",
                      "nothing to go back to: the path of the running script no longer names "
                      "the file that runs"});
      return;
    }
    upgrade.program = event.program;
    if (upgrade.terms.mode == Mode::parallel) {
      order_spawn(Role::candidate, event.program, state_.last_generation + 1);
      return;
    }
    upgrade.generation = ++state_.last_generation;
    tell_accepted();
    pass_gate();
  }

  void take(const CheckFailed& event) {
    if (!expect(Pending::check)) return;
    refuse_upgrade(event.trouble);
  }

  void take(const Spawned& event) {
    if (!expect(Pending::spawn)) return;
    UPGRADER_CHECK(state_.spawning && state_.spawning->generation == event.generation);
    Agent agent = *std::exchange(state_.spawning, std::nullopt);
    state_.last_generation = std::max(state_.last_generation, agent.generation);
    agent.allowed = start_timeout_of(agent.role);
    agent.deadline = deadline_after(now_, agent.allowed);
    agent.hello_deadline = now_ + hello_patience;
    if (agent.role != Role::candidate) {
      state_.incumbent = std::move(agent);
      return;
    }
    state_.candidate = std::move(agent);
    if (state_.upgrade->generation) return;  // sequential: accepted long since
    state_.upgrade->generation = event.generation;
    tell_accepted();
  }

  void take(const SpawnFailed& event) {
    if (!expect(Pending::spawn)) return;
    const Role role = std::exchange(state_.spawning, std::nullopt)->role;
    switch (role) {
      case Role::first:
        end_with(event.not_executable ? exit_not_executable : exit_own_failure,
                 event.trouble.reason);
        return;
      case Role::candidate:
        fail_upgrade(Stage::spawn, event.trouble.reason, event.trouble.errno_name);
        return;
      case Role::fallback:
        end_with(exit_own_failure, "the fallback could not be started: " + event.trouble.reason);
        return;
    }
  }

  void take(const RelinkProved&) {
    if (!expect(Pending::relink_proof)) return;
    tell_stop_for_upgrade();
  }

  void take(const RelinkProofFailed& event) {
    if (!expect(Pending::relink_proof)) return;
    fail_upgrade(Stage::commit, event.trouble.reason, event.trouble.errno_name);
  }

  void take(const Relinked&) {
    if (!expect(Pending::relink)) return;
    tell_committed();
  }

  void take(const RelinkFailed& event) {
    if (!expect(Pending::relink)) return;
    fail_upgrade(Stage::commit, event.trouble.reason, event.trouble.errno_name);
  }

  void take(const ActivateSent& event) {
    if (!expect(Pending::activate)) return;
    Agent* agent = find(event.generation);
    UPGRADER_CHECK(agent != nullptr && agent->activate_waits);
    if (event.how == ActivateSent::How::written) activated();
    if (event.how == ActivateSent::How::lost) activate_lost(*agent);
  }

  // Handles at most one deadline: the shell reads what agents have sent before it asks again.
  void take(const DeadlinePassed& event) {
    passed_by_ = std::min(now_, event.by);
    put_off_what_is_late();
    if (state_.candidate && agent_deadline_passed(*state_.candidate)) return;
    if (state_.incumbent && agent_deadline_passed(*state_.incumbent)) return;
    if (state_.upgrade && has_passed(state_.upgrade->deadline)) upgrade_deadline_passed();
  }

  void take(const StopRequested&) {
    if (state_.shutdown || state_.quit) return;
    state_.shutdown = true;
    log(LogLevel::info, "told to stop");
    if (state_.upgrade) end_upgrade_for_shutdown();
    wind_down();
  }

  void take(const QuitRequested&) {
    if (state_.quit) return;
    state_.quit = true;
    log(LogLevel::info, "told to quit at once");
    if (state_.upgrade) drop_upgrade("the upgrader was told to quit");
    if (state_.candidate && !state_.candidate->killed) kill(*state_.candidate);
    if (state_.incumbent && !state_.incumbent->killed) kill(*state_.incumbent);
    exit_if_alone();
  }

  void take(const UpgradeRequested&) {
    agent_protocol::Upgrade request;
    request.id = "sigusr2-" + std::to_string(++state_.upgrade_signals);
    if (const std::optional<std::string> busy = why_busy()) {
      log(LogLevel::warning, "upgrade " + request.id + " refused: " + *busy);
      // Before the start the link is another upgrader's, whose lock is waited for.
      if (policy_.relink && started()) actions_.emplace_back(RestoreLink{});
      return;
    }
    begin_upgrade(request, Origin::signal);
  }

  void take(const SignalReceived& event) {
    if (!state_.incumbent || !state_.incumbent->activated) {
      log(LogLevel::info,
          "signal " + std::to_string(event.signal) + " dropped: no agent is active");
      return;
    }
    actions_.emplace_back(PassSignal{state_.incumbent->generation, event.signal});
  }

 private:
  // ---- what an agent says

  void hear(Agent& agent, const agent_protocol::Hello& hello) {
    if (agent.greeted) return send_error(agent, "hello", "hello was said already");
    note_hello(agent, hello);
    agent_protocol::Welcome welcome;
    welcome.protocol = std::min(hello.protocol, agent_protocol::protocol_version);
    welcome.generation = agent.generation;
    welcome.role = agent.role;
    if (policy_.watchdog != Duration::zero()) welcome.watchdog_ms = policy_.watchdog.count();
    if (state_.upgrade && agent.role == Role::candidate) {
      welcome.previous_version = state_.upgrade->previous_version;
    }
    if (state_.upgrade && agent.role == Role::fallback) {
      welcome.failure =
          agent_protocol::PastFailure{*state_.upgrade->failure, state_.upgrade->version};
    }
    send(agent, std::move(welcome));
  }

  void hear(Agent& agent, const agent_protocol::Ready&) {
    if (agent.activated) return send_error(agent, "ready", "it is active already");
    if (agent.ready) return send_error(agent, "ready", "ready was said already");
    agent.ready = true;
    agent.deadline.reset();
    if (has_closed(agent)) return;  // it fails as soon as its close grace is over
    if (agent.role != Role::candidate) {
      activate_incumbent();
      return;
    }
    if (!state_.incumbent) {
      activate_candidate();
      return;
    }
    if (state_.upgrade->terms.gate == Gate::confirm) {
      wait_for_confirm();
      return;
    }
    pass_gate();
  }

  void hear(Agent& agent, const agent_protocol::Unfit& unfit) {
    if (agent.activated && (!on_trial(agent) || agent.told)) {
      return send_error(agent, "unfit", "only an agent that is held or on trial may say it");
    }
    const std::string reason = "unfit: " + unfit.reason;
    if (agent.activated) {
      fail_upgrade(Stage::trial, reason);
    } else {
      held_agent_failed(agent, reason);
    }
  }

  void hear(Agent& agent, const agent_protocol::Upgrade& upgrade) {
    if (!agent.activated) return send_error(agent, "upgrade", "only the active agent may say it");
    if (const std::optional<std::string> busy = why_busy()) {
      answer_refusal(agent, upgrade.id, *busy);
      return;
    }
    begin_upgrade(upgrade, Origin::agent);
  }

  void hear(Agent& agent, const agent_protocol::Confirm& confirm) {
    if (!agent.activated || phase_of(state_) != Phase::confirming ||
        state_.upgrade->id != confirm.id) {
      return send_error(agent, "confirm", "no upgrade of this id waits to be confirmed");
    }
    state_.upgrade->waits_for_confirm = false;
    state_.upgrade->deadline.reset();
    if (has_closed(*state_.candidate)) return;  // it fails as soon as its close grace is over
    pass_gate();
  }

  void hear(Agent& agent, const agent_protocol::Cancel& cancel) {
    if (agent.stopped) return send_error(agent, "cancel", "stopped was said already");
    if (state_.shutdown && agent.told_id == cancel.id) {
      tell_stop(agent, StopReason::shutdown, time_left(agent));
      return;
    }
    const bool knows = agent.activated && state_.upgrade && state_.upgrade->id == cancel.id &&
                       state_.upgrade->known_to_agent && !on_trial(agent);
    if (!knows) return send_error(agent, "cancel", "no upgrade of this id can be cancelled now");
    // Otherwise the failure's own line says that the agent stays active, and why.
    const bool had_failed = state_.upgrade->failure.has_value();
    if (agent.told && had_failed) log(LogLevel::info, words::took_back(agent, cancel.reason));
    agent.told.reset();
    agent.told_id.reset();
    agent.deadline.reset();
    std::string reason = "cancelled by the active agent";
    if (cancel.reason) reason += ": " + *cancel.reason;
    fail_upgrade(Stage::cancel, reason);
  }

  void hear(Agent& agent, const agent_protocol::Stopped& stopped) {
    if (!agent.told) return send_error(agent, "stopped", "no stop was sent");
    if (agent.stopped) return send_error(agent, "stopped", "stopped was said already");
    note_stopped(agent, stopped);
  }

  void hear(Agent& agent, const agent_protocol::Healthy&) {
    if (agent.told == StopReason::rollback) {
      return send_error(agent, "healthy", "it is being rolled back");
    }
    if (!on_trial(agent) || agent.told) return send_error(agent, "healthy", "it is not on trial");
    commit();
  }

  void hear(Agent& agent, const agent_protocol::Extend& extend) {
    const bool starting = !agent.ready;
    const bool stopping = agent.told && !agent.stopped;
    if (!starting && !stopping) return send_error(agent, "extend", "nothing waits for it");
    if (!agent.deadline) return;
    const Duration added = std::max(Duration{0}, now_ + Duration(extend.ms) - *agent.deadline);
    *agent.deadline += added;
    agent.allowed += added;
    agent.extended += added;
  }

  void hear(Agent& agent, const agent_protocol::Heartbeat&) {
    if (!agent.activated) {
      return send_error(agent, "heartbeat", "only the active agent may say it");
    }
    if (agent.silent) log(LogLevel::info, words::who(agent) + " sends heartbeats again");
    await_heartbeat(agent);
  }

  void hear(Agent& agent, const agent_protocol::Status& status) { note_status(agent, status); }

  // What a process that is dead, or as good as dead, said: a stop that it confirmed counts, and a
  // reason is worth knowing. Everything else is too late.
  void take_last_words(Agent& agent, const AgentMessage& message) {
    const auto* hello = std::get_if<agent_protocol::Hello>(&message);
    if (hello != nullptr && !agent.greeted) note_hello(agent, *hello);
    if (!agent.greeted) return;
    if (const auto* stopped = std::get_if<agent_protocol::Stopped>(&message)) {
      if (agent.told && !agent.stopped) note_stopped(agent, *stopped);
    } else if (const auto* status = std::get_if<agent_protocol::Status>(&message)) {
      note_status(agent, *status);
    } else if (const auto* unfit = std::get_if<agent_protocol::Unfit>(&message)) {
      agent.unfit = unfit->reason;
    }
  }

  void note_hello(Agent& agent, const agent_protocol::Hello& hello) {
    agent.greeted = true;
    agent.hello_deadline.reset();
    agent.version = hello.version;
    if (was_on_trial(agent)) state_.upgrade->version = hello.version;
  }

  void note_stopped(Agent& agent, const agent_protocol::Stopped& stopped) {
    agent.stopped = true;
    await_no_heartbeat(agent);
    agent.state = stopped.state;
    if (!agent.killed) agent.deadline = deadline_after(now_, policy_.exit_grace);
    log(LogLevel::info, words::who(agent) + " confirmed its clean stop");
  }

  void note_status(const Agent& agent, const agent_protocol::Status& status) {
    notice(agent.generation, NoticeKind::status, words::who(agent) + ": " + status.text);
  }

  // ---- how agents come

  void order_spawn(Role role, ProgramId program, Generation generation) {
    state_.spawning = Agent{};
    state_.spawning->generation = generation;
    state_.spawning->role = role;
    state_.spawning->program = program;
    order(Pending::spawn, Spawn{generation, program});
  }

  Duration start_timeout_of(Role role) const {
    switch (role) {
      case Role::first:
        return policy_.defaults.start_timeout;
      case Role::candidate:
        return state_.upgrade->terms.start_timeout;
      case Role::fallback:
        return longer_of(policy_.defaults.start_timeout, state_.upgrade->terms.start_timeout);
    }
    return {};
  }

  void activate_incumbent() {
    const bool is_fallback = state_.incumbent->role == Role::fallback;
    send_activate(*state_.incumbent,
                  is_fallback ? state_.upgrade->terms.stop_timeout : policy_.defaults.stop_timeout);
  }

  void activate_candidate() {
    UPGRADER_CHECK(!state_.incumbent && state_.candidate->ready && !has_closed(*state_.candidate));
    const Terms& terms = state_.upgrade->terms;
    send_activate(*state_.candidate,
                  terms.trial == Duration::zero() ? terms.stop_timeout : terms.trial);
  }

  // Until it has been written whole the agent is held, and may not take longer than `timeout` to
  // read what is before it; and what the agent before it left is kept.
  void send_activate(Agent& agent, Duration timeout) {
    agent.activate_waits = true;
    agent.allowed = timeout;
    agent.extended = Duration{0};
    agent.deadline = now_ + timeout;
    agent_protocol::Activate activate;
    if (state_.legacy) activate = {state_.legacy->state, state_.legacy->clean};
    order(Pending::activate, Send{agent.generation, std::move(activate)});
  }

  // The agent that was sent `activate` has the work now.
  void activated() {
    if (state_.candidate) state_.incumbent = std::exchange(state_.candidate, std::nullopt);
    Agent& agent = *state_.incumbent;
    const std::optional<Time> trial_end = std::exchange(agent.deadline, std::nullopt);
    agent.activate_waits = false;
    agent.activated = true;
    state_.legacy.reset();
    await_heartbeat(agent);
    switch (agent.role) {
      case Role::first:
        log(LogLevel::info, words::who(agent) + " is active");
        return;
      case Role::candidate:
        begin_trial(agent, trial_end);
        return;
      case Role::fallback:
        log(LogLevel::warning, "upgrade " + state_.upgrade->id + " failed; " + words::who(agent) +
                                   " is active again with the previous program");
        state_.last_failure = std::move(state_.upgrade->failure);
        state_.upgrade.reset();
        return;
    }
  }

  void begin_trial(const Agent& agent, const std::optional<Time>& end) {
    const Duration trial = state_.upgrade->terms.trial;
    log(LogLevel::info, words::who(agent) + " is active, " + words::on_trial(trial));
    if (trial == Duration::zero()) return commit();
    state_.upgrade->deadline = end;
  }

  // It was never activated, and fails like any held agent that has closed a pipe.
  void activate_lost(Agent& agent) {
    agent.activate_waits = false;
    agent.input_closed = true;
    agent.deadline.reset();
    start_close_grace(agent);
  }

  // ---- how agents go

  void candidate_exited(const Agent& gone, const Ending& ending) {
    if (gone.killed) {
      log(LogLevel::info, words::who(gone) + " has been reaped");
      go_on_after_reaping();
      return;
    }
    candidate_failed(words::failed_to_start(gone, ending), &ending);
  }

  void incumbent_exited(const Agent& gone, const Ending& ending) {
    if (gone.activated) leave_legacy(gone, ending);
    const std::string how_it_went = words::who(gone) + " " + words::went(gone, ending);
    if (winding_down()) {
      const bool unclean = gone.activated && state_.shutdown && state_.legacy->exit_status != 0;
      log(unclean ? LogLevel::error : LogLevel::info, how_it_went);
      go_on_after_reaping();
      return;
    }
    if (!gone.activated) {
      end_with(status_after_held(gone, ending),
               words::who(gone) + " failed: " + words::failed_to_start(gone, ending));
      return;
    }
    if (!state_.upgrade || (!gone.told && !was_on_trial(gone))) {
      if (state_.upgrade) drop_upgrade("the active agent exited");
      end_with(exit_status_of(ending), how_it_went);
      return;
    }
    log(LogLevel::info, how_it_went);
    if (!was_on_trial(gone)) {
      take_over_from(gone, ending);
      return;
    }
    const std::string reason =
        gone.unfit ? "unfit: " + *gone.unfit : in_words(ending) + " while it was on trial";
    fail_upgrade(Stage::trial, reason, "", &ending);
  }

  // Nothing has ever served where a first agent exits while held, even with status 0.
  static int status_after_held(const Agent& gone, const Ending& ending) {
    if (gone.role != Role::first || gone.unfit) return exit_own_failure;
    const int status = exit_status_of(ending);
    return status == 0 ? exit_own_failure : status;
  }

  void leave_legacy(const Agent& gone, const Ending& ending) {
    state_.legacy = Legacy{.clean = gone.stopped,
                           .state = gone.state,
                           .exit_status = gone.stopped ? 0 : exit_status_of(ending)};
  }

  // The incumbent was told to stop for the upgrade, and is gone.
  void take_over_from(const Agent& gone, const Ending& ending) {
    UpgradeUnderWay& upgrade = *state_.upgrade;
    if (upgrade.failure) return unwind();
    const bool fall_back = upgrade.terms.on_unclean_stop == UncleanStop::fall_back;
    if (!gone.stopped && fall_back) {
      fail_upgrade(Stage::stop, words::unclean_stop(gone, ending), "",
                   gone.killed ? nullptr : &ending);
      return;
    }
    if (!gone.stopped) log(LogLevel::warning, words::who(gone) + " stopped uncleanly; going on");
    if (upgrade.terms.mode == Mode::sequential) {
      order_spawn(Role::candidate, *upgrade.program, *upgrade.generation);
      return;
    }
    // It fails as soon as its exit is seen, or its close grace is over.
    if (has_closed(*state_.candidate)) return;
    activate_candidate();
  }

  void go_on_after_reaping() {
    if (winding_down()) return exit_if_alone();
    UPGRADER_CHECK(state_.upgrade && state_.upgrade->failure);
    unwind();
  }

  // ---- deadlines

  bool has_passed(const std::optional<Time>& deadline) const {
    return deadline && *deadline <= passed_by_;
  }

  // Who was as frozen as the upgrader has as much time again as it lost. Once: however often the
  // upgrader does not run, every deadline is judged in the end.
  void put_off_what_is_late() {
    const std::vector<std::optional<Time>*> deadlines = deadlines_of(state_);
    std::erase_if(state_.put_off, [&](Time before) {
      return std::none_of(deadlines.begin(), deadlines.end(),
                          [before](const auto* deadline) { return *deadline == before; });
    });
    Duration longest{};
    for (std::optional<Time>* const deadline : deadlines) {
      if (!has_passed(*deadline) || is_put_off(**deadline)) continue;
      const Duration late = now_ - **deadline;
      if (late <= late_at_most) continue;
      longest = std::max(longest, late);
      *deadline = now_ + std::min(late, grace_max);
      state_.put_off.push_back(**deadline);
    }
    if (longest != Duration::zero()) log(LogLevel::warning, words::put_off(longest));
  }

  bool is_put_off(Time deadline) const {
    return std::find(state_.put_off.begin(), state_.put_off.end(), deadline) !=
           state_.put_off.end();
  }

  // True if a deadline of this agent had passed, and has been dealt with.
  bool agent_deadline_passed(Agent& agent) {
    if (has_passed(agent.close_deadline)) {
      agent.close_deadline.reset();
      held_agent_failed(agent, words::closed_its_pipe(agent));
      return true;
    }
    if (has_passed(agent.heartbeat_deadline)) {
      heartbeat_missed(agent);
      return true;
    }
    if (has_passed(agent.hello_deadline)) {
      agent.hello_deadline.reset();
      log(LogLevel::warning, words::not_greeted(agent));
      return true;
    }
    if (!has_passed(agent.deadline)) return false;
    if (agent.killed) {
      log(LogLevel::warning,
          words::who(agent) + " has been killed, but has not ended yet; waiting");
      agent.deadline = now_ + killed_log_interval;
    } else if (agent.activate_waits) {
      agent.activate_late = true;
      actions_.emplace_back(CloseInput{agent.generation});
      activate_lost(agent);
    } else if (!agent.activated && !agent.terminated) {
      agent.hello_deadline.reset();  // it has been waited for long enough
      held_agent_failed(agent, words::not_ready(agent));
    } else {
      log(LogLevel::warning, words::late(agent));
      kill(agent);
    }
    return true;
  }

  // On trial that is a failure; otherwise all that follows is that nobody vouches for it.
  void heartbeat_missed(Agent& agent) {
    const std::string reason = "no heartbeat within " + in_words(policy_.watchdog);
    if (on_trial(agent)) return fail_upgrade(Stage::trial, reason);
    agent.heartbeat_deadline.reset();
    agent.silent = true;
    log(LogLevel::warning, words::who(agent) + " is silent: " + reason);
  }

  // Until it has stopped. An agent that is rolled back has failed, and has a deadline of another
  // kind: what is left to wait for is its end.
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
                   "not confirmed within " + in_words(upgrade.terms.confirm_timeout));
    } else if (upgrade.terms.commit == CommitRule::healthy) {
      fail_upgrade(Stage::trial, "did not say healthy within " + in_words(upgrade.terms.trial));
    } else {
      commit();
    }
  }

  void start_close_grace(Agent& agent) {
    if (agent.killed || agent.terminated || agent.close_deadline) return;
    agent.close_deadline = now_ + close_grace;
  }

  // ---- the way of an upgrade

  std::optional<std::string> why_busy() const {
    if (winding_down()) return "busy: the upgrader is stopping";
    if (state_.upgrade) return "busy: upgrade " + state_.upgrade->id + " is under way";
    if (!state_.incumbent || !state_.incumbent->activated) return "busy: no agent is active yet";
    return std::nullopt;
  }

  void begin_upgrade(const agent_protocol::Upgrade& request, Origin origin) {
    const Agent& active = *state_.incumbent;
    state_.last_failure.reset();
    state_.upgrade = UpgradeUnderWay{};
    UpgradeUnderWay& upgrade = *state_.upgrade;
    upgrade.id = request.id;
    upgrade.origin = origin;
    upgrade.terms = terms_of(request);
    upgrade.previous = active.program;
    upgrade.previous_version = active.version;
    upgrade.known_to_agent = origin == Origin::agent;
    if (const std::optional<std::string> contradiction = contradiction_in(upgrade.terms)) {
      refuse_upgrade({"", *contradiction});
      return;
    }
    Check check{std::nullopt, std::nullopt, active.program};
    if (origin == Origin::agent) {
      check.executable = request.executable;
      check.args = request.args;
    }
    order(Pending::check, std::move(check));
  }

  Terms terms_of(const agent_protocol::Upgrade& request) const {
    const auto given = [](const std::optional<std::int64_t>& ms, Duration otherwise) {
      return ms ? Duration(*ms) : otherwise;
    };
    const Terms& defaults = policy_.defaults;
    return Terms{
        .mode = request.mode.value_or(defaults.mode),
        .gate = request.gate.value_or(defaults.gate),
        .commit = request.commit.value_or(defaults.commit),
        .start_timeout = given(request.start_timeout_ms, defaults.start_timeout),
        .confirm_timeout = given(request.confirm_timeout_ms, defaults.confirm_timeout),
        .stop_timeout = given(request.stop_timeout_ms, defaults.stop_timeout),
        .trial = given(request.trial_ms, defaults.trial),
        .on_unclean_stop = request.on_unclean_stop.value_or(defaults.on_unclean_stop),
    };
  }

  static std::optional<std::string> contradiction_in(const Terms& terms) {
    if (terms.gate == Gate::confirm && terms.mode == Mode::sequential) {
      return "\"gate\" is \"confirm\", which goes with mode parallel only";
    }
    if (terms.commit == CommitRule::healthy && terms.trial == Duration::zero()) {
      return "\"commit\" is \"healthy\", which needs a trial that is not 0";
    }
    return std::nullopt;
  }

  void tell_accepted() {
    const UpgradeUnderWay& upgrade = *state_.upgrade;
    log(LogLevel::info, words::accepted(upgrade));
    if (upgrade.origin == Origin::signal) return;
    send(*state_.incumbent, agent_protocol::Accepted{upgrade.id, *upgrade.generation});
  }

  void wait_for_confirm() {
    UpgradeUnderWay& upgrade = *state_.upgrade;
    upgrade.waits_for_confirm = true;
    upgrade.deadline = deadline_after(now_, upgrade.terms.confirm_timeout);
    log(LogLevel::info, words::who(*state_.candidate) + " is ready; upgrade " + upgrade.id +
                            " waits to be confirmed");
    send(*state_.incumbent,
         agent_protocol::CandidateReady{upgrade.id, *upgrade.generation, upgrade.version});
  }

  void pass_gate() {
    if (policy_.relink) {
      order(Pending::relink_proof, ProveRelink{*state_.upgrade->program});
      return;
    }
    tell_stop_for_upgrade();
  }

  void tell_stop_for_upgrade() {
    state_.upgrade->known_to_agent = true;
    tell_stop(*state_.incumbent, StopReason::upgrade, state_.upgrade->terms.stop_timeout);
  }

  void commit() {
    state_.upgrade->deadline.reset();
    if (policy_.relink) {
      order(Pending::relink, Relink{*state_.upgrade->program});
      return;
    }
    tell_committed();
  }

  void tell_committed() {
    const UpgradeUnderWay& upgrade = *state_.upgrade;
    log(LogLevel::info,
        words::who(*state_.incumbent) + " has passed; upgrade " + upgrade.id + " is committed");
    send(*state_.incumbent, agent_protocol::Committed{upgrade.id, *upgrade.generation});
    state_.upgrade.reset();
  }

  // ---- how an upgrade fails

  // It was refused before anything was started.
  void refuse_upgrade(const Trouble& trouble) {
    fail_upgrade(Stage::request, trouble.reason, trouble.errno_name);
  }

  // An upgrade that never became the one under way.
  void answer_refusal(Agent& agent, const std::string& id, const std::string& reason) {
    notice(agent.generation, NoticeKind::refusal, "upgrade " + id + " refused: " + reason);
    Failure failure;
    failure.id = id;
    failure.stage = Stage::request;
    failure.reason = fit_text(reason, agent_protocol::reason_bytes_max);
    send(agent, agent_protocol::UpgradeFailed{std::move(failure)});
  }

  void held_agent_failed(Agent& agent, const std::string& reason) {
    if (agent.role == Role::candidate) {
      candidate_failed(reason, nullptr);
      return;
    }
    kill(agent);
    end_with(exit_own_failure, words::who(agent) + " failed: " + reason);
  }

  void candidate_failed(const std::string& reason, const Ending* ending) {
    const bool news = state_.incumbent && state_.incumbent->told == StopReason::upgrade &&
                      !state_.incumbent->stopped && !state_.incumbent->killed &&
                      !state_.upgrade->failure;
    if (news) {
      send(*state_.incumbent,
           agent_protocol::CandidateLost{state_.upgrade->id,
                                         fit_text(reason, agent_protocol::reason_bytes_max)});
    }
    fail_upgrade(Stage::start, reason, "", ending);
  }

  void fail_upgrade(Stage stage, const std::string& reason, const std::string& errno_name = "",
                    const Ending* ending = nullptr) {
    note_failure(stage, reason, errno_name, ending);
    unwind();
  }

  // Keeps the first cause.
  void note_failure(Stage stage, const std::string& reason, const std::string& errno_name,
                    const Ending* ending) {
    UpgradeUnderWay& upgrade = *state_.upgrade;
    upgrade.deadline.reset();
    upgrade.waits_for_confirm = false;
    if (upgrade.failure) return;
    Failure failure;
    failure.id = upgrade.id;
    failure.stage = stage;
    failure.reason = fit_text(reason, agent_protocol::reason_bytes_max);
    if (!errno_name.empty()) failure.errno_name = errno_name;
    if (ending != nullptr && ending->how == Ending::How::exited)
      failure.exit_status = ending->value;
    if (ending != nullptr && ending->how == Ending::How::signalled) failure.signal = ending->value;
    const std::string told = words::failed(upgrade, failure, state_.incumbent);
    if (stage == Stage::request && upgrade.origin == Origin::agent) {
      notice(state_.incumbent->generation, NoticeKind::refusal, told);
    } else {
      log(LogLevel::warning, told);
    }
    upgrade.failure = std::move(failure);
    restore_link_for_signal();
  }

  // Takes the next step back after a failure, as far as can be gone now: to the incumbent, if it
  // has or keeps the work; otherwise to a fallback, once no other agent is left.
  void unwind() {
    if (state_.candidate && !state_.candidate->killed) kill(*state_.candidate);
    if (state_.incumbent) {
      Agent& agent = *state_.incumbent;
      if (on_trial(agent) && !agent.told) {
        tell_stop(agent, StopReason::rollback, state_.upgrade->terms.stop_timeout);
      } else if (!agent.told && !state_.candidate) {
        end_failed_upgrade();
      }
      return;
    }
    if (state_.candidate) return;
    order_spawn(Role::fallback, state_.upgrade->previous, state_.last_generation + 1);
  }

  void end_failed_upgrade() {
    const UpgradeUnderWay upgrade = *std::exchange(state_.upgrade, std::nullopt);
    state_.last_failure = upgrade.failure;
    if (!upgrade.known_to_agent) return;
    send(*state_.incumbent, agent_protocol::UpgradeFailed{*upgrade.failure});
  }

  void restore_link_for_signal() {
    if (policy_.relink && state_.upgrade->origin == Origin::signal) {
      actions_.emplace_back(RestoreLink{});
    }
  }

  // ---- the end of the upgrader

  bool winding_down() const { return state_.shutdown || state_.quit || state_.exit_with; }

  // The upgrader ends with this status, once all that still runs has been killed and reaped. Nobody
  // asked for that, so it is worth more than a line of information.
  void end_with(int status, const std::string& why) {
    log(status == 0 ? LogLevel::warning : LogLevel::error, why + "; " + words::ends_with(status));
    state_.exit_with = status;
    state_.upgrade.reset();
    if (state_.candidate && !state_.candidate->killed) kill(*state_.candidate);
    exit_if_alone();
  }

  // It ends with the upgrader; nobody is left to be told.
  void drop_upgrade(const std::string& reason) {
    log(LogLevel::warning, "upgrade " + state_.upgrade->id + " ends uncommitted: " + reason);
    restore_link_for_signal();
    state_.upgrade.reset();
  }

  void end_upgrade_for_shutdown() {
    const UpgradeUnderWay upgrade = *state_.upgrade;
    std::string reason = "the upgrader was told to stop";
    if (upgrade.failure) reason += "; before that: " + upgrade.failure->reason;
    const bool owed = state_.incumbent && state_.incumbent->activated &&
                      !on_trial(*state_.incumbent) && upgrade.known_to_agent &&
                      !state_.incumbent->stopped && !state_.incumbent->killed;
    drop_upgrade(reason);
    if (!owed) return;
    Failure failure;
    failure.id = upgrade.id;
    failure.stage = Stage::shutdown;
    failure.reason = fit_text(reason, agent_protocol::reason_bytes_max);
    send(*state_.incumbent, agent_protocol::UpgradeFailed{std::move(failure)});
  }

  void wind_down() {
    if (state_.candidate && !state_.candidate->killed) kill(*state_.candidate);
    if (state_.incumbent) stop_for_shutdown(*state_.incumbent);
    exit_if_alone();
  }

  void stop_for_shutdown(Agent& agent) {
    if (agent.killed || agent.told) return;
    if (agent.activated) {
      tell_stop(agent, StopReason::shutdown, policy_.defaults.stop_timeout);
      return;
    }
    if (agent.greeted || agent.role != Role::first) {
      kill(agent);
      return;
    }
    agent.terminated = true;
    agent.hello_deadline.reset();
    agent.close_deadline.reset();
    agent.allowed = policy_.defaults.stop_timeout;
    agent.extended = Duration{0};
    agent.deadline = now_ + agent.allowed;
    actions_.emplace_back(Terminate{agent.generation});
  }

  void exit_if_alone() {
    if (state_.incumbent || state_.candidate) return;
    int status = state_.exit_with.value_or(0);
    if (state_.shutdown) status = state_.legacy ? state_.legacy->exit_status : 0;
    if (state_.quit) status = exit_quit;
    if (state_.shutdown || state_.quit) {
      log(status == 0 ? LogLevel::info : LogLevel::error, words::ends_with(status));
    }
    state_.ended = true;
    state_.upgrade.reset();
    actions_.emplace_back(Exit{status});
  }

  // ---- small ones

  bool started() const { return state_.last_generation > 0; }

  Agent* find(Generation generation) {
    if (state_.incumbent && state_.incumbent->generation == generation) return &*state_.incumbent;
    if (state_.candidate && state_.candidate->generation == generation) return &*state_.candidate;
    return nullptr;
  }

  bool was_on_trial(const Agent& agent) const {
    return state_.upgrade && state_.upgrade->generation == agent.generation;
  }
  bool on_trial(const Agent& agent) const { return agent.activated && was_on_trial(agent); }

  static bool has_closed(const Agent& agent) { return agent.output_closed || agent.input_closed; }

  Duration time_left(const Agent& agent) const {
    return std::max(Duration{1}, *agent.deadline - now_);
  }

  void tell_stop(Agent& agent, StopReason reason, Duration timeout) {
    agent_protocol::Stop stop;
    stop.reason = reason;
    stop.deadline_ms = std::max<std::int64_t>(1, timeout.count());
    if (reason == StopReason::upgrade) {
      stop.id = state_.upgrade->id;
      stop.generation = state_.upgrade->generation;
    }
    const bool again = agent.told.has_value();  // then that goes on for as long as it was to last
    agent.told = reason;
    agent.told_id = stop.id;
    if (reason == StopReason::rollback) await_no_heartbeat(agent);
    agent.deadline = now_ + timeout;
    if (!again) {
      agent.allowed = timeout;
      agent.extended = Duration{0};
    }
    log(LogLevel::info, words::who(agent) + " is told to stop: " + words::why(reason));
    send(agent, std::move(stop));
  }

  void kill(Agent& agent) {
    // Not a byte more of it: the agent that comes next gets what was left.
    if (agent.activate_waits) actions_.emplace_back(CloseInput{agent.generation});
    agent.killed = true;
    agent.activate_waits = false;
    agent.hello_deadline.reset();
    agent.heartbeat_deadline.reset();
    agent.close_deadline.reset();
    agent.deadline = now_ + killed_log_interval;
    actions_.emplace_back(Kill{agent.generation});
  }

  void send(const Agent& agent, UpgraderMessage message) {
    actions_.emplace_back(Send{agent.generation, std::move(message)});
  }

  void refuse_message(const Agent& agent, const AgentMessage& message, std::string_view reason) {
    send_error(agent, agent_protocol::type_name(message), reason);
  }

  void send_error(const Agent& agent, std::string_view about, std::string_view reason) {
    agent_protocol::Error error;
    error.about = fit_text(about, agent_protocol::about_bytes_max);
    error.reason = fit_text(reason, agent_protocol::reason_bytes_max);
    notice(agent.generation, NoticeKind::error,
           words::who(agent) + " sent " + *error.about + ", which was not obeyed: " + error.reason);
    send(agent, std::move(error));
  }

  void notice(Generation generation, NoticeKind kind, std::string text) {
    actions_.emplace_back(Notice{generation, kind, std::move(text)});
  }

  void log(LogLevel level, std::string text) { actions_.emplace_back(Log{level, std::move(text)}); }

  void order(Pending outcome, Action action) {
    state_.pending = outcome;
    actions_.push_back(std::move(action));
  }

  // True if this outcome is awaited; it is not any longer. Any other outcome is dropped.
  bool expect(Pending outcome) {
    if (state_.pending != outcome) return false;
    state_.pending = Pending::nothing;
    return true;
  }

  const Policy& policy_;
  State& state_;
  const Time now_;
  Time passed_by_{};  // deadlines up to then are judged
  Actions& actions_;
};

bool is_outcome(const Event& event) {
  return std::holds_alternative<Checked>(event) || std::holds_alternative<CheckFailed>(event) ||
         std::holds_alternative<Spawned>(event) || std::holds_alternative<SpawnFailed>(event) ||
         std::holds_alternative<RelinkProved>(event) ||
         std::holds_alternative<RelinkProofFailed>(event) ||
         std::holds_alternative<Relinked>(event) || std::holds_alternative<RelinkFailed>(event) ||
         std::holds_alternative<ActivateSent>(event);
}

bool has_outcome(const Action& action) {
  const auto* send = std::get_if<Send>(&action);
  if (send != nullptr) return std::holds_alternative<agent_protocol::Activate>(send->message);
  return std::holds_alternative<Check>(action) || std::holds_alternative<Spawn>(action) ||
         std::holds_alternative<ProveRelink>(action) || std::holds_alternative<Relink>(action);
}

// Heartbeats are the active agent's, and nobody waits for those of one that is silent.
void check_heartbeat(const std::optional<Agent>& agent) {
  if (!agent) return;
  const bool awaited = agent->heartbeat_deadline.has_value();
  UPGRADER_CHECK(!awaited || (agent->activated && !agent->stopped && !agent->killed));
  UPGRADER_CHECK(!agent->silent || (agent->activated && !agent->stopped && !awaited));
}

// An `activate` waits for a ready agent that is held and alone.
void check_activate(const std::optional<Agent>& agent, const std::optional<Agent>& other) {
  if (!agent || !agent->activate_waits) return;
  UPGRADER_CHECK(agent->ready && !agent->activated && !agent->killed && !agent->input_closed);
  UPGRADER_CHECK(agent->deadline && !agent->close_deadline && !other);
}

// What holds after every step, whatever has happened.
void check_state(const State& state, const Actions& actions) {
  const auto& incumbent = state.incumbent;
  const auto& candidate = state.candidate;
  UPGRADER_CHECK(!candidate || !candidate->activated);
  UPGRADER_CHECK(!candidate || candidate->role == Role::candidate);
  UPGRADER_CHECK(!candidate || state.upgrade || state.exit_with || state.shutdown || state.quit);
  UPGRADER_CHECK(!incumbent || !incumbent->activated || incumbent->ready);
  UPGRADER_CHECK(!incumbent || !incumbent->told || incumbent->activated);
  UPGRADER_CHECK(!incumbent || !incumbent->stopped || incumbent->told);
  UPGRADER_CHECK(!incumbent || incumbent->activated || !candidate);
  check_heartbeat(incumbent);
  check_heartbeat(candidate);
  check_activate(incumbent, candidate);
  check_activate(candidate, incumbent);
  UPGRADER_CHECK(!state.ended || (!incumbent && !candidate && !state.spawning));
  UPGRADER_CHECK((state.pending == Pending::spawn) == state.spawning.has_value());
  for (const Action& action : actions) {
    UPGRADER_CHECK(!has_outcome(action) || &action == &actions.back());
  }
  const bool asks = !actions.empty() && has_outcome(actions.back());
  UPGRADER_CHECK(asks == (state.pending != Pending::nothing));
  UPGRADER_CHECK(!asks || !(state.shutdown || state.quit || state.ended));
}

}  // namespace

Actions Supervisor::step(const Event& event, Time now, Actions memory) {
  UPGRADER_CHECK(state_.pending == Pending::nothing || is_outcome(event));
  Actions actions = std::move(memory);
  actions.clear();
  if (state_.ended) return actions;
  Step step(policy_, state_, now, actions);
  std::visit([&](const auto& happened) { step.take(happened); }, event);
  check_state(state_, actions);
  return actions;
}

std::optional<Time> Supervisor::next_deadline() const {
  std::optional<Time> next;
  const auto consider = [&](const std::optional<Time>& deadline) {
    if (deadline && (!next || *deadline < *next)) next = deadline;
  };
  for (const std::optional<Agent>* agent : {&state_.incumbent, &state_.candidate}) {
    if (!*agent) continue;
    consider((*agent)->deadline);
    consider((*agent)->close_deadline);
    consider((*agent)->heartbeat_deadline);
    consider((*agent)->hello_deadline);
  }
  if (state_.upgrade) consider(state_.upgrade->deadline);
  return next;
}

std::vector<Generation> Supervisor::late(Time by) const {
  std::vector<Generation> generations;
  const auto has_passed = [by](const std::optional<Time>& deadline) {
    return deadline && *deadline <= by;
  };
  const auto& [incumbent, candidate] = std::tie(state_.incumbent, state_.candidate);
  // The gate's time and the trial's are the active agent's to keep.
  const bool upgrade_is_late = state_.upgrade && has_passed(state_.upgrade->deadline);
  const auto is_late = [&](const Agent& agent) {
    return has_passed(agent.deadline) || has_passed(agent.close_deadline) ||
           has_passed(agent.heartbeat_deadline) || has_passed(agent.hello_deadline);
  };
  if (incumbent && (is_late(*incumbent) || upgrade_is_late)) {
    generations.push_back(incumbent->generation);
  }
  if (candidate && is_late(*candidate)) {
    generations.push_back(candidate->generation);
  }
  return generations;
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

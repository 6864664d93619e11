// Finds the classes of events. canonical.h declares the functions, and explains the classes.
#include <algorithm>
#include <iterator>

#include "tests/decisions/explore/canonical.h"

namespace upgrader::test {

using namespace agent_protocol;

namespace {

EventKind kind_is(const Confirm& confirm, const State& state) {
  const auto kind = is_signal_id(confirm.id) ? EventKind::confirm_signal : EventKind::confirm;
  if (state.upgrade && confirm.id == state.upgrade->id) return kind;
  const bool literal = confirm.id == "u1" || is_signal_id(confirm.id);
  const bool kind_is_taken =
      state.upgrade && is_signal_id(state.upgrade->id) == is_signal_id(confirm.id);
  return literal && !kind_is_taken ? kind : EventKind::confirm_other;
}

// Returns the class of a `cancel`, by the id in it. An id is known if it is that of the upgrade
// under way, or of the upgrade for which the agent was sent `stop`. There are two kinds of ids:
// those of upgrades by SIGUSR2, and all others.
// * The class of a known id is `cancel_signal` for an upgrade by SIGUSR2, otherwise `cancel`.
// * An unknown id that is "u1", or that of an upgrade by SIGUSR2, has the same class, unless a
//   known id is of the same kind.
// * The class of any other id is `cancel_other`.
EventKind kind_is(const Cancel& cancel, const State& state, const Agent* agent) {
  bool kind_is_taken = false;
  const auto is = [&](const std::optional<std::string>& known) {
    if (!known) return false;
    kind_is_taken = kind_is_taken || is_signal_id(*known) == is_signal_id(cancel.id);
    return *known == cancel.id;
  };
  const bool is_upgrade = state.upgrade && is(state.upgrade->id);
  const bool is_told = agent != nullptr && is(agent->told_id);
  const bool literal = cancel.id == "u1" || is_signal_id(cancel.id);
  if (!is_upgrade && !is_told && (kind_is_taken || !literal)) return EventKind::cancel_other;
  return is_signal_id(cancel.id) ? EventKind::cancel_signal : EventKind::cancel;
}

// Returns the class of a request for an upgrade, or nullopt if the exploration makes no such
// request. The requests of the exploration never set the stop timeout, and set the start timeout
// and the length of the trial only to 0. All confirm timeouts other than 0 lead to the same class.
std::optional<EventKind> kind_is(const Upgrade& request) {
  const bool sequential = request.mode == Mode::sequential;
  const bool confirm = request.gate == Gate::confirm;
  const bool healthy = request.commit == CommitRule::healthy;
  const bool goes_on = request.on_unclean_stop == UncleanStop::carry_on;
  const bool at_once = request.trial_ms == 0;
  const bool unlimited = request.start_timeout_ms == 0;
  const bool gate_limit = request.confirm_timeout_ms.value_or(0) != 0;
  const bool set_times = request.trial_ms.value_or(0) != 0 ||
                         request.start_timeout_ms.value_or(0) != 0 || request.stop_timeout_ms;
  if (set_times) return std::nullopt;
  const unsigned kind = (sequential ? 1U : 0U) | (confirm ? 2U : 0U) | (healthy ? 4U : 0U) |
                        (goes_on ? 8U : 0U) | (at_once ? 16U : 0U) | (unlimited ? 32U : 0U) |
                        (gate_limit ? 64U : 0U);
  constexpr unsigned kinds[] = {0, 8 | 16, 2 | 64, 2 | 32, 4, 4 | 16, 1, 1 | 8};
  const auto found = std::find(std::begin(kinds), std::end(kinds), kind);
  if (found == std::end(kinds)) return std::nullopt;
  return static_cast<EventKind>(static_cast<std::ptrdiff_t>(EventKind::first_upgrade) +
                                (found - std::begin(kinds)));
}

std::optional<EventKind> kind_is(const MessageReceived& event, const State& state,
                                 const Agent* agent, Time now) {
  if (event.posthumous) {
    if (std::holds_alternative<Stopped>(event.message)) return EventKind::last_stopped;
    if (std::holds_alternative<Unfit>(event.message)) return EventKind::last_unfit;
    if (std::holds_alternative<Ready>(event.message)) return EventKind::last_ready;
    return std::nullopt;
  }
  const bool at_limit = agent != nullptr && agent->deadline && *agent->deadline <= now;
  if (const auto* upgrade = std::get_if<Upgrade>(&event.message)) return kind_is(*upgrade);
  if (const auto* confirm = std::get_if<Confirm>(&event.message)) return kind_is(*confirm, state);
  if (const auto* cancel = std::get_if<Cancel>(&event.message)) {
    const EventKind what = kind_is(*cancel, state, agent);
    return at_limit && what == EventKind::cancel ? EventKind::cancel_at_limit : what;
  }
  if (std::holds_alternative<Extend>(event.message) && at_limit) return EventKind::extend_at_limit;
  const auto* hello = std::get_if<Hello>(&event.message);
  if (hello != nullptr && !hello->features.empty()) return EventKind::hello_readiness;
  constexpr EventKind plain[] = {EventKind::hello,     EventKind::ready,   EventKind::unfit,
                                 EventKind::count,     EventKind::count,   EventKind::count,
                                 EventKind::stopped,   EventKind::healthy, EventKind::extend,
                                 EventKind::heartbeat, EventKind::status};
  return plain[event.message.index()];
}

std::optional<EventKind> kind_is(const MessageRefused& event) {
  if (std::holds_alternative<Unknown>(event.what)) return EventKind::unknown;
  const auto& malformed = std::get<Malformed>(event.what);
  return malformed.id ? EventKind::malformed_upgrade : EventKind::malformed;
}

std::optional<EventKind> kind_is(const ProcessExited& event) {
  if (event.ending.how == Ending::How::signalled) return EventKind::is_killed;
  if (event.ending == Ending{Ending::How::exited, 0}) return EventKind::exits;
  return std::nullopt;
}

// Returns whether a deadline lies so far in the past that the supervisor may move it to a later
// time. A supervisor that handles a deadline so late assumes that its own process was frozen.
bool is_judged_late(State state, Time by, Time now) {
  const std::vector<NamedDeadline> deadlines = deadlines_of(state);
  return std::any_of(deadlines.begin(), deadlines.end(), [&](const NamedDeadline& named) {
    return *named.deadline && **named.deadline <= by && now - **named.deadline > late_at_most;
  });
}

// Returns the class of the first deadline that is due. Checks the deadlines in the same order as
// the supervisor.
EventClass class_of_deadline(const State& state, Time by, Time now) {
  if (is_judged_late(state, by, now)) return other_event;
  const auto is_due = [now](const std::optional<Time>& deadline) {
    return deadline && *deadline <= now;
  };
  const bool unseen = by < Time(0);
  const auto& incumbent = state.incumbent;
  const auto& candidate = state.candidate;
  const EventKind limit = unseen ? EventKind::limit_unseen : EventKind::limit;
  const EventKind close = unseen ? EventKind::close_limit_unseen : EventKind::close_limit;
  const EventKind beat = unseen ? EventKind::heartbeat_limit_unseen : EventKind::heartbeat_limit;
  const EventKind hello = unseen ? EventKind::hello_limit_unseen : EventKind::hello_limit;
  if (candidate && is_due(candidate->close_deadline)) return class_for(Speaker::candidate, close);
  if (candidate && is_due(candidate->hello_deadline)) return class_for(Speaker::candidate, hello);
  if (candidate && is_due(candidate->deadline)) return class_for(Speaker::candidate, limit);
  if (incumbent && is_due(incumbent->close_deadline)) return class_for(Speaker::incumbent, close);
  if (incumbent && is_due(incumbent->heartbeat_deadline)) {
    return class_for(Speaker::incumbent, beat);
  }
  if (incumbent && is_due(incumbent->hello_deadline)) return class_for(Speaker::incumbent, hello);
  if (incumbent && is_due(incumbent->deadline)) return class_for(Speaker::incumbent, limit);
  const bool attempts =
      is_due(state.attempts_deadline) && !(state.upgrade && is_due(state.upgrade->deadline));
  if (attempts) {
    return class_for(Speaker::nobody,
                     unseen ? EventKind::attempts_limit_unseen : EventKind::attempts_limit);
  }
  return class_for(Speaker::nobody,
                   unseen ? EventKind::upgrade_limit_unseen : EventKind::upgrade_limit);
}

EventKind kind_is(const ControlRequest& request, const State& state) {
  if (request.deed == Deed::shutdown) return EventKind::control_shutdown;
  if (request.deed == Deed::upgrade) {
    if (request.upgrade.executable.empty()) return EventKind::control_upgrade_to_agent;
    return request.upgrade.gate ? EventKind::control_upgrade_with_gate : EventKind::control_upgrade;
  }
  const std::string& id = request.upgrade.id;
  const bool its = state.upgrade ? state.upgrade->id == id : id == "u1";
  const auto first = its ? EventKind::control_deed : EventKind::control_deed_of_another;
  return static_cast<EventKind>(static_cast<int>(first) + static_cast<int>(request.deed) -
                                static_cast<int>(Deed::confirm));
}

EventKind kind_is(const Outcome& outcome, Pending pending) {
  const auto either = [&outcome](EventKind done, EventKind refused) {
    return outcome.refused ? refused : done;
  };
  switch (pending) {
    case Pending::check:
      return either(outcome.way_back ? EventKind::checked : EventKind::no_way_back,
                    EventKind::check_fails);
    case Pending::way_back:
      return either(EventKind::way_back_found, EventKind::no_way_back_at_boot);
    case Pending::link_back:
      return either(EventKind::link_put_back, EventKind::link_not_put_back);
    case Pending::spawn:
      return either(EventKind::spawned,
                    outcome.not_executable ? EventKind::spawn_refused : EventKind::spawn_fails);
    case Pending::relink_proof:
      return either(EventKind::proved, EventKind::proof_fails);
    case Pending::relink:
      return either(EventKind::relinked, EventKind::relink_fails);
    case Pending::activate: {
      constexpr EventKind kinds[] = {EventKind::activate_written, EventKind::activate_waits,
                                     EventKind::activate_lost};
      return kinds[static_cast<std::size_t>(outcome.sent)];
    }
    case Pending::nothing:
      break;
  }
  return EventKind::count;
}

// Returns the kind of an event that no agent causes, such as a signal or an operator's request.
std::optional<EventKind> kind_of_other(const Event& event, const State& state) {
  if (const auto* asked = std::get_if<ControlRequested>(&event)) {
    return kind_is(*asked, state);
  }
  if (const auto* outcome = std::get_if<Outcome>(&event)) {
    const EventKind kind = kind_is(*outcome, state.pending);
    return kind == EventKind::count ? std::nullopt : std::optional(kind);
  }
  if (const auto* start = std::get_if<StartRequested>(&event)) {
    return start->attempts_exhausted ? EventKind::start_exhausted : EventKind::start;
  }
  if (std::holds_alternative<StartRefused>(event)) return EventKind::start_refused;
  if (std::holds_alternative<StopRequested>(event)) return EventKind::sigterm;
  if (std::holds_alternative<QuitRequested>(event)) return EventKind::sigquit;
  if (std::holds_alternative<UpgradeRequested>(event)) return EventKind::sigusr2;
  if (std::holds_alternative<SignalReceived>(event)) return EventKind::signal;
  return std::nullopt;
}

}  // namespace

EventClass class_of(const State& before, const Event& event, Time now) {
  if (const auto* passed = std::get_if<DeadlinePassed>(&event)) {
    return class_of_deadline(before, passed->by, now);
  }
  if (const auto kind = kind_of_other(event, before)) return class_for(Speaker::nobody, *kind);
  Generation generation = 0;
  std::visit(
      [&](const auto& its) {
        if constexpr (requires { its.generation; }) generation = its.generation;
      },
      event);
  Speaker speaker = Speaker::stranger;
  const Agent* agent = nullptr;
  if (before.incumbent && before.incumbent->generation == generation) {
    speaker = Speaker::incumbent;
    agent = &*before.incumbent;
  } else if (before.candidate && before.candidate->generation == generation) {
    speaker = Speaker::candidate;
    agent = &*before.candidate;
  }
  std::optional<EventKind> kind;
  if (const auto* received = std::get_if<MessageReceived>(&event)) {
    kind = kind_is(*received, before, agent, now);
  } else if (const auto* refused = std::get_if<MessageRefused>(&event)) {
    kind = kind_is(*refused);
  } else if (const auto* exited = std::get_if<ProcessExited>(&event)) {
    kind = kind_is(*exited);
  } else if (std::holds_alternative<InputClosed>(event)) {
    kind = EventKind::closes_input;
  } else if (std::holds_alternative<ActivateWritten>(event)) {
    kind = EventKind::takes_activate;
  } else if (std::holds_alternative<OutputClosed>(event)) {
    kind = EventKind::closes_output;
  } else if (std::holds_alternative<StrayReceived>(event)) {
    kind = EventKind::stray;
  }
  return kind ? class_for(speaker, *kind) : other_event;
}

namespace {

constexpr const char* speakers[] = {"", "the incumbent: ", "the candidate: ", "a stranger: "};

constexpr const char* kinds[] = {"hello",
                                 "hello with readiness",
                                 "ready",
                                 "unfit",
                                 "confirm",
                                 "confirm of a signal's",
                                 "confirm of another",
                                 "cancel",
                                 "cancel of a signal's",
                                 "cancel of another",
                                 "stopped",
                                 "healthy",
                                 "extend",
                                 "heartbeat",
                                 "status",
                                 "upgrade",
                                 "upgrade, continue, no trial",
                                 "upgrade, gate with a limit",
                                 "upgrade, gate, no start limit",
                                 "upgrade, healthy",
                                 "upgrade, healthy without a trial",
                                 "upgrade, sequential",
                                 "upgrade, sequential, continue",
                                 "last word stopped",
                                 "last word unfit",
                                 "another last word",
                                 "unknown",
                                 "malformed upgrade",
                                 "malformed",
                                 "stray output",
                                 "closes its output",
                                 "closes its input",
                                 "has its activate whole",
                                 "exits",
                                 "is killed",
                                 "extend at its deadline",
                                 "cancel at its deadline",
                                 "its deadline",
                                 "its close deadline",
                                 "its heartbeat's deadline",
                                 "its hello's deadline",
                                 "its deadline, unseen",
                                 "its close deadline, unseen",
                                 "its heartbeat's deadline, unseen",
                                 "its hello's deadline, unseen",
                                 "start",
                                 "start with all attempts exhausted",
                                 "start refused",
                                 "the attempts' deadline",
                                 "the attempts' deadline, unseen",
                                 "SIGTERM",
                                 "SIGQUIT",
                                 "SIGUSR2",
                                 "SIGHUP",
                                 "control: upgrade",
                                 "control: upgrade to AGENT",
                                 "control: upgrade, gate",
                                 "control: confirm",
                                 "control: cancel",
                                 "control: commit",
                                 "control: rollback",
                                 "control: shutdown",
                                 "control: confirm of another",
                                 "control: cancel of another",
                                 "control: commit of another",
                                 "control: rollback of another",
                                 "the upgrade's deadline",
                                 "the upgrade's deadline, unseen",
                                 "checked",
                                 "no way back",
                                 "check fails",
                                 "way back found",
                                 "no way back at boot",
                                 "link put back",
                                 "link not put back",
                                 "spawned",
                                 "spawn refused",
                                 "spawn fails",
                                 "proved",
                                 "proof fails",
                                 "relinked",
                                 "relink fails",
                                 "activate written",
                                 "activate waits",
                                 "activate lost"};
static_assert(std::size(kinds) == static_cast<std::size_t>(EventKind::count));

}  // namespace

std::string name_of_class(EventClass kind) {
  return std::string(speakers[static_cast<std::size_t>(speaker_of(kind))]) +
         kinds[static_cast<std::size_t>(kind_of(kind))];
}

}  // namespace upgrader::test

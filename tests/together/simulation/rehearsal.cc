#include "tests/together/simulation/rehearsal.h"

#include <algorithm>
#include <csignal>

#include "tests/support/every_event.h"

namespace upgrader::simulation {

using namespace agent_protocol;
using test::EventKind;
using test::is_signal_id;
using test::Speaker;

namespace {

// Returns the id of an upgrade for a message of the agent: the id of the upgrade under way, else
// the id that the agent was told, else the id that the exploration uses. If `by_signal` is true,
// returns only ids of upgrades by SIGUSR2. If it is false, returns only other ids.
std::string id_of(const Agent& agent, const State& state, bool by_signal) {
  if (state.upgrade && is_signal_id(state.upgrade->id) == by_signal) return state.upgrade->id;
  if (agent.told_id && is_signal_id(*agent.told_id) == by_signal) return *agent.told_id;
  return by_signal ? "sigusr2-1" : "u1";
}

// Returns the request for an upgrade that has the number `which`, counted from 0, in the
// exploration's list of requests. `said` has the time limits that the request sets.
Upgrade request_for(std::size_t which, const SaidTimes& said) {
  Upgrade upgrade{.id = "u1", .executable = "/opt/agent-v2"};
  if (which == 1 || which == 7) upgrade.on_unclean_stop = UncleanStop::carry_on;
  if (which == 1 || which == 5) upgrade.trial_ms = 0;
  if (which == 2 || which == 3) upgrade.gate = Gate::confirm;
  if (which == 2) upgrade.confirm_timeout_ms = said.confirm_timeout_ms;
  if (which == 3) upgrade.start_timeout_ms = 0;
  if (which == 4 || which == 5) upgrade.commit = CommitRule::healthy;
  if (which == 6 || which == 7) upgrade.mode = Mode::sequential;
  return upgrade;
}

}  // namespace

std::optional<AgentMessage> message_for(EventKind kind, const Agent& agent, const State& state,
                                        const SaidTimes& said) {
  if (kind >= EventKind::first_upgrade && kind <= EventKind::last_upgrade) {
    return request_for(
        static_cast<std::size_t>(kind) - static_cast<std::size_t>(EventKind::first_upgrade), said);
  }
  switch (kind) {
    case EventKind::hello:
      return Hello{protocol_version, "1.0", {}};
    case EventKind::hello_readiness:
      return Hello{protocol_version, "1.0", {"readiness"}};
    case EventKind::ready:
    case EventKind::last_ready:
      return Ready{};
    case EventKind::unfit:
    case EventKind::last_unfit:
      return Unfit{"broken"};
    case EventKind::confirm:
      return Confirm{id_of(agent, state, false)};
    case EventKind::confirm_signal:
      return Confirm{id_of(agent, state, true)};
    case EventKind::confirm_other:
      return Confirm{"u0"};
    case EventKind::cancel:
    case EventKind::cancel_at_limit:
      return Cancel{id_of(agent, state, false), std::nullopt};
    case EventKind::cancel_signal:
      return Cancel{id_of(agent, state, true), std::nullopt};
    case EventKind::cancel_other:
      return Cancel{"u0", "why not"};
    case EventKind::stopped:
    case EventKind::last_stopped:
      return Stopped{"left"};
    case EventKind::healthy:
      return Healthy{};
    case EventKind::extend:
    case EventKind::extend_at_limit:
      return Extend{said.extend_ms};
    case EventKind::heartbeat:
      return Heartbeat{};
    case EventKind::status:
      return Status{"fine"};
    default:
      return std::nullopt;
  }
}

std::optional<std::uint32_t> destination(const Sheet& sheet, std::uint32_t place,
                                         test::EventClass event) {
  for (std::uint32_t at = sheet.first_move[place]; at < sheet.first_move[place + 1]; ++at) {
    const test::Move& move = sheet.map.moves[at];
    if (move.length == 1 && move.steps[0] == event && move.whole) return move.to;
  }
  return std::nullopt;
}

std::optional<Time> deadline_of(const State& state, test::EventClass event) {
  const EventKind kind = test::kind_of(event);
  if (kind == EventKind::upgrade_limit) {
    return state.upgrade ? state.upgrade->deadline : std::nullopt;
  }
  const bool of_incumbent = test::speaker_of(event) == Speaker::incumbent;
  const std::optional<Agent>& agent = of_incumbent ? state.incumbent : state.candidate;
  if (!agent) return std::nullopt;
  if (kind == EventKind::close_limit) return agent->close_deadline;
  if (kind == EventKind::heartbeat_limit) return agent->heartbeat_deadline;
  if (kind == EventKind::hello_limit) return agent->hello_deadline;
  return agent->deadline;
}

namespace {

bool is_deadline(EventKind kind) {
  return kind == EventKind::limit || kind == EventKind::close_limit ||
         kind == EventKind::heartbeat_limit || kind == EventKind::hello_limit ||
         kind == EventKind::upgrade_limit;
}

bool is_at_deadline(EventKind kind) {
  return kind == EventKind::extend_at_limit || kind == EventKind::cancel_at_limit;
}

}  // namespace

bool is_timed(test::EventClass event) {
  const EventKind kind = test::kind_of(event);
  return is_deadline(kind) || is_at_deadline(kind);
}

Rehearsal::Rehearsal(const Sheet& sheet, const Policy& policy, const SaidTimes& said,
                     Random& random)
    : sheet_(sheet), supervisor_(policy), said_(said), random_(random) {}

bool Rehearsal::run(const std::deque<std::uint32_t>& way) {
  for (const std::uint32_t at : way) {
    pause(test::kind_of(sheet_.map.moves[at].steps[0]));
    if (!make(sheet_.map.moves[at])) return false;
  }
  return true;
}

// Lets a random time pass before the next event. Without pauses, many deadlines would be set at the
// same instant, and would always pass in the same order. If the next event closes a pipe, about
// half of the pauses last until shortly before the next deadline. In some runs, this deadline must
// pass after the closing. An agent that has closed a pipe is soon killed, so only a near deadline
// can pass before the kill.
void Rehearsal::pause(EventKind next_kind) {
  const std::optional<Time> next = supervisor_.next_deadline();
  const Duration left = next ? *next - now_ : Duration(1'000);
  const bool closes = next_kind == EventKind::closes_input || next_kind == EventKind::closes_output;
  Duration pause{0};
  if (closes && next && random_.chance(50)) {
    pause = left - Duration(random_.between(1, 150));
  } else if (random_.chance(30)) {
    pause = Duration(random_.between(0, left.count() / 2));
  }
  pauses_.push_back(std::max(pause, Duration(0)));
  now_ += pauses_.back();
}

bool Rehearsal::make(const test::Move& move) {
  if (is_deadline(test::kind_of(move.steps[0]))) {
    if (!let_pass(move)) return false;
  } else {
    if (is_at_deadline(test::kind_of(move.steps[0]))) {
      const std::optional<Time> deadline = deadline_of(supervisor_.state(), move.steps[0]);
      if (!deadline) return false;
      now_ = std::max(now_, *deadline);
    }
    const std::optional<Event> event = event_for(move.steps[0]);
    if (!event) return false;
    (void)supervisor_.step(*event, now_);
  }
  for (std::size_t step = 1; step < move.length; ++step) {
    const auto outcomes = test::every_outcome(supervisor_.state());
    const auto wanted = std::find_if(outcomes.begin(), outcomes.end(), [&](const auto& outcome) {
      return test::class_of(supervisor_.state(), outcome.event, now_) == move.steps[step];
    });
    if (wanted == outcomes.end()) return false;
    (void)supervisor_.step(wanted->event, now_);
  }
  return judge_passed(move.to);
}

// Lets the deadline of the move pass. Other deadlines may pass before it if they leave the
// supervisor's state unchanged. Returns false if a deadline that changes the state would pass
// first.
bool Rehearsal::let_pass(const test::Move& move) {
  const std::optional<Time> deadline = deadline_of(supervisor_.state(), move.steps[0]);
  if (!deadline) return false;
  now_ = std::max(now_, *deadline);
  for (int others = 0; others < 3; ++others) {
    const Event passed = DeadlinePassed{};
    const test::EventClass next = test::class_of(supervisor_.state(), passed, now_);
    (void)supervisor_.step(passed, now_);
    if (next == move.steps[0]) return true;
    if (destination(sheet_, move.from, next) != move.from) return false;
  }
  return false;
}

// Must be called after a move has led to `place`, a state of the supervisor. Lets all deadlines
// pass that are due now. Returns false if a deadline changes the state, or if more than two are
// due.
bool Rehearsal::judge_passed(std::uint32_t place) {
  for (int others = 0; others < 3; ++others) {
    const std::optional<Time> next = supervisor_.next_deadline();
    if (!next || *next > now_) return true;
    const Event passed = DeadlinePassed{};
    const test::EventClass its = test::class_of(supervisor_.state(), passed, now_);
    if (destination(sheet_, place, its) != place) return false;
    (void)supervisor_.step(passed, now_);
  }
  return false;
}

std::optional<Event> Rehearsal::event_for(test::EventClass event) {
  const State& state = supervisor_.state();
  switch (test::kind_of(event)) {
    case EventKind::start:
      return StartRequested{1, std::nullopt};
    case EventKind::sigterm:
      return StopRequested{};
    case EventKind::sigquit:
      return QuitRequested{};
    case EventKind::sigusr2:
      return UpgradeRequested{};
    case EventKind::signal:
      return SignalReceived{SIGHUP};
    default:
      break;
  }
  const bool of_incumbent = test::speaker_of(event) == Speaker::incumbent;
  const std::optional<Agent>& agent = of_incumbent ? state.incumbent : state.candidate;
  if (!agent) return std::nullopt;
  return event_of(*agent, test::kind_of(event));
}

std::optional<Event> Rehearsal::event_of(const Agent& agent, EventKind kind) {
  const Generation its = agent.generation;
  switch (kind) {
    case EventKind::exits:
      return ProcessExited{its, {Ending::How::exited, 0}};
    case EventKind::is_killed:
      return ProcessExited{its, {Ending::How::signalled, SIGKILL}};
    case EventKind::closes_output:
      return OutputClosed{its};
    case EventKind::closes_input:
      // The upgrader sends nothing more to an agent that was sent SIGKILL or SIGTERM. So the
      // upgrader cannot notice a second time that the agent's input is closed.
      if (agent.input_closed && (agent.killed || agent.terminated)) return std::nullopt;
      return InputClosed{its};
    case EventKind::takes_activate:
      return ActivateWritten{its};
    case EventKind::unknown:
      return MessageRefused{its, Unknown{"hullo"}};
    case EventKind::malformed_upgrade:
      return MessageRefused{its, Malformed{"upgrade", "", "u2"}};
    case EventKind::malformed:
      return MessageRefused{its, Malformed{"extend", "", std::nullopt}};
    case EventKind::stray:
      return StrayReceived{its, "oops"};
    default:
      break;
  }
  auto message = message_for(kind, agent, supervisor_.state(), said_);
  if (!message) return std::nullopt;
  const bool last = dies_in(test::class_for(Speaker::incumbent, kind)) != Speaker::nobody;
  return MessageReceived{its, std::move(*message), last};
}

}  // namespace upgrader::simulation

#include "tests/decisions/explore/explorer.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>

#include "tests/support/print.h"
#include "upgrader/core/init_news.h"

namespace upgrader::test {
namespace {

using namespace agent_protocol;

// ---- the rules for heartbeats, and for the messages to init that depend on heartbeats
//
// Written from the manual pages alone. The checks read only the supervisor's state, and the facts
// from which messages to init are made.

// Returns whether the agent must send heartbeats: it is active, has not said `stopped`, has not
// been killed, and has not been sent `stop` because of a rollback.
bool is_watched(const std::optional<Agent>& agent) {
  return agent && agent->activated && !agent->stopped && !agent->killed &&
         agent->told != StopReason::rollback;
}

bool is_watched_after(const State& before, const Supervisor& after) {
  const std::optional<Agent>& now = after.state().incumbent;
  return is_watched(now) && before.incumbent && before.incumbent->generation == now->generation;
}

// Returns whether the event is a message of this type that this agent has sent.
template <class Message>
bool says(const Event& event, const Agent& agent) {
  const auto* received = std::get_if<MessageReceived>(&event);
  return received != nullptr && received->generation == agent.generation &&
         std::holds_alternative<Message>(received->message);
}

bool has_passed_unheard(const State& before, const Due& due, const Event& event) {
  const auto* passed = std::get_if<DeadlinePassed>(&event);
  return due.what == Due::What::heartbeat && passed != nullptr && passed->by >= Time(0) &&
         is_watched(before.incumbent);
}

// Checks whether init is sent READY=1 at the right time. If a first agent or a fallback has the
// feature `readiness`, READY=1 must wait until the agent has sent `healthy`.
void judge_readiness(const State& before, bool was_ready, const Event& event, const State& after,
                     bool ready, std::vector<std::string>& broken) {
  if (!ready) {
    const bool same = before.incumbent && after.incumbent &&
                      before.incumbent->generation == after.incumbent->generation;
    if (was_ready && same) broken.emplace_back("Readiness: it is taken back");
    return;
  }
  const Agent& agent = *after.incumbent;
  if (!agent.activated) broken.emplace_back("Readiness: of an agent that is held");
  const bool word_is_due = agent.has_readiness && agent.role != Role::candidate;
  if (!was_ready && word_is_due && !says<Healthy>(event, agent)) {
    broken.emplace_back("Readiness: init is told before the agent has said that it works");
  }
  if (word_is_due && agent.deadline && !agent.told && !agent.killed) {
    broken.emplace_back("Readiness: an agent that has said that it works is waited for");
  }
}

// Checks one step of the supervisor: the rules about heartbeats, and about READY=1 and WATCHDOG=1
// for init. `before` is the state before the step, and `after` is the supervisor after it. `due`
// names the deadline that had passed, if one had. Returns the broken rules as texts.
std::vector<std::string> broken_vouching(const Policy& policy, const State& before, const Due& due,
                                         const Event& event, const Supervisor& after) {
  std::vector<std::string> broken;
  const State& state = after.state();
  const InitNews news_before = init_news(before);
  const InitNews news = init_news(state);
  judge_readiness(before, news_before.active, event, state, news.active, broken);
  const bool was_vouched = news_before.vouched;
  const bool vouched = news.vouched;
  const bool missed = has_passed_unheard(before, due, event);
  const bool on_trial = phase_of(before) == Phase::trial;

  if (missed && on_trial && after.phase() != Phase::rolling_back) {
    broken.emplace_back("Heartbeats: silence on trial does not roll back");
  }
  if (missed && !on_trial && vouched) {
    broken.emplace_back("Heartbeats: an agent that has fallen silent is vouched for");
  }
  for (const std::optional<Agent>* agent : {&state.incumbent, &state.candidate}) {
    if (!*agent || is_watched(*agent) || !(*agent)->heartbeat_deadline) continue;
    broken.emplace_back("Heartbeats: of one that is held, has stopped or is given up");
  }
  if (is_watched(state.incumbent)) {
    const bool awaited = state.incumbent->heartbeat_deadline.has_value();
    if (awaited && policy.watchdog == Duration::zero()) broken.emplace_back("Heartbeats: unasked");
    if (!awaited && vouched && policy.watchdog != Duration::zero()) {
      broken.emplace_back("Heartbeats: an active agent that nobody waits for is vouched for");
    }
  }
  if (was_vouched && !vouched && !missed) {
    broken.emplace_back("Heartbeats: no longer vouched for, though nothing was missed");
  }
  if (!was_vouched && vouched && is_watched_after(before, after) &&
      !says<Heartbeat>(event, *before.incumbent)) {
    broken.emplace_back("Heartbeats: a silent agent is vouched for again");
  }
  return broken;
}

// ---- the exploration

// Replaces the version in a `hello` with the version of the sender's program.
Event with_version(Event event, const State& state) {
  auto* message = std::get_if<MessageReceived>(&event);
  auto* hello = message ? std::get_if<Hello>(&message->message) : nullptr;
  if (hello == nullptr) return event;
  for (const std::optional<Agent>* agent : {&state.incumbent, &state.candidate}) {
    const bool it_is = *agent && (*agent)->generation == message->generation;
    if (it_is) hello->version = (*agent)->program == 2 ? "new" : "old";
  }
  return event;
}

struct Node {
  State state;
  Watcher watcher;
  std::shared_ptr<const Companion> companion;  // null if only the watcher checks the steps
  std::string accounts;                        // what watcher and companion have recorded, as text
  Move how;                                    // the move that has led to this node first
};

// The two observers that check every step of a supervisor. The watcher knows some rules; the
// companion compares the step with an independent description of the supervisor.
struct Watchers {
  Watcher watcher;
  std::unique_ptr<Companion> companion;  // null if only the watcher checks the steps
};

Watchers copied(const Watcher& watcher, const Companion* companion) {
  return {watcher, companion ? companion->clone() : nullptr};
}

// Returns the time limit for the event for which the supervisor waits in the current phase. Returns
// zero if the user has set no limit, or if the phase has no limit.
Duration limit_of(const Policy& policy, const State& state) {
  const auto of_stop = [&](Duration stop_timeout) {
    return state.incumbent && state.incumbent->stopped ? policy.exit_grace : stop_timeout;
  };
  for (const std::optional<Agent>* agent : {&state.incumbent, &state.candidate}) {
    if (*agent && (*agent)->activate_waits) return policy.defaults.stop_timeout;
  }
  switch (phase_of(state)) {
    case Phase::starting:
      return policy.defaults.start_timeout;
    case Phase::preparing:
    case Phase::replacing:
      return state.upgrade->terms.start_timeout;
    case Phase::confirming:
      return state.upgrade->terms.confirm_timeout;
    case Phase::trial:
      return state.upgrade->terms.trial;
    case Phase::switching:
    case Phase::rolling_back:
      return of_stop(state.upgrade->terms.stop_timeout);
    case Phase::falling_back:
      return std::min(policy.defaults.start_timeout, state.upgrade->terms.start_timeout);
    case Phase::shutting_down:
      return of_stop(policy.defaults.stop_timeout);
    case Phase::abandoning:
      return killed_log_interval;  // how often the log repeats that a killed agent has not ended
    case Phase::running:
    case Phase::ended:
      break;
  }
  return Duration::zero();
}

bool waits_without_limit(const Policy& policy, const State& state) {
  if (state.last_generation == 0) return false;
  const bool limited = limit_of(policy, state) != Duration::zero();
  return limited && !Supervisor(policy, state).next_deadline();
}

bool has_features(const Event& event) {
  const auto* said = std::get_if<MessageReceived>(&event);
  const auto* hello = said == nullptr ? nullptr : std::get_if<Hello>(&said->message);
  return hello != nullptr && !hello->features.empty();
}

class Walk {
 public:
  Walk(const Policy& policy, const StepFunction& step, std::size_t violations_max, Map* map)
      : policy_(policy), step_(step), violations_max_(violations_max), map_(map) {
    // If this exploration fills a map (`map` is not null), leaves out operators' requests. The
    // programs that follow the map have no control directory through which such requests could
    // come.
    const Breadth breadth = breadth_of(policy);
    readiness_ = map != nullptr ? which_policy(policy) == plain_policy : breadth.readiness;
    control_ = breadth.control && map == nullptr;
    of_one_gone_ = breadth.of_one_gone || map != nullptr;
  }

  Exploration run(const Companion* companion) {
    Watchers watchers{Watcher(policy_.exit_grace), companion ? companion->clone() : nullptr};
    make_of_an_instant(watchers);
    visit(State{}, std::move(watchers), {});
    for (std::size_t at = 0; at < nodes_.size() && !full(); ++at) {
      // Copies the node's state, because the loop adds nodes to `nodes_`, and the existing nodes
      // may then move in memory.
      const State state = nodes_[at].state;
      for (NamedEvent& next : every_event(state, of_one_gone_)) {
        if (!readiness_ && has_features(next.event)) continue;
        next.event = with_version(std::move(next.event), state);
        take(at, state, {}, next);
      }
      for (const NamedEvent& next : control_ ? every_control_event(state) : none_)
        take(at, state, {}, next);
      if (policy_.previous && state.last_generation == 0) {
        for (const NamedEvent& next : every_start_at_boot())
          take(at, state, {}, next);
      }
      State timed = state;
      for (const NamedDeadline& named : deadlines_of(timed)) {
        if (*named.deadline) take_deadline(at, timed, named);
      }
    }
    result_.states = nodes_.size();
    return std::move(result_);
  }

 private:
  bool full() const { return result_.violations.size() >= violations_max_; }

  // Tries every way in which this deadline can pass:
  // * The supervisor handles the deadline when it passes.
  // * The agents' pipes have not been read since the deadline. So the supervisor must not handle
  //   the deadline yet.
  // * The agent with this deadline sends `extend` or `cancel` just before the deadline.
  void take_deadline(std::size_t at, const State& timed, const NamedDeadline& named) {
    *named.deadline = Time(0);
    const std::string name = named.name;
    take(at, timed, named.due, {"deadline of the " + name, DeadlinePassed{}});
    take(at, timed, named.due,
         {"# the deadline of the " + name + ", for which nobody has looked",
          DeadlinePassed{Time(-1)}});
    if (named.due.what == Due::What::limit) {
      const Generation owner = named.due.generation;
      const std::string who = std::to_string(owner);
      const std::string when = "  # at the deadline of the " + name;
      take(at, timed, named.due,
           {who + " extend 60000" + when, MessageReceived{owner, Extend{60'000}, false}});
      take(at, timed, named.due,
           {who + " cancel u1" + when, MessageReceived{owner, Cancel{"u1", std::nullopt}, false}});
    }
    check_lateness(at, timed, named);
    *named.deadline = later;
  }

  // Checks a deadline that the supervisor handles more than a second late. In this case the
  // supervisor must postpone the deadline once, by as much as it is late, but by at most ten
  // seconds. The states after that are not explored: they differ from known states only in how far
  // off the deadline is.
  void check_lateness(std::size_t at, const State& timed, const NamedDeadline& named) {
    struct Judged {
      Actions actions;
      State state;
      std::optional<Time> deadline;
    };
    const auto judged = [&](Time due_at, bool put_off) {
      *named.deadline = due_at;
      Supervisor supervisor(policy_, timed);
      if (put_off) {
        State state = timed;
        state.put_off = {due_at};
        supervisor = Supervisor(policy_, state);
      }
      Watchers watchers = copied(nodes_[at].watcher, nodes_[at].companion.get());
      if (watchers.companion) watchers.companion->set_deadlines(later, named.due, due_at, put_off);
      Judged outcome{step_(supervisor, DeadlinePassed{}, Time(0)), supervisor.state(), {}};
      ++result_.edges;
      if (watchers.companion)
        watchers.companion->see(DeadlinePassed{}, outcome.actions, supervisor);
      Move move;
      move.from = static_cast<std::uint32_t>(at);
      report_all(move, watchers);
      std::erase_if(outcome.actions,
                    [](const Action& action) { return std::holds_alternative<Log>(action); });
      State after = outcome.state;
      for (const NamedDeadline& each : deadlines_of(after)) {
        if (std::string_view(each.name) == named.name) outcome.deadline = *each.deadline;
      }
      outcome.state = normalised(outcome.state);
      return outcome;
    };
    const Judged in_time = judged(Time(0), false);
    const auto as_in_time = [&](const Judged& other) {
      return other.actions == in_time.actions && other.state == in_time.state;
    };
    const auto put_off_to = [&](const Judged& other, Time when) {
      return other.actions.empty() && other.state == normalised(timed) && other.deadline == when;
    };
    const bool good = as_in_time(judged(Time(-1'000), false)) &&
                      put_off_to(judged(Time(-1'001), false), Time(1'001)) &&
                      put_off_to(judged(Time(-3'600'000), false), Time(10'000)) &&
                      as_in_time(judged(Time(-3'600'000), true));
    if (good) return;
    Move move;
    move.from = static_cast<std::uint32_t>(at);
    report(move,
           "Time: the " + std::string(named.name) + "'s deadline, too late, is not put off once");
  }

  void take(std::size_t at, const State& state, const Due& due, const NamedEvent& next) {
    // Each event is tried on copies of the supervisor and of the watchers. Most events change
    // nothing, and then the same copies serve for the next event, which saves time.
    const bool again = unchanged_ && unchanged_->at == at && due.what == Due::What::nothing;
    if (!again) {
      unchanged_.emplace(Copies{at, Supervisor(policy_, state),
                                copied(nodes_[at].watcher, nodes_[at].companion.get())});
    }
    auto& [place, supervisor, watchers] = *unchanged_;
    watchers.watcher.let_time_pass(due.what == Due::What::limit ? due.generation : 0);
    if (watchers.companion) watchers.companion->set_deadlines(later, due, Time(0), false);
    Move move;
    move.from = static_cast<std::uint32_t>(at);
    const bool changed = branch(move, state, supervisor, watchers, next.event, due);
    if (changed || due.what != Due::What::nothing) unchanged_.reset();
  }

  // Lets the supervisor handle one event, and then tries every outcome of the orders that it gives
  // because of this event. `before` is the state before the event. Returns false if neither the
  // supervisor nor an observer in `watchers` has changed. If it returns true, the caller must not
  // use `supervisor` and `watchers` again.
  bool branch(Move move, const State& before, Supervisor& supervisor, Watchers& watchers,
              const Event& event, const Due& due) {
    move.steps[move.length++] = class_of(supervisor.state(), event, Time(0));
    result_.cells.emplace(supervisor.phase(), event.index());
    const Actions actions = step_(supervisor, event, Time(0));
    ++result_.edges;
    watchers.watcher.see(event, actions, Time(0));
    if (watchers.companion) watchers.companion->see(event, actions, supervisor);
    // Checks the messages to init only if the step has changed the supervisor's state, or if a
    // heartbeat's deadline has passed. Otherwise init is sent no new message.
    const bool same = due.what != Due::What::heartbeat && supervisor.state() == before;
    const auto vouching = same ? std::vector<std::string>()
                               : broken_vouching(policy_, before, due, event, supervisor);
    for (const std::string& violation : vouching)
      report(move, violation);
    const bool ready_too_early =
        !same && init_news(supervisor.state()).active && !watchers.watcher.anyone_active();
    if (ready_too_early) report(move, "S1b: init is told that an agent is active that is not");
    if (report_all(move, watchers) || !vouching.empty() || ready_too_early) return true;
    move.whole = supervisor.state().pending == Pending::nothing;
    bool changed = true;
    if (move.whole) {
      note_phases(move, supervisor.phase());
      make_of_an_instant(watchers);
      changed = !is_as_before(supervisor.state(), watchers, move.from);
      const std::size_t to =
          changed ? visit(supervisor.state(), std::move(watchers), move) : move.from;
      move.to = static_cast<std::uint32_t>(to);
    }
    if (map_ != nullptr) map_->moves.push_back(move);
    if (move.whole) return changed;
    for (const NamedEvent& outcome : every_outcome(supervisor.state())) {
      Supervisor next = supervisor;
      Watchers its = copied(watchers.watcher, watchers.companion.get());
      (void)branch(move, supervisor.state(), next, its, outcome.event, {});
    }
    return true;
  }

  // Sets the clocks of both observers in `watchers` to an instant at which no deadline has passed.
  static void make_of_an_instant(Watchers& watchers) {
    watchers.watcher.let_time_pass(0);
    if (watchers.companion) watchers.companion->set_deadlines(later, {}, Time(0), false);
  }

  // Records a change of the phase by a move: the phase before the move's event, and the phase after
  // the move's last outcome. A test later compares these records with the table of phases in
  // supervisor.h.
  void note_phases(const Move& move, Phase after) {
    const Phase before = phase_of(nodes_[move.from].state);
    if (before == after) return;
    const EventKind kind = kind_of(move.steps[0]);
    const bool signalled = kind == EventKind::sigterm || kind == EventKind::sigquit ||
                           kind == EventKind::control_shutdown;
    (signalled ? result_.signalled_steps : result_.phase_steps)
        .emplace(std::string(name_of(before)), std::string(name_of(after)));
  }

  bool report_all(const Move& how, const Watchers& watchers) {
    std::vector<std::string> violations = watchers.watcher.violations();
    if (watchers.companion) {
      const std::vector<std::string>& more = watchers.companion->violations();
      violations.insert(violations.end(), more.begin(), more.end());
    }
    for (const std::string& violation : violations)
      report(how, violation);
    return !violations.empty();
  }

  // Returns the index of the node of this state. Adds the node if the state is new.
  std::size_t visit(const State& raw, Watchers watchers, const Move& how) {
    const std::size_t parent = how.from;
    const std::map<Generation, Generation> ranks = ranks_of(raw);
    const State state = renumbered(normalised(raw), ranks);
    watchers.watcher.renumber(ranks);
    if (watchers.companion) watchers.companion->renumber(ranks);
    std::string accounts = watchers.watcher.print();
    if (watchers.companion) accounts += watchers.companion->print();
    const bool nothing_new =
        !nodes_.empty() && nodes_[parent].state == state && nodes_[parent].accounts == accounts;
    if (nothing_new) return parent;
    const std::string key = print(Supervisor(policy_, state)) + accounts;
    const auto [seen, is_new] = seen_.emplace(key, nodes_.size());
    if (!is_new) return seen->second;
    if (phase_of(state) == Phase::running) ++result_.running_states;
    check_rest(state, how);
    if (map_ != nullptr) {
      const bool incumbents = state.incumbent && state.incumbent->activate_waits;
      const bool candidates = state.candidate && state.candidate->activate_waits;
      const Speaker promised = incumbents   ? Speaker::incumbent
                               : candidates ? Speaker::candidate
                                            : Speaker::nobody;
      map_->places.push_back({key_of(state, watchers.watcher.print()), state.ended, promised, how});
    }
    nodes_.push_back({state, std::move(watchers.watcher), std::move(watchers.companion),
                      std::move(accounts), how});
    return nodes_.size() - 1;
  }

  // Returns true if the last event has changed nothing: `state` and `watchers` are still those of
  // the node `parent`, in which the event came. Compares the states directly, because printing
  // them for a comparison would take longer.
  bool is_as_before(const State& state, const Watchers& watchers, std::size_t parent) const {
    const Node& before = nodes_[parent];
    return before.state == state && before.watcher == watchers.watcher &&
           (!watchers.companion || watchers.companion->equals(*before.companion));
  }

  void check_rest(const State& state, const Move& how) {
    if (!comes_to_rest(Supervisor(policy_, state))) report(how, "Time: it never ends");
    if (waits_without_limit(policy_, state)) report(how, "Time: nothing limits what it waits for");
    if (phase_of(state) != Phase::running) return;
    const std::size_t events = events_to_commit(Supervisor(policy_, state));
    if (events != useful_events) report(how, "Usefulness: a good upgrade does not commit");
  }

  void report(const Move& how, const std::string& violation) {
    if (full()) return;
    std::vector<Move> moves{how};
    for (std::size_t at = how.from; at != 0; at = nodes_[at].how.from)
      moves.push_back(nodes_[at].how);
    std::reverse(moves.begin(), moves.end());
    result_.violations.push_back("# " + violation + "\n" + tell(policy_, moves, step_).text);
    result_.ways.push_back(std::move(moves));
  }

  // The number of events that lead to the commit of a good upgrade: upgrade, hello, ready, stopped,
  // exit, and the end of the trial.
  static constexpr std::size_t useful_events = 6;

  const Policy& policy_;
  const StepFunction& step_;
  std::size_t violations_max_;
  Map* map_;  // the map to fill, or null
  bool readiness_ = false;
  bool control_ = false;
  bool of_one_gone_ = false;
  const std::vector<NamedEvent> none_{};
  // Copies of the supervisor and its observers in the state of the node with the index `at`. The
  // next event in this state is tried on these copies.
  struct Copies {
    std::size_t at;
    Supervisor supervisor;
    Watchers watchers;
  };
  std::optional<Copies> unchanged_;
  std::deque<Node> nodes_;
  std::unordered_map<std::string, std::size_t> seen_;
  Exploration result_;
};

// Reports success to the supervisor for each action, such as the start of a program, for whose
// outcome the supervisor waits.
void settle(Supervisor& supervisor, Time now) {
  while (supervisor.state().pending != Pending::nothing) {
    (void)supervisor.step(every_outcome(supervisor.state()).front().event, now);
  }
}

}  // namespace

Actions plain_step(Supervisor& supervisor, const Event& event, Time now) {
  return supervisor.step(event, now);
}

std::size_t events_to_commit(Supervisor supervisor) {
  Time now{0};
  std::size_t count = 0;
  const auto take = [&](const Event& event) {
    (void)supervisor.step(event, now);
    settle(supervisor, now);
    ++count;
  };
  const Generation active = supervisor.state().incumbent->generation;
  const Generation next = supervisor.state().last_generation + 1;
  Upgrade upgrade{.id = "useful",
                  .executable = "/opt/agent-v2",
                  .mode = Mode::parallel,
                  .gate = Gate::none,
                  .commit = CommitRule::survive,
                  .trial_ms = 1000,
                  .fallback = FallbackMode::cold};
  take(MessageReceived{active, upgrade, false});
  take(MessageReceived{next, Hello{}, false});
  take(MessageReceived{next, Ready{}, false});
  take(MessageReceived{active, Stopped{}, false});
  take(ProcessExited{active, {Ending::How::exited, 0}});
  now += Time(1000);
  take(DeadlinePassed{});
  const State& state = supervisor.state();
  const bool committed = phase_of(state) == Phase::running && state.incumbent->generation == next;
  return committed ? count : 0;
}

bool comes_to_rest(Supervisor supervisor) {
  Time now{0};
  for (int steps = 0; steps < 40; ++steps) {
    const State& state = supervisor.state();
    const Phase phase = phase_of(state);
    if (phase == Phase::running || phase == Phase::ended || state.last_generation == 0) return true;
    // Causes the next event. If an agent has been killed, the agent exits. Otherwise the next
    // deadline passes. If there is no deadline, because the user has set no limits, the agents exit
    // by themselves.
    const bool incumbent_ends = state.incumbent && state.incumbent->killed;
    const bool candidate_ends = state.candidate && state.candidate->killed;
    if (candidate_ends || incumbent_ends) {
      const Agent& agent = candidate_ends ? *state.candidate : *state.incumbent;
      (void)supervisor.step(ProcessExited{agent.generation, {Ending::How::signalled, 9}}, now);
    } else if (const auto deadline = supervisor.next_deadline()) {
      now = std::max(now, *deadline);
      (void)supervisor.step(DeadlinePassed{}, now);
    } else {
      const Agent& agent = state.candidate ? *state.candidate : *state.incumbent;
      (void)supervisor.step(ProcessExited{agent.generation, {Ending::How::exited, 0}}, now);
    }
    settle(supervisor, now);
  }
  return false;
}

Exploration explore(const Policy& policy, const StepFunction& step, std::size_t violations_max,
                    const Companion* companion, Map* map) {
  return Walk(policy, step, violations_max, map).run(companion);
}

}  // namespace upgrader::test

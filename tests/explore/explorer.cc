#include "tests/explore/explorer.h"

#include <deque>
#include <memory>
#include <unordered_map>

namespace upgrader::test {
namespace {

using namespace agent_protocol;

// Every deadline that is set lies here, seen from an instant that is always 0.
constexpr Time later{3'600'000};

struct NamedDeadline {
  const char* name;
  Due due;
  std::optional<Time>* deadline;
};

std::vector<NamedDeadline> deadlines_of(State& state) {
  using What = Due::What;
  std::vector<NamedDeadline> all;
  if (state.incumbent) {
    Agent& agent = *state.incumbent;
    all.push_back({"incumbent", {What::limit, agent.generation}, &agent.deadline});
    all.push_back({"incumbent's close", {What::close, agent.generation}, &agent.close_deadline});
  }
  if (state.candidate) {
    Agent& agent = *state.candidate;
    all.push_back({"candidate", {What::limit, agent.generation}, &agent.deadline});
    all.push_back({"candidate's close", {What::close, agent.generation}, &agent.close_deadline});
  }
  if (state.upgrade) all.push_back({"upgrade", {What::upgrade, 0}, &state.upgrade->deadline});
  return all;
}

// The same state, seen from now on: deadlines lie ahead. What only people read is left out.
State normalised(State state) {
  for (const NamedDeadline& named : deadlines_of(state)) {
    if (*named.deadline) *named.deadline = later;
  }
  state.upgrade_signals = 0;
  for (std::optional<Agent>* agent : {&state.incumbent, &state.candidate}) {
    if (!*agent) continue;
    if ((*agent)->unfit) (*agent)->unfit = "";
    // Which pipe a held agent has closed matters to nobody but the log; that an active one has, not
    // even to that.
    const bool closed = (*agent)->output_closed || (*agent)->input_closed;
    (*agent)->output_closed = closed && !(*agent)->activated;
    (*agent)->input_closed = false;
  }
  if (state.upgrade && state.upgrade->failure) state.upgrade->failure->reason = "";
  return state;
}

// New numbers for the generations that still matter: 1, 2, ... in their order.
std::map<Generation, Generation> ranks_of(const State& state) {
  std::map<Generation, Generation> ranks;
  if (state.incumbent) ranks[state.incumbent->generation];
  if (state.candidate) ranks[state.candidate->generation];
  if (state.upgrade && state.upgrade->generation) ranks[*state.upgrade->generation];
  Generation next = 1;
  for (auto& [generation, rank] : ranks)
    rank = next++;
  return ranks;
}

State renumbered(State state, const std::map<Generation, Generation>& ranks) {
  if (state.last_generation == 0) return state;  // the start is like no other
  if (state.incumbent) state.incumbent->generation = ranks.at(state.incumbent->generation);
  if (state.candidate) state.candidate->generation = ranks.at(state.candidate->generation);
  if (state.upgrade && state.upgrade->generation) {
    state.upgrade->generation = ranks.at(*state.upgrade->generation);
  }
  state.last_generation = std::max<Generation>(1, static_cast<Generation>(ranks.size()));
  // Program 1, "old", is what serves, or is to be gone back to; 2, "new", is the other.
  const bool on_trial =
      state.upgrade && state.incumbent && state.upgrade->generation == state.incumbent->generation;
  if (state.incumbent) state.incumbent->program = on_trial ? 2 : 1;
  if (state.incumbent && state.incumbent->version) {
    state.incumbent->version = on_trial ? "new" : "old";
  }
  if (state.upgrade && state.upgrade->previous_version) state.upgrade->previous_version = "old";
  if (state.candidate) state.candidate->program = 2;
  if (state.upgrade) state.upgrade->previous = 1;
  if (state.upgrade && state.upgrade->program) state.upgrade->program = 2;
  return state;
}

// Each program says its own version.
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
  std::shared_ptr<const Companion> companion;  // or null
  std::string accounts;                        // theirs, as text
  std::size_t parent = 0;
  std::vector<std::string> how;  // the lines that led here from the parent
};

// Those who look at every step.
struct Watchers {
  Watcher watcher;
  std::unique_ptr<Companion> companion;  // or null
};

Watchers copied(const Watcher& watcher, const Companion* companion) {
  return {watcher, companion ? companion->clone() : nullptr};
}

class Walk {
 public:
  Walk(const Policy& policy, const StepFunction& step, std::size_t violations_max)
      : policy_(policy), step_(step), violations_max_(violations_max) {}

  Exploration run(const Companion* companion) {
    Watchers watchers{Watcher(policy_.exit_grace), companion ? companion->clone() : nullptr};
    visit(State{}, std::move(watchers), 0, {});
    for (std::size_t at = 0; at < nodes_.size() && !full(); ++at) {
      // A copy: the nodes move while new ones come.
      const State state = nodes_[at].state;
      for (NamedEvent& next : every_event(state)) {
        next.event = with_version(std::move(next.event), state);
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

  // The deadline passes; or its owner does something just in time.
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
    *named.deadline = later;
  }

  void take(std::size_t at, const State& state, const Due& due, const NamedEvent& next) {
    Watchers watchers = copied(nodes_[at].watcher, nodes_[at].companion.get());
    watchers.watcher.let_time_pass(due.what == Due::What::limit ? due.generation : 0);
    if (watchers.companion) watchers.companion->set_deadlines(later, due);
    // What follows last words is an event of its own here.
    const std::string line = next.name.substr(0, next.name.find('\n'));
    branch(at, Supervisor(policy_, state), std::move(watchers), next.event, {line});
  }

  // One event, and every outcome of what it asks for.
  void branch(std::size_t from, Supervisor supervisor, Watchers watchers, const Event& event,
              const std::vector<std::string>& how) {
    result_.cells.emplace(supervisor.phase(), event.index());
    const Actions actions = step_(supervisor, event, Time(0));
    ++result_.edges;
    watchers.watcher.see(event, actions, Time(0));
    if (watchers.companion) watchers.companion->see(event, actions, supervisor);
    if (report_all(from, how, watchers)) return;
    if (supervisor.state().pending == Pending::nothing) {
      visit(supervisor.state(), std::move(watchers), from, how);
      return;
    }
    for (const NamedEvent& outcome : every_outcome(supervisor.state())) {
      std::vector<std::string> longer = how;
      if (!outcome.name.empty()) longer.insert(longer.begin(), outcome.name);
      branch(from, supervisor, copied(watchers.watcher, watchers.companion.get()), outcome.event,
             longer);
    }
  }

  bool report_all(std::size_t from, const std::vector<std::string>& how, const Watchers& watchers) {
    std::vector<std::string> violations = watchers.watcher.violations();
    if (watchers.companion) {
      const std::vector<std::string>& more = watchers.companion->violations();
      violations.insert(violations.end(), more.begin(), more.end());
    }
    for (const std::string& violation : violations)
      report(from, how, violation);
    return !violations.empty();
  }

  void visit(const State& raw, Watchers watchers, std::size_t parent,
             const std::vector<std::string>& how) {
    const std::map<Generation, Generation> ranks = ranks_of(raw);
    const State state = renumbered(normalised(raw), ranks);
    watchers.watcher.let_time_pass(0);
    watchers.watcher.renumber(ranks);
    std::string accounts = watchers.watcher.print();
    if (watchers.companion) {
      watchers.companion->set_deadlines(later, {});
      watchers.companion->renumber(ranks);
      accounts += watchers.companion->print();
    }
    const bool nothing_new =
        !nodes_.empty() && nodes_[parent].state == state && nodes_[parent].accounts == accounts;
    if (nothing_new) return;
    const std::string key = Supervisor(policy_, state).print() + accounts;
    if (!seen_.emplace(key, nodes_.size()).second) return;
    if (phase_of(state) == Phase::running) ++result_.running_states;
    check_rest(state, parent, how);
    nodes_.push_back({state, std::move(watchers.watcher), std::move(watchers.companion),
                      std::move(accounts), parent, how});
  }

  void check_rest(const State& state, std::size_t parent, const std::vector<std::string>& how) {
    if (!comes_to_rest(Supervisor(policy_, state))) report(parent, how, "Time: it never ends");
    if (phase_of(state) != Phase::running) return;
    const std::size_t events = events_to_commit(Supervisor(policy_, state));
    if (events != useful_events) report(parent, how, "Usefulness: a good upgrade does not commit");
  }

  void report(std::size_t from, const std::vector<std::string>& how, const std::string& violation) {
    std::vector<std::string> lines(how.rbegin(), how.rend());
    for (std::size_t at = from; at != 0; at = nodes_[at].parent) {
      lines.insert(lines.end(), nodes_[at].how.rbegin(), nodes_[at].how.rend());
    }
    std::string text = "# " + violation + "\n";
    for (auto line = lines.rbegin(); line != lines.rend(); ++line)
      text += *line + "\n";
    if (!full()) result_.violations.push_back(text);
  }

  // upgrade, hello, ready, stopped, exit, trial.
  static constexpr std::size_t useful_events = 6;

  const Policy& policy_;
  const StepFunction& step_;
  std::size_t violations_max_;
  std::deque<Node> nodes_;
  std::unordered_map<std::string, std::size_t> seen_;
  Exploration result_;
};

// Outcomes all succeed.
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
  Upgrade upgrade;
  upgrade.id = "useful";
  upgrade.executable = "/opt/agent-v2";
  upgrade.mode = Mode::parallel;
  upgrade.trial_ms = 1000;
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
    // What was killed ends; otherwise the next deadline passes; where there is none, by the user's
    // own choice, the agents end.
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
                    const Companion* companion) {
  return Walk(policy, step, violations_max).run(companion);
}

}  // namespace upgrader::test

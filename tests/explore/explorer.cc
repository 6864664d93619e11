#include "tests/explore/explorer.h"

#include <deque>
#include <memory>
#include <unordered_map>

namespace upgrader::test {
namespace {

using namespace agent_protocol;

// Every deadline that is set lies here, seen from an instant that is always 0.
constexpr Time later{3'600'000};

// The deadlines of a state, by name.
std::vector<std::pair<std::string, std::optional<Time>*>> deadlines_of(State& state) {
  std::vector<std::pair<std::string, std::optional<Time>*>> all;
  if (state.incumbent) all.emplace_back("incumbent", &state.incumbent->deadline);
  if (state.incumbent) all.emplace_back("incumbent's close", &state.incumbent->close_deadline);
  if (state.candidate) all.emplace_back("candidate", &state.candidate->deadline);
  if (state.candidate) all.emplace_back("candidate's close", &state.candidate->close_deadline);
  if (state.upgrade) all.emplace_back("upgrade", &state.upgrade->deadline);
  return all;
}

// The same state, seen from now on: deadlines lie ahead. What only people read is left out.
State normalised(State state) {
  for (auto& [name, deadline] : deadlines_of(state)) {
    if (*deadline) *deadline = later;
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
  // Program 1 is what serves, or is to be gone back to; 2 is the other.
  const bool on_trial =
      state.upgrade && state.incumbent && state.upgrade->generation == state.incumbent->generation;
  if (state.incumbent) state.incumbent->program = on_trial ? 2 : 1;
  if (state.candidate) state.candidate->program = 2;
  if (state.upgrade) state.upgrade->previous = 1;
  if (state.upgrade && state.upgrade->program) state.upgrade->program = 2;
  return state;
}

struct Node {
  State state;
  Watcher watcher;
  std::size_t parent = 0;
  std::vector<std::string> how;  // the lines that led here from the parent
};

class Walk {
 public:
  Walk(const Policy& policy, const StepFunction& step, std::size_t violations_max)
      : policy_(policy), step_(step), violations_max_(violations_max) {}

  Exploration run() {
    visit(State{}, Watcher(policy_.exit_grace), 0, {});
    for (std::size_t at = 0; at < nodes_.size() && !full(); ++at) {
      // A copy: the nodes move while new ones come.
      const State state = nodes_[at].state;
      for (const NamedEvent& next : every_event(state))
        take(at, state, 0, next);
      State timed = state;
      for (auto& [name, deadline] : deadlines_of(timed)) {
        if (!*deadline) continue;
        *deadline = Time(0);
        const bool incumbents = name == "incumbent";
        const Generation due = incumbents ? state.incumbent->generation : 0;
        take(at, timed, due, {"deadline of the " + name, DeadlinePassed{}});
        *deadline = later;
      }
    }
    result_.states = nodes_.size();
    return std::move(result_);
  }

 private:
  bool full() const { return result_.violations.size() >= violations_max_; }

  void take(std::size_t at, const State& state, Generation due, const NamedEvent& next) {
    Watcher watcher = nodes_[at].watcher;
    watcher.let_time_pass(due);
    branch(at, Supervisor(policy_, state), std::move(watcher), next.event, {next.name}, next.then);
  }

  // One event, and every outcome of what it asks for.
  void branch(std::size_t from, Supervisor supervisor, Watcher watcher, const Event& event,
              std::vector<std::string> how, const std::optional<Event>& then) {
    result_.cells.emplace(supervisor.phase(), event.index());
    const Actions actions = step_(supervisor, event, Time(0));
    ++result_.edges;
    watcher.see(event, actions, Time(0));
    for (const std::string& violation : watcher.violations())
      report(from, how, violation);
    if (!watcher.violations().empty()) return;
    if (supervisor.state().pending == Pending::nothing) {
      visit(supervisor.state(), watcher, from, how);
      return;
    }
    for (const NamedEvent& outcome : every_outcome(supervisor.state())) {
      std::vector<std::string> longer = how;
      if (!outcome.name.empty()) longer.insert(longer.begin(), outcome.name);
      branch(from, supervisor, watcher, outcome.event, longer, then);
    }
  }

  void visit(const State& raw, Watcher watcher, std::size_t parent,
             const std::vector<std::string>& how) {
    const std::map<Generation, Generation> ranks = ranks_of(raw);
    const State state = renumbered(normalised(raw), ranks);
    watcher.let_time_pass(0);
    watcher.renumber(ranks);
    const std::string key = Supervisor(policy_, state).print() + watcher.print();
    if (!seen_.emplace(key, nodes_.size()).second) return;
    if (phase_of(state) == Phase::running) ++result_.running_states;
    check_rest(state, parent, how);
    nodes_.push_back({state, std::move(watcher), parent, how});
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

Exploration explore(const Policy& policy, const StepFunction& step, std::size_t violations_max) {
  return Walk(policy, step, violations_max).run();
}

}  // namespace upgrader::test

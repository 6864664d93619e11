#include "tests/simulation/guide.h"

#include <algorithm>
#include <csignal>

#include "tests/simulation/agent_double.h"
#include "tests/simulation/judge.h"

namespace upgrader::simulation {

using namespace agent_protocol;
using test::EventKind;
using test::is_signal_id;
using test::Speaker;

namespace {

bool is_last_word(test::EventClass event) {
  return dies_in(event) != Speaker::nobody && test::speaker_of(event) != Speaker::stranger;
}

bool changes_nothing(const test::Move& move) {
  return move.whole && move.to == move.from;
}

// What puppets can do many of in one go.
bool is_speech(EventKind kind) {
  return kind <= EventKind::last_upgrade || kind == EventKind::unknown ||
         kind == EventKind::malformed_upgrade || kind == EventKind::malformed ||
         kind == EventKind::stray;
}

// Changes nothing, and can be done with much else wherever a guide has come to.
bool comes_by_the_way(const test::Move& move) {
  if (!changes_nothing(move)) return false;
  if (test::speaker_of(move.steps[0]) == Speaker::stranger) return true;
  const EventKind kind = test::kind_of(move.steps[0]);
  return kind != EventKind::cancel_at_limit && kind != EventKind::is_deaf &&
         kind != EventKind::closes_output && kind != EventKind::closes_input &&
         !is_last_word(move.steps[0]);
}

// An id of this kind that the supervisor knows, or one that it does not.
std::string id_of(const Agent& agent, const State& state, bool by_signal) {
  if (state.upgrade && is_signal_id(state.upgrade->id) == by_signal) return state.upgrade->id;
  if (agent.told_id && is_signal_id(*agent.told_id) == by_signal) return *agent.told_id;
  return by_signal ? "sigusr2-1" : "u1";
}

// The requests of the exploration, in its order.
Upgrade request_for(std::size_t which, Random& random) {
  Upgrade upgrade;
  upgrade.id = "u1";
  upgrade.executable = "/opt/agent-v2";
  if (which == 1 || which == 7) upgrade.on_unclean_stop = UncleanStop::carry_on;
  if (which == 1 || which == 5) upgrade.trial_ms = 0;
  if (which == 2 || which == 3) upgrade.gate = Gate::confirm;
  if (which == 2) upgrade.confirm_timeout_ms = random.between(10, 100'000);
  if (which == 3) upgrade.start_timeout_ms = 0;
  if (which == 4 || which == 5) upgrade.commit = CommitRule::healthy;
  if (which == 6 || which == 7) upgrade.mode = Mode::sequential;
  return upgrade;
}

std::optional<AgentMessage> message_for(EventKind kind, const Agent& agent, const State& state,
                                        Random& random) {
  if (kind >= EventKind::first_upgrade && kind <= EventKind::last_upgrade) {
    return request_for(
        static_cast<std::size_t>(kind) - static_cast<std::size_t>(EventKind::first_upgrade),
        random);
  }
  switch (kind) {
    case EventKind::hello:
      return Hello{protocol_version, "1.0", {}};
    case EventKind::ready:
    case EventKind::last_ready:
      return Ready{};
    case EventKind::unfit:
    case EventKind::last_unfit:
      return Unfit{"broken"};
    case EventKind::confirm:
      return Confirm{id_of(agent, state, state.upgrade && is_signal_id(state.upgrade->id))};
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
      return Extend{random.one_of<std::int64_t>({1, 300, 60'000, 86'400'000})};
    case EventKind::extend_at_limit:
      return Extend{random.one_of<std::int64_t>({60'000, 86'400'000})};
    case EventKind::heartbeat:
      return Heartbeat{};
    case EventKind::status:
      return Status{"fine"};
    default:
      return std::nullopt;
  }
}

void shuffle(std::vector<std::uint32_t>& moves, Random& random) {
  for (std::size_t left = moves.size(); left > 1; --left)
    std::swap(moves[left - 1], moves[random.below(left)]);
}

std::optional<Time> deadline_of(const State& state, test::EventClass event) {
  const bool of_upgrade = test::kind_of(event) == EventKind::upgrade_limit;
  if (of_upgrade) return state.upgrade ? state.upgrade->deadline : std::nullopt;
  const bool of_incumbent = test::speaker_of(event) == Speaker::incumbent;
  const std::optional<Agent>& agent = of_incumbent ? state.incumbent : state.candidate;
  if (!agent) return std::nullopt;
  return test::kind_of(event) == EventKind::close_limit ? agent->close_deadline : agent->deadline;
}

}  // namespace

// ---- goals

Goals::Goals(const Atlas& atlas) {
  for (int policy = 0; policy < test::policies; ++policy) {
    const Sheet& sheet = atlas.sheet(policy);
    for (std::uint32_t move = 0; move < sheet.map.moves.size(); ++move) {
      const test::Move& its = sheet.map.moves[move];
      const bool is_goal = sheet.allowed[move] && its.whole && !comes_by_the_way(its);
      if (!is_goal) continue;
      for (const Speaker dying : {Speaker::nobody, Speaker::incumbent, Speaker::candidate}) {
        const bool possible = is_possible(sheet.map.places[its.from], its.steps[0], dying);
        if (!possible || !sheet.is_reached(its.from, dying)) continue;
        goals_.push_back({policy, move, dying});
        break;
      }
    }
  }
}

Goal Goals::goal(std::uint64_t seed) const {
  // The multiplier is prime and no divisor of the count: seeds in a row have each their own.
  return goals_[seed * 2'654'435'761U % goals_.size()];
}

// ---- the guide

MapGuide::MapGuide(Machine& machine, const Sheet& sheet, const Follower& follower, const Goal& goal)
    : machine_(machine), sheet_(sheet), follower_(follower) {
  plan_way(sheet.map.moves[goal.move].from, goal.dying);
  way_.push_back(goal.move);
  const EventKind kind = test::kind_of(sheet.map.moves[goal.move].steps[0]);
  if (kind == EventKind::is_deaf) {
    clog_ = Clog::from_ready;
  } else if (kind == EventKind::closes_input && machine.random.chance(50)) {
    clog_ = Clog::but_activate;
  } else if (machine.random.chance(20)) {
    clog_ = machine.random.chance(50) ? Clog::from_ready : Clog::but_activate;
  }
}

void MapGuide::plan_way(std::uint32_t place, Speaker dying) {
  while (place != 0 || dying != Speaker::nobody) {
    const Sheet::Way& way = sheet_.way(place, dying);
    way_.push_front(way.move);
    place = sheet_.map.moves[way.move].from;
    dying = way.dying;
  }
  const bool starts_at_once =
      test::kind_of(sheet_.map.moves[way_.empty() ? 0 : way_.front()].steps[0]) == EventKind::start;
  if (way_.empty() || !starts_at_once) return;
  const test::Move& start = sheet_.map.moves[way_.front()];
  expect_outcomes(start);
  expected_ = start.to;
  way_.pop_front();
}

bool MapGuide::begins_early() const {
  return expected_ == 0;
}

void MapGuide::expect_outcomes(const test::Move& move) {
  for (std::size_t step = 1; step < move.length; ++step)
    machine_.outcomes.push_back(move.steps[step]);
}

bool MapGuide::act(const Supervisor& supervisor) {
  machine_.outcomes.clear();
  if (supervisor.state().ended || follower_.place() == KeyTable::nothing) return false;
  if (follower_.place() != expected_) on_way_ = false;
  if (on_way_ && !way_.empty()) return go_on(supervisor);
  return wander(supervisor);
}

bool MapGuide::go_on(const Supervisor& supervisor) {
  const bool there = way_.size() == 1;
  const bool rested = std::find(rested_.begin(), rested_.end(), follower_.place()) != rested_.end();
  if (!rested) {
    rested_.push_back(follower_.place());
    say_what_changes_nothing(supervisor, there ? 1'000 : 4);
    return true;
  }
  if (do_what_changes_nothing(supervisor)) return true;
  const test::Move& move = sheet_.map.moves[way_.front()];
  if (perform(move, supervisor)) {
    // Last words are followed by the exit at once: see say_last_words().
    expected_ = sheet_.map.moves[way_.front()].to;
    way_.pop_front();
    tries_ = 0;
    return true;
  }
  if (++tries_ <= 2 && make_way(supervisor, move.steps[0])) return true;
  on_way_ = false;
  return wander(supervisor);
}

bool MapGuide::wander(const Supervisor& supervisor) {
  way_.clear();
  if (do_what_changes_nothing(supervisor)) return true;
  const std::uint32_t place = follower_.place();
  for (int tries = 0; tries < 20 && wanders_ > 0; ++tries) {
    const std::uint32_t first = sheet_.first_move[place];
    const std::uint32_t count = sheet_.first_move[place + 1] - first;
    const std::uint32_t at = first + static_cast<std::uint32_t>(machine_.random.below(count));
    const test::Move& move = sheet_.map.moves[at];
    if (!sheet_.allowed[at] || !move.whole || move.to == place) continue;
    if (machine_.random.chance(50)) say_what_changes_nothing(supervisor, 12);
    if (!perform(move, supervisor)) continue;
    --wanders_;
    return true;
  }
  return false;
}

// What is said is said in one breath, in any order; the rest is done one by one.
void MapGuide::say_what_changes_nothing(const Supervisor& supervisor, std::size_t at_most) {
  const std::uint32_t place = follower_.place();
  std::vector<std::uint32_t> moves;
  idle_.clear();
  for (std::uint32_t at = sheet_.first_move[place]; at < sheet_.first_move[place + 1]; ++at) {
    const test::Move& move = sheet_.map.moves[at];
    if (!sheet_.allowed[at] || !comes_by_the_way(move)) continue;
    const EventKind kind = test::kind_of(move.steps[0]);
    const bool in_one_breath = test::speaker_of(move.steps[0]) == Speaker::stranger ||
                               is_speech(kind) || kind == EventKind::sigterm ||
                               kind == EventKind::sigusr2 || kind == EventKind::signal;
    (in_one_breath ? moves : idle_).push_back(at);
  }
  shuffle(moves, machine_.random);
  shuffle(idle_, machine_.random);
  if (at_most < moves.size()) {
    moves.resize(at_most);
    idle_.clear();
  }
  for (const std::uint32_t at : moves)
    (void)perform(sheet_.map.moves[at], supervisor);
}

bool MapGuide::do_what_changes_nothing(const Supervisor& supervisor) {
  while (!idle_.empty()) {
    const test::Move& move = sheet_.map.moves[idle_.back()];
    idle_.pop_back();
    if (move.from == follower_.place() && perform(move, supervisor)) return true;
  }
  return false;
}

bool MapGuide::perform(const test::Move& move, const Supervisor& supervisor) {
  const State& state = supervisor.state();
  const Event event = move.steps[0];
  const Speaker speaker = test::speaker_of(event);
  if (speaker == Speaker::stranger) {
    the_judge->tell_stale(event);
    return true;
  }
  if (speaker == Speaker::nobody) {
    if (!let_pass(event, supervisor)) return false;
    expect_outcomes(move);
    return true;
  }
  const std::optional<Agent>& agent =
      speaker == Speaker::incumbent ? state.incumbent : state.candidate;
  Process* process = agent ? machine_.of(agent->generation) : nullptr;
  if (process == nullptr || process->life != Process::Life::running) return false;
  if (!perform_of(*process, *agent, event, supervisor)) return false;
  expect_outcomes(move);
  return true;
}

// Signals and deadlines, and the start.
bool MapGuide::let_pass(Event event, const Supervisor& supervisor) {
  switch (test::kind_of(event)) {
    case EventKind::start:
      machine_.lock_is_free = true;
      return true;
    case EventKind::sigterm:
      machine_.raise(machine_.random.chance(50) ? SIGTERM : SIGINT);
      return true;
    case EventKind::sigquit:
      machine_.raise(SIGQUIT);
      return true;
    case EventKind::sigusr2:
      machine_.raise(SIGUSR2);
      return true;
    case EventKind::signal:
      machine_.raise(machine_.random.chance(50) ? SIGHUP : SIGUSR1);
      return true;
    default:
      break;
  }
  const std::optional<Time> deadline = deadline_of(supervisor.state(), event);
  if (!deadline) return false;
  const Time then = std::max(*deadline, machine_.now());
  if (test::class_of(supervisor.state(), DeadlinePassed{}, then) != event) return false;
  machine_.pass_to(then);
  return true;
}

bool MapGuide::perform_of(Process& process, const Agent& agent, Event event,
                          const Supervisor& supervisor) {
  const State& state = supervisor.state();
  const EventKind kind = test::kind_of(event);
  if (is_last_word(event)) return say_last_words(process, agent, event, state);
  switch (kind) {
    case EventKind::limit:
    case EventKind::close_limit:
      return let_pass(event, supervisor);
    case EventKind::exits:
      process.end({Ending::How::exited, 0});
      return true;
    case EventKind::is_killed:
      process.end({Ending::How::signalled, SIGKILL});
      return true;
    case EventKind::closes_output:
      if (!process.output.writer) return false;
      // To the supervisor it is one which end is closed; but there is more to be said on the way.
      if (way_.size() > 1 && !agent.killed && !agent.terminated) {
        close_input(process);
        return true;
      }
      process.close_output();
      return true;
    case EventKind::closes_input:
      close_input(process);
      return true;
    case EventKind::is_deaf:
      if (process.input.capacity != 0) return false;
      process.close_input();
      return true;
    case EventKind::extend_at_limit:
    case EventKind::cancel_at_limit:
      if (!agent.deadline || !speak(process, agent, kind, state)) return false;
      machine_.pass_to(*agent.deadline);
      return true;
    default:
      return speak(process, agent, kind, state);
  }
}

// And what follows: more of them, and the exit.
bool MapGuide::say_last_words(Process& process, const Agent& agent, Event event,
                              const State& state) {
  const bool on_way = !way_.empty() && sheet_.map.moves[way_.front()].steps[0] == event;
  const bool said = speak(process, agent, test::kind_of(event), state);
  while (on_way && way_.size() > 1 && is_last_word(sheet_.map.moves[way_[1]].steps[0])) {
    way_.pop_front();
    (void)speak(process, agent, test::kind_of(sheet_.map.moves[way_.front()].steps[0]), state);
  }
  bool by_signal = machine_.random.chance(50);
  while (way_.size() <= 1 && machine_.random.chance(60)) {
    constexpr EventKind words[] = {EventKind::last_stopped, EventKind::last_unfit,
                                   EventKind::last_ready, EventKind::stray};
    (void)speak(process, agent, words[machine_.random.below(std::size(words))], state);
  }
  if (on_way && way_.size() > 1) {
    const test::EventClass ahead = sheet_.map.moves[way_[1]].steps[0];
    by_signal = test::kind_of(ahead) == EventKind::is_killed;
    way_.pop_front();
    expect_outcomes(sheet_.map.moves[way_.front()]);
  }
  process.end(by_signal ? Ending{Ending::How::signalled, SIGKILL} : Ending{Ending::How::exited, 0});
  return said;
}

bool MapGuide::speak(Process& process, const Agent& agent, EventKind kind, const State& state) {
  if (!process.output.writer) return false;
  if (kind == EventKind::unknown) {
    process.say("{\"type\":\"hullo\"}\n", Unknown{"hullo"});
  } else if (kind == EventKind::malformed_upgrade) {
    process.say("{\"type\":\"upgrade\",\"id\":\"u2\"}\n", Malformed{"upgrade", "", "u2"});
  } else if (kind == EventKind::malformed) {
    process.say("{\"type\":\"extend\"}\n", Malformed{"extend", "", std::nullopt});
  } else if (kind == EventKind::stray) {
    process.say("oops\n", Stray{});
  } else {
    const auto message = message_for(kind, agent, state, machine_.random);
    if (!message) return false;
    process.say(*message);
    clog(process, kind);
  }
  process.push(process.outbox.size());
  if (!process.outbox.empty()) process.agent->wake();
  return true;
}

// Nothing fits into its input any more.
void MapGuide::clog(Process& process, EventKind said) {
  if (clog_ == Clog::from_ready && said == EventKind::ready) process.input.capacity = 0;
  if (clog_ != Clog::but_activate) return;
  process.input.capacity = said == EventKind::ready ? 65'536 : 0;
}

// It is noticed when something is sent to it: an answer to what nobody understands.
void MapGuide::close_input(Process& process) {
  process.close_input();
  if (clog_ == Clog::but_activate) return;
  process.say("{\"type\":\"hullo\"}\n", Unknown{"hullo"});
  process.push(process.outbox.size());
}

// Another deadline is in the way: its owner asks for more time, if it may.
bool MapGuide::make_way(const Supervisor& supervisor, Event event) {
  const State& state = supervisor.state();
  const std::optional<Time> wanted = deadline_of(state, event);
  if (!wanted) return false;
  for (const std::optional<Agent>* agent : {&state.incumbent, &state.candidate}) {
    if (!*agent || !(*agent)->deadline || *(*agent)->deadline > *wanted) continue;
    if ((*agent)->deadline == wanted) continue;
    Process* process = machine_.of((*agent)->generation);
    if (process == nullptr || process->life != Process::Life::running) continue;
    if (!process->output.writer) continue;
    process->say(Extend{86'400'000});
    process->push(process->outbox.size());
    return true;
  }
  return false;
}

}  // namespace upgrader::simulation

#include "tests/simulation/guide.h"

#include <algorithm>
#include <csignal>

#include "tests/simulation/agent_double.h"
#include "tests/simulation/judge.h"
#include "tests/simulation/puppet_words.h"

namespace upgrader::simulation {

using namespace agent_protocol;
using test::EventKind;
using test::Speaker;

namespace {

// What puppets can do many of in one go.
bool is_speech(EventKind kind) {
  return kind <= EventKind::last_upgrade || kind == EventKind::unknown ||
         kind == EventKind::malformed_upgrade || kind == EventKind::malformed ||
         kind == EventKind::stray;
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
  if (test::kind_of(event) == EventKind::close_limit) return agent->close_deadline;
  if (test::kind_of(event) == EventKind::heartbeat_limit) return agent->heartbeat_deadline;
  if (test::kind_of(event) == EventKind::hello_limit) return agent->hello_deadline;
  return agent->deadline;
}

}  // namespace

MapGuide::MapGuide(Machine& machine, const Sheet& sheet, const Follower& follower, const Goal& goal)
    : machine_(machine), sheet_(sheet), follower_(follower) {
  plan_way(sheet.map.moves[goal.move].from, goal.dying);
  way_.push_back(goal.move);
  choose_clog();
}

// An agent's closed input is noticed only when something is sent to it, or has been waiting; and
// nothing may wait where an `activate` is to be what finds it closed.
void MapGuide::choose_clog() {
  const auto comes = [&](EventKind kind) {
    return std::any_of(way_.begin(), way_.end(), [&](std::uint32_t move) {
      const test::Move& its = sheet_.map.moves[move];
      return std::any_of(its.steps, its.steps + its.length,
                         [kind](Event step) { return test::kind_of(step) == kind; });
    });
  };
  const bool closes = comes(EventKind::closes_input) || comes(EventKind::closes_output);
  if (comes(EventKind::activate_lost)) {
    clog_ = Clog::never;
  } else if (machine_.random.chance(closes ? 85 : 20)) {
    clog_ = closes || machine_.random.chance(50) ? Clog::but_activate : Clog::from_ready;
  }
}

void MapGuide::plan_way(std::uint32_t place, Speaker dying) {
  const std::size_t choice = machine_.random.below(Sheet::choices);
  while (place != 0 || dying != Speaker::nobody) {
    const Sheet::Way& way = sheet_.way(place, dying, choice);
    way_.push_front(way.move);
    place = sheet_.map.moves[way.move].from;
    dying = way.dying;
  }
  const bool starts_at_once =
      test::kind_of(sheet_.map.moves[way_.empty() ? 0 : way_.front()].steps[0]) == EventKind::start;
  if (way_.empty() || !starts_at_once) return;
  const test::Move& start = sheet_.map.moves[way_.front()];
  expect_outcomes(start, State{});
  expected_ = start.to;
  way_.pop_front();
}

bool MapGuide::begins_early() const {
  return expected_ == 0;
}

void MapGuide::expect_outcomes(const test::Move& move, const State& state) {
  for (std::size_t step = 1; step < move.length; ++step) {
    const EventKind outcome = test::kind_of(move.steps[step]);
    const bool of_activate = outcome == EventKind::activate_written ||
                             outcome == EventKind::activate_waits ||
                             outcome == EventKind::activate_lost;
    if (of_activate) {
      let_activate(outcome, state);
    } else {
      machine_.outcomes.push_back(move.steps[step]);
    }
  }
}

// What will become of the `activate` that is to be sent to the agent that is held.
void MapGuide::let_activate(EventKind outcome, const State& state) {
  const std::optional<Agent>& agent = state.candidate ? state.candidate : state.incumbent;
  Process* process = agent ? machine_.of(agent->generation) : nullptr;
  if (process == nullptr) return;
  process->input.capacity = outcome == EventKind::activate_waits ? 0 : 65'536;
  if (outcome == EventKind::activate_lost) process->close_input();
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
    let_some_time_pass(supervisor);
    let_replies_wait(supervisor);
    say_what_changes_nothing(supervisor, there ? 1'000 : 4);
    return true;
  }
  if (do_what_changes_nothing(supervisor)) return true;
  const test::Move& move = sheet_.map.moves[way_.front()];
  hurry_to_deadline(supervisor);
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

// Deadlines that were set in one instant pass in one order only; these are not.
void MapGuide::let_some_time_pass(const Supervisor& supervisor) {
  if (!machine_.random.chance(30)) return;
  const std::optional<Time> next = supervisor.next_deadline();
  const Duration left = next ? *next - machine_.now() : Duration(1'000);
  if (left <= Duration(1)) return;
  machine_.pass_to(machine_.now() + Duration(machine_.random.between(0, left.count() / 2)));
}

// After a pipe has been closed there is little time left: another deadline passes first only if it
// is near by then.
void MapGuide::hurry_to_deadline(const Supervisor& supervisor) {
  const auto event_of = [&](std::uint32_t move) { return sheet_.map.moves[move].steps[0]; };
  const EventKind kind = test::kind_of(event_of(way_.front()));
  if (kind != EventKind::closes_input && kind != EventKind::closes_output) return;
  const auto passes = std::find_if(way_.begin(), way_.end(), [&](std::uint32_t move) {
    const EventKind its = test::kind_of(event_of(move));
    return its == EventKind::limit || its == EventKind::heartbeat_limit ||
           its == EventKind::hello_limit || its == EventKind::upgrade_limit ||
           its == EventKind::extend_at_limit || its == EventKind::cancel_at_limit;
  });
  if (passes == way_.end()) return;
  const std::optional<Time> deadline = deadline_of(supervisor.state(), event_of(*passes));
  if (!deadline || supervisor.next_deadline() != deadline) return;
  machine_.pass_to(*deadline - Duration(machine_.random.between(1, 150)));
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
    expect_outcomes(move, state);
    return true;
  }
  const std::optional<Agent>& agent =
      speaker == Speaker::incumbent ? state.incumbent : state.candidate;
  Process* process = agent ? machine_.of(agent->generation) : nullptr;
  if (process == nullptr || process->life != Process::Life::running) return false;
  if (!perform_of(*process, *agent, event, supervisor)) return false;
  expect_outcomes(move, state);
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
  if (!comes_to_pass(event, supervisor, then)) return false;
  machine_.pass_to(then);
  return true;
}

// First or behind others that change nothing.
bool MapGuide::comes_to_pass(Event event, Supervisor supervisor, Time then) const {
  for (int others = 0; others < 3; ++others) {
    const Event next = test::class_of(supervisor.state(), DeadlinePassed{}, then);
    if (next == event) return true;
    if (destination(next) != follower_.place()) return false;
    (void)supervisor.step(DeadlinePassed{}, then);
  }
  return false;
}

// Where an event leads to from here that asks for no outcome; nullopt: the map does not know it.
std::optional<std::uint32_t> MapGuide::destination(Event event) const {
  const std::uint32_t place = follower_.place();
  for (std::uint32_t at = sheet_.first_move[place]; at < sheet_.first_move[place + 1]; ++at) {
    const test::Move& move = sheet_.map.moves[at];
    if (move.length == 1 && move.steps[0] == event && move.whole) return move.to;
  }
  return std::nullopt;
}

bool MapGuide::perform_of(Process& process, const Agent& agent, Event event,
                          const Supervisor& supervisor) {
  const State& state = supervisor.state();
  const EventKind kind = test::kind_of(event);
  if (is_last_word(event)) return say_last_words(process, agent, event, state);
  switch (kind) {
    case EventKind::limit:
    case EventKind::close_limit:
    case EventKind::heartbeat_limit:
    case EventKind::hello_limit:
      return let_pass(event, supervisor);
    case EventKind::exits:
      process.end({Ending::How::exited, 0});
      return true;
    case EventKind::is_killed:
      process.end({Ending::How::signalled, SIGKILL});
      return true;
    case EventKind::closes_output:
      // There may be more to be said on the way.
      if (way_.size() > 1 && is_one_which(agent, event) && close_input(process, agent)) return true;
      if (!process.output.writer) return false;
      process.close_output();
      return true;
    case EventKind::closes_input:
      return close_input(process, agent);
    case EventKind::takes_activate:
      process.input.capacity = 65'536;
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
    expect_outcomes(sheet_.map.moves[way_.front()], state);
  }
  process.end(by_signal ? Ending{Ending::How::signalled, SIGKILL} : Ending{Ending::How::exited, 0});
  return said;
}

bool MapGuide::speak(Process& process, const Agent& agent, EventKind kind, const State& state) {
  if (!process.output.writer) return false;
  clog(process, kind);
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

// Something is queued for it that its input has no room for.
bool MapGuide::has_unsent(const Process& process) {
  return process.input.capacity == 0 && !process.orders.empty();
}

// Closes the agent's input. The upgrader notices by unsent output, or by a provoked `error` that it
// cannot write. False, and not closed: it would notice by neither.
bool MapGuide::close_input(Process& process, const Agent& agent) {
  if (!process.input.reader || !has_unsent(process)) {
    if (agent.killed || agent.terminated || !process.output.writer) return false;
    process.say("{\"type\":\"hullo\"}\n", Unknown{"hullo"});
    process.push(process.outbox.size());
  }
  process.close_input();
  return true;
}

// True if closing either end leads to the same place.
bool MapGuide::is_one_which(const Agent& agent, Event closes_output) const {
  const Event closes_input =
      test::class_for(test::speaker_of(closes_output), EventKind::closes_input);
  return !agent.output_closed && destination(closes_output) == destination(closes_input);
}

// Leaves replies unsent, so that a later close of the input is noticed.
void MapGuide::let_replies_wait(const Supervisor& supervisor) {
  if (clog_ == Clog::never) return;
  const State& state = supervisor.state();
  for (const std::optional<Agent>* agent : {&state.incumbent, &state.candidate}) {
    if (!*agent || (*agent)->killed || (*agent)->terminated) continue;
    Process* process = machine_.of((*agent)->generation);
    if (process == nullptr || process->life != Process::Life::running) continue;
    const bool may_clog = clog_ == Clog::but_activate || process->input.capacity == 0;
    if (may_clog && !has_unsent(*process))
      (void)speak(*process, **agent, EventKind::unknown, state);
  }
}

// Another deadline is in the way: its owner asks for more time, if it may, or has a heartbeat.
bool MapGuide::make_way(const Supervisor& supervisor, Event event) {
  const State& state = supervisor.state();
  const std::optional<Time> wanted = deadline_of(state, event);
  if (!wanted) return false;
  for (const Speaker speaker : {Speaker::incumbent, Speaker::candidate}) {
    const auto& agent = speaker == Speaker::incumbent ? state.incumbent : state.candidate;
    Process* process = agent ? machine_.of(agent->generation) : nullptr;
    if (process == nullptr || process->life != Process::Life::running) continue;
    if (!process->output.writer) continue;
    const auto is_in_the_way = [&](EventKind kind) {
      const Event its = test::class_for(speaker, kind);
      const std::optional<Time> deadline = deadline_of(state, its);
      return its != event && deadline && *deadline <= *wanted;
    };
    if (is_in_the_way(EventKind::heartbeat_limit)) {
      machine_.pass_to(*supervisor.next_deadline() - Duration(1));
      process->say(Heartbeat{});
    } else if (is_in_the_way(EventKind::limit)) {
      process->say(Extend{86'400'000});
    } else {
      continue;
    }
    process->push(process->outbox.size());
    return true;
  }
  return false;
}

}  // namespace upgrader::simulation

#include "tests/together/simulation/guide.h"

#include <algorithm>

#include "tests/together/simulation/judge.h"
#include "tests/together/simulation/rehearsal.h"
#include "upgrader/core/options.h"

namespace upgrader::simulation {

using namespace agent_protocol;
using test::EventKind;
using test::Speaker;

namespace {

// Returns true if an event of this kind postpones a deadline, and changes nothing else.
bool puts_off(EventKind kind) {
  return kind == EventKind::extend || kind == EventKind::heartbeat;
}

void shuffle(std::vector<std::uint32_t>& moves, Random& random) {
  for (std::size_t left = moves.size(); left > 1; --left)
    std::swap(moves[left - 1], moves[random.below(left)]);
}

}  // namespace

bool is_last_word(test::EventClass event) {
  return dies_in(event) != Speaker::nobody && test::speaker_of(event) != Speaker::stranger;
}

bool is_speech(test::EventClass event) {
  const EventKind kind = test::kind_of(event);
  return kind <= EventKind::last_upgrade || kind == EventKind::unknown ||
         kind == EventKind::malformed_upgrade || kind == EventKind::malformed ||
         kind == EventKind::stray;
}

bool closes(test::EventClass event) {
  const EventKind kind = test::kind_of(event);
  return kind == EventKind::closes_input || kind == EventKind::closes_output;
}

bool comes_by_the_way(const test::Move& move) {
  const bool changes_nothing = move.whole && move.to == move.from;
  if (!changes_nothing) return false;
  if (test::speaker_of(move.steps[0]) == Speaker::stranger) return true;
  const EventKind kind = test::kind_of(move.steps[0]);
  return kind != EventKind::cancel_at_limit && kind != EventKind::extend_at_limit &&
         !closes(move.steps[0]) && !is_last_word(move.steps[0]);
}

Goals::Goals(const Atlas& atlas) {
  for (int policy = 0; policy < test::all_policies; ++policy) {
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
  // The factor is a prime that does not divide N, the number of goals. So N consecutive guided
  // seeds get N different goals. The factor is large, so that two consecutive seeds get goals that
  // are far apart in the list.
  return goals_[guided_up_to(seed) * 2'654'435'761U % goals_.size()];
}

// Returns the run's options as the exploration, which made the maps, would set them. Without a
// gate, the exploration sets no limit for the wait for `confirm`, so this limit is removed.
Policy followed_policy(const Swarm& swarm) {
  Policy policy = policy_of(swarm.options, swarm.watchdog);
  if (swarm.options.defaults.gate == agent_protocol::Gate::none)
    policy.defaults.confirm_timeout = {};
  return policy;
}

MapGuide::MapGuide(Machine& machine, const Sheet& sheet, const Follower& follower, const Goal& goal,
                   Swarm& swarm)
    : machine_(machine), sheet_(sheet), follower_(follower) {
  for (int plan = 0; plan < plans_max; ++plan) {
    plan_way(sheet.map.moves[goal.move].from, goal.dying);
    way_.push_back(goal.move);
    if (finds_time(swarm)) break;
  }
  choose_clog();
  begin();
}

// Tries to find time limits with which the run can make all moves to its goal. Tries the run's own
// limits first, and then random ones. If all draws_max tries fail, returns false, and the run keeps
// the limits of the last try.
bool MapGuide::finds_time(Swarm& swarm) {
  const auto any = [&](auto is) {
    return std::any_of(way_.begin(), way_.end(),
                       [&](std::uint32_t move) { return is(sheet_.map.moves[move].steps[0]); });
  };
  pauses_.clear();
  const bool timed = any(is_timed);
  if (!timed && !any([](Event event) { return closes(event); })) return true;
  for (int draw = 0; draw < draws_max; ++draw) {
    if (draw > 0) draw_limits(swarm);
    Rehearsal rehearsal(sheet_, followed_policy(swarm), said_, machine_.random);
    if (!rehearsal.run(way_)) continue;
    if (timed) pauses_.assign(rehearsal.pauses().begin(), rehearsal.pauses().end());
    return true;
  }
  return false;
}

// Draws new random values for the time limits that are set. A limit that is not set stays unset.
void MapGuide::draw_limits(Swarm& swarm) {
  Options& options = swarm.options;
  const auto draw = [&](Duration& limit) {
    if (limit != Duration(0)) limit = some_time(machine_.random);
  };
  draw(options.defaults.start_timeout);
  draw(options.defaults.stop_timeout);
  draw(options.defaults.trial);
  draw(options.exit_grace);
  Terms& terms = options.defaults;
  const bool gate = terms.gate == agent_protocol::Gate::confirm;
  if (gate) draw(terms.confirm_timeout);
  if (!gate) terms.confirm_timeout = terms.start_timeout;
  if (swarm.watchdog != Duration(0)) {
    swarm.watchdog = machine_.random.chance(50) ? some_time(machine_.random) + Duration(2'000)
                                                : Duration(86'400'000);
  }
  said_.confirm_timeout_ms = machine_.random.between(10, 100'000);
  said_.extend_ms = machine_.random.one_of<std::int64_t>({60'000, 86'400'000});
}

void MapGuide::plan_way(std::uint32_t place, Speaker dying) {
  way_.clear();
  const std::size_t choice = machine_.random.below(Sheet::choices);
  while (place != 0 || dying != Speaker::nobody) {
    const Sheet::LastMove& way = sheet_.way(place, dying, choice);
    way_.push_front(way.move);
    place = sheet_.map.moves[way.move].from;
    dying = way.dying;
  }
}

void MapGuide::begin() {
  const bool starts_at_once =
      test::kind_of(sheet_.map.moves[way_.empty() ? 0 : way_.front()].steps[0]) == EventKind::start;
  if (way_.empty() || !starts_at_once) return;
  const test::Move& start = sheet_.map.moves[way_.front()];
  expect_outcomes(start, State{});
  expected_ = start.to;
  way_.pop_front();
  if (!pauses_.empty()) pauses_.pop_front();
}

bool MapGuide::begins_early() const {
  return expected_ == 0;
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
  if (makes_clear(move, supervisor.state())) return true;
  if (pauses_.empty()) hurry_to_deadline(supervisor);
  if (perform(move, supervisor)) {
    // perform() may have made several of the planned moves at once, such as an agent's last
    // messages and its exit. So the next state of the run is known only now.
    expected_ = sheet_.map.moves[way_.front()].to;
    leave_move();
    arrived_ = way_.empty();
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

void MapGuide::leave_move() {
  way_.pop_front();
  if (!pauses_.empty()) pauses_.pop_front();
}

// Lets time pass before a move: as much as the rehearsal (rehearsal.h) has found, or else a random
// time, mostly 0. Without pauses, many deadlines would be set at the same instant, and would always
// pass in the same order.
void MapGuide::let_some_time_pass(const Supervisor& supervisor) {
  if (!pauses_.empty()) {
    machine_.pass_to(machine_.now() + pauses_.front());
    return;
  }
  if (!machine_.random.chance(30)) return;
  const std::optional<Time> next = supervisor.next_deadline();
  const Duration left = next ? *next - machine_.now() : Duration(1'000);
  if (left <= Duration(1)) return;
  machine_.pass_to(machine_.now() + Duration(machine_.random.between(0, left.count() / 2)));
}

// Lets time pass until shortly before the next deadline, if the next move closes a pipe and a later
// move needs this deadline to pass. An agent that has closed a pipe is soon killed, so a distant
// deadline could not pass before the kill.
void MapGuide::hurry_to_deadline(const Supervisor& supervisor) {
  const auto event_of = [&](std::uint32_t move) { return sheet_.map.moves[move].steps[0]; };
  if (!closes(event_of(way_.front()))) return;
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

// Makes the moves that leave the supervisor's state unchanged. The messages of these moves are sent
// all together, in random order. The other moves are made one by one.
void MapGuide::say_what_changes_nothing(const Supervisor& supervisor, std::size_t at_most) {
  const std::uint32_t place = follower_.place();
  std::vector<std::uint32_t> moves;
  idle_.clear();
  for (std::uint32_t at = sheet_.first_move[place]; at < sheet_.first_move[place + 1]; ++at) {
    const test::Move& move = sheet_.map.moves[at];
    if (!sheet_.allowed[at] || !comes_by_the_way(move)) continue;
    const EventKind kind = test::kind_of(move.steps[0]);
    if (!pauses_.empty() && puts_off(kind)) continue;
    // Messages, events of unknown agents, and signals after which the supervisor orders nothing are
    // sent all together. After any other signal, the supervisor orders actions whose outcomes the
    // guide must prescribe. So the guide sends such a signal alone.
    const bool is_signal =
        kind == EventKind::sigterm || kind == EventKind::sigusr2 || kind == EventKind::signal;
    const bool in_one_breath = test::speaker_of(move.steps[0]) == Speaker::stranger ||
                               is_speech(move.steps[0]) || (is_signal && move.length == 1);
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

}  // namespace upgrader::simulation

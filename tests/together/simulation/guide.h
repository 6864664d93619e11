// Leads a run of the simulation to a state of the supervisor that random runs hardly reach. The run
// has bytes, exits, signals and time like any other run. But its agents are puppets: they do only
// what the next move on the way to that state needs. In that state, the guide makes all moves that
// leave the state unchanged, and then the move that is the run's goal. After that, the run
// continues at random.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "tests/together/simulation/atlas.h"
#include "tests/together/simulation/director.h"
#include "tests/together/simulation/rehearsal.h"
#include "tests/together/simulation/swarm.h"

namespace upgrader::simulation {

// ---- goals: each guided run is led to one move of the exploration's map, its goal

// One of this many consecutive seeds gives a random run. A guide leads the runs of the other seeds
// to a goal, if the exploration's maps of the supervisor's states are loaded. Without the maps, all
// runs are random.
inline constexpr std::uint64_t unguided_every = 4;
[[nodiscard]] constexpr bool is_guided(std::uint64_t seed) {
  return seed % unguided_every != 0;
}
// Returns how many of the seeds from 1 to `seed` are guided.
[[nodiscard]] constexpr std::uint64_t guided_up_to(std::uint64_t seed) {
  return seed - seed / unguided_every;
}

// The move to which a guide leads a run. A move leads from one state of the supervisor to the next.
// `move` is its index on the map for the options `policy`.
struct Goal {
  int policy = 0;
  std::uint32_t move = 0;
  // The agent whose last words (messages that are read only after its exit) must come before the
  // move; `nobody` if no last words must come before.
  test::Speaker dying = test::Speaker::nobody;
};

// Returns whether the event is a message among an agent's last words (read after its exit).
[[nodiscard]] bool is_last_word(test::EventClass event);

// Returns whether the event is a message that a puppet can send together with many other messages.
[[nodiscard]] bool is_speech(test::EventClass event);
// Returns whether the event means that an agent has closed one of its pipes.
[[nodiscard]] bool closes(test::EventClass event);

// Returns true if this move leaves the supervisor's state unchanged, and guides make it anyway: in
// the state in which its goal begins, a guide makes all moves of this kind before the goal. So none
// of them has to be a goal itself.
[[nodiscard]] bool comes_by_the_way(const test::Move& move);

// The list of all goals. A goal is a move from one state of the supervisor to the next, to which a
// guide leads a run. The list has every move that the code in upgrader/shell allows and whose steps
// are all on the map. The list leaves out moves that guides make anyway (comes_by_the_way).
// Consecutive guided seeds get goals that are far apart in the list.
class Goals {
 public:
  explicit Goals(const Atlas& atlas);
  [[nodiscard]] Goal goal(std::uint64_t seed) const;
  [[nodiscard]] std::size_t count() const { return goals_.size(); }

 private:
  std::vector<Goal> goals_;
};

// Returns the options of this run as the exploration of the supervisor's states would set them.
[[nodiscard]] Policy followed_policy(const Swarm& swarm);

class MapGuide : public Guide {
 public:
  // Chooses a way (a sequence of moves) to the goal, and time limits with which the run can make
  // every move of this way. If no such limits are found, the run keeps random limits.
  MapGuide(Machine& machine, const Sheet& sheet, const Follower& follower, const Goal& goal,
           Swarm& swarm);

  // Returns true if the run begins while the upgrader still waits for its lock.
  [[nodiscard]] bool begins_early() const;

  bool act(const Supervisor& supervisor) override;

  // Returns true if the run has made the move to which it was led.
  [[nodiscard]] bool arrived() const { return arrived_; }

 private:
  using Event = test::EventClass;
  static constexpr int plans_max = 6;  // how many ways to its goal a run tries at most
  static constexpr int draws_max = 8;  // how many sets of time limits a run tries for each way
  void plan_way(std::uint32_t place, test::Speaker dying);
  bool finds_time(Swarm& swarm);
  void draw_limits(Swarm& swarm);
  void begin();
  void leave_move();
  void expect_outcomes(const test::Move& move, const State& state);
  void let_activate(test::EventKind outcome, const State& state);
  bool go_on(const Supervisor& supervisor);
  bool wander(const Supervisor& supervisor);
  void say_what_changes_nothing(const Supervisor& supervisor, std::size_t at_most);
  bool do_what_changes_nothing(const Supervisor& supervisor);
  // Makes the event of this move happen: for example, makes an agent send a message, lets a
  // deadline pass, or signals the upgrader. Sets the outcomes of the orders that the supervisor
  // then gives. Returns false if the event cannot happen now.
  bool perform(const test::Move& move, const Supervisor& supervisor);
  bool perform_of(Process& process, const Agent& agent, Event event, const Supervisor& supervisor);
  bool say_last_words(Process& process, const Agent& agent, Event event, const State& state);
  bool speak(Process& process, const Agent& agent, test::EventKind kind, const State& state);
  bool let_pass(Event event, const Supervisor& supervisor);
  bool make_way(const Supervisor& supervisor, Event event);
  static bool has_unsent(const Process& process);
  bool close_input(Process& process, const Agent& agent);
  [[nodiscard]] bool is_one_which(const Agent& agent, Event closes_output) const;
  void choose_clog();
  [[nodiscard]] bool is_ahead(test::EventKind kind) const;
  [[nodiscard]] bool says_more(test::Speaker speaker) const;
  [[nodiscard]] bool is_kept_clear(const Agent& agent) const;
  bool makes_clear(const test::Move& move, const State& state);
  void let_replies_wait(const Supervisor& supervisor);
  void let_some_time_pass(const Supervisor& supervisor);
  void hurry_to_deadline(const Supervisor& supervisor);
  bool comes_to_pass(Event event, Supervisor supervisor, Time then) const;
  void clog(Process& process, bool makes_ready);

  Machine& machine_;
  const Sheet& sheet_;
  const Follower& follower_;
  std::deque<std::uint32_t> way_;  // the moves that the guide still has to make to reach its goal
  // The pauses before the moves of way_, one for each move. The list is empty if no deadline has to
  // pass on the way.
  std::deque<Duration> pauses_;
  SaidTimes said_;
  std::uint32_t expected_ = 0;  // the place of the map to which the current move must lead
  bool on_way_ = true;
  bool arrived_ = false;
  int wanders_ = 8;
  int tries_ = 0;
  // The states (places of the map) in which the guide has already sent messages that do not change
  // the supervisor's state.
  std::vector<std::uint32_t> rested_;
  // Moves that the guide still has to make, one by one, in the current state of the supervisor.
  // They do not change this state.
  std::vector<std::uint32_t> idle_;

  // Whether agents leave messages unread in their input pipe. never: they read everything.
  // from_ready: they read nothing after their `ready`. but_activate: they read only an `activate`.
  // Unread bytes stay in the pipe as long as the agent lives.
  enum class Clog { never, from_ready, but_activate };
  Clog clog_ = Clog::never;
};

}  // namespace upgrader::simulation

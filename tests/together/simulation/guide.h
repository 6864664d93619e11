// Leads a run to a far place of the exploration's map, through bytes, exits, signals and time as
// any other run has them: agents are puppets that say and do what the next move on the way asks
// for. There it lets them do all that changes nothing, then one thing that does, and wanders on.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "tests/together/simulation/atlas.h"
#include "tests/together/simulation/director.h"
#include "tests/together/simulation/goals.h"
#include "tests/together/simulation/puppet_words.h"
#include "tests/together/simulation/swarm.h"

namespace upgrader::simulation {

// The policy, as the exploration names it.
[[nodiscard]] Policy followed_policy(const Swarm& swarm);

class MapGuide : public Guide {
 public:
  // Sets the swarm's limits so that the way can be gone by the clock, where such are found.
  MapGuide(Machine& machine, const Sheet& sheet, const Follower& follower, const Goal& goal,
           Swarm& swarm);

  // True if the run begins before the upgrader may start, which waits for its lock.
  [[nodiscard]] bool begins_early() const;

  bool act(const Supervisor& supervisor) override;

  // True if the run has made the move to which it was led.
  [[nodiscard]] bool arrived() const { return arrived_; }

 private:
  using Event = test::EventClass;
  // So many ways are tried, and so many limits for each.
  static constexpr int plans_max = 6;
  static constexpr int draws_max = 8;
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
  // False: it cannot be done now.
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
  std::deque<std::uint32_t> way_;  // moves yet to be made
  std::deque<Duration> pauses_;    // before each of these; none where no deadline is on the way
  SaidTimes said_;
  std::uint32_t expected_ = 0;  // place
  bool on_way_ = true;
  bool arrived_ = false;
  int wanders_ = 8;
  int tries_ = 0;
  std::vector<std::uint32_t> rested_;  // places in which enough was said that changes nothing
  std::vector<std::uint32_t> idle_;    // moves that change nothing, yet to be made

  // When agents do not read their input: nothing of it is lost while they live.
  enum class Clog { never, from_ready, but_activate };
  Clog clog_ = Clog::never;
};

}  // namespace upgrader::simulation

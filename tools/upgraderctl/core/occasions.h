// Decides when the command of `upgraderctl on` runs, and which variables it gets. It is called with
// each look at the control directory and at the end of each command; occasion_runner.h looks and
// runs. The command runs at these occasions:
//
//   good      once in each run of the upgrader, when an agent has been active for some time and is
//             not on trial; and at each commit
//   commit    at each upgrade that was committed
//   fallback  at each upgrade that fell back
//
// Upgrades that ended before the first look are taken from both status files, oldest first. Only
// this process remembers the occasions for which it has run the command: the next process may run
// it once more for the same ones, but none is left out. A command that fails is run again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent-protocol/cpp/control/look.h"

namespace upgraderctl {

enum class Occasion { good, commit, fallback };

// The most occasions that wait for the command to run. If there are more, the oldest one whose
// command is not running is dropped.
inline constexpr std::size_t occasions_waiting_max = 64;
// The pause between a failed command and the next try.
inline constexpr Duration occasion_retry = std::chrono::seconds{10};

// The variables that a command gets in its environment, as NAME=VALUE.
using OccasionEnvironment = std::vector<std::string>;

class Occasions {
 public:
  // Makes the object for one kind of occasion. `after` is the time for which an agent must be
  // active before it is good.
  Occasions(Occasion kind, Duration after) : kind_(kind), after_(after) {}

  void looked(const Look& look, Duration now);
  // Notes that the command has ended. `well` is true if it exited with status 0; otherwise it is
  // run again later.
  void command_ended(bool well, Duration now);

  // Returns the environment of the command that must run now, or nothing if none must. The command
  // then counts as running until command_ended() is called.
  [[nodiscard]] std::optional<OccasionEnvironment> next(Duration now);
  // Returns when to look at the directory and to call next() again, if nothing happens before.
  [[nodiscard]] std::optional<Duration> next_deadline() const;

 private:
  void look_at_endings(const Status& status, std::vector<std::string>& keys);
  void look_at_active(const Look& look, Duration now);
  [[nodiscard]] bool concerns(const Ending& ending) const;
  void add(OccasionEnvironment environment);

  Occasion kind_;
  Duration after_;
  std::vector<std::string> seen_;  // keys of the endings that were in the status at the last look
  std::vector<OccasionEnvironment> waiting_;
  bool running_ = false;
  std::optional<Duration> retry_at_;
  std::string good_life_;  // the run of the upgrader in which `good` has been reached already
  // The agent that was active at the last look, and when it was first seen active.
  std::string active_;
  std::optional<Duration> active_since_;  // absent if no agent is active, or `good` was reached
};

}  // namespace upgraderctl

// Decides when the command of `upgraderctl on` runs, and what it is told. It sees each look at the
// control directory and the end of each command; occasion_runner.h looks and runs.
//
//   good      once in each life of the upgrader, when the agent that is active then has been so for
//             some time and is not on trial; and at each commit
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

// Occasions that wait for the command that runs. The oldest of more is dropped.
inline constexpr std::size_t occasions_waiting_max = 64;
// From a command that has failed to the next attempt.
inline constexpr Duration occasion_retry = std::chrono::seconds{10};

// A command has these in its environment, as NAME=VALUE.
using OccasionEnvironment = std::vector<std::string>;

class Occasions {
 public:
  // `after`: how long an agent has to be active to be good.
  Occasions(Occasion kind, Duration after) : kind_(kind), after_(after) {}

  void looked(const Look& look, Duration now);
  // `well`: it exited with status 0.
  void command_ended(bool well, Duration now);

  // The environment of the command that is to run now; it then counts as running.
  [[nodiscard]] std::optional<OccasionEnvironment> next(Duration now);
  // When to look and to call next() again, if nothing happens before.
  [[nodiscard]] std::optional<Duration> next_deadline() const;

 private:
  void look_at_endings(const Status& status, std::vector<std::string>& keys);
  void look_at_active(const Look& look, Duration now);
  [[nodiscard]] bool concerns(const Ending& ending) const;
  void add(OccasionEnvironment environment);

  Occasion kind_;
  Duration after_;
  std::vector<std::string> seen_;  // the endings in the files that were looked at last
  std::vector<OccasionEnvironment> waiting_;
  bool running_ = false;
  std::optional<Duration> retry_at_;
  std::string good_life_;                 // the life whose agent has been called good
  std::string active_;                    // the agent that is active, and since when it was seen
  std::optional<Duration> active_since_;  // nothing: none is, or it has been called good
};

}  // namespace upgraderctl

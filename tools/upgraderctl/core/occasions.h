// Decides when `upgraderctl on` runs its command, and with which environment variables. Called
// whenever the control directory was read, and when the command has ended. runner.h reads the
// directory and runs the command. The command is run on these occasions:
//
//   good      once in each run of the upgrader, when an agent has been active for some time and is
//             not on trial; and at each commit
//   commit    at each upgrade that was committed
//   fallback  at each upgrade that fell back
//
// Upgrades that had ended before the first reading are found in status.json and previous.json; the
// oldest comes first. Only this process remembers for which occasions it has run the command. So
// the next process may run the command once more for the same occasions, but it leaves none out. A
// command that fails is run again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent-protocol/cpp/control/look.h"

namespace upgraderctl {

enum class Occasion { good, commit, fallback };

// The most occasions that wait for their command. If there are more, the oldest one is dropped
// whose command is neither running nor about to be run again.
inline constexpr std::size_t occasions_waiting_max = 64;
// The pause before a command that has failed is run again.
inline constexpr Duration occasion_retry = std::chrono::seconds{10};

// The variables that a command gets in its environment, as NAME=VALUE.
using OccasionEnvironment = std::vector<std::string>;

class Occasions {
 public:
  // Makes the object for one kind of occasion. For `good`, `after` is how long an agent must have
  // been active.
  Occasions(Occasion kind, Duration after) : kind_(kind), after_(after) {}

  void looked(const Look& look, Duration now);
  // Records that the command has ended. `well` is true if it exited with status 0. Otherwise it
  // will be run again.
  void command_ended(bool well, Duration now);

  // Returns the environment for the command if it must run now, or nothing. The command then counts
  // as running until command_ended() is called.
  [[nodiscard]] std::optional<OccasionEnvironment> next(Duration now);
  // Returns when to read the directory and to call next() again, even if nothing changes before.
  [[nodiscard]] std::optional<Duration> next_deadline() const;

 private:
  void look_at_endings(const Status& status, std::vector<std::string>& keys);
  void look_at_active(const Look& look, Duration now);
  [[nodiscard]] bool concerns(const Ending& ending) const;
  void add(OccasionEnvironment environment);

  Occasion kind_;
  Duration after_;
  std::vector<std::string> seen_;  // identifiers of the endings in the last status that was read
  std::vector<OccasionEnvironment> waiting_;
  bool running_ = false;
  std::optional<Duration> retry_at_;
  std::string good_life_;  // the run of the upgrader in which the occasion `good` has come
  // The agent that was active in the last status that was read, and since when.
  std::string active_;
  // absent if no agent is active, or after the occasion `good`
  std::optional<Duration> active_since_;
};

}  // namespace upgraderctl

// Decides when `upgraderctl on` runs its command, and with which environment variables. Also ends
// `upgraderctl on` if the rights to read the status are missing. runner.h reads the control
// directory and runs the command. The command is run on these occasions:
//
//   good      once in each run of the upgrader, when an agent has been active for some time and is
//             not on trial; also at each commit of an upgrader that this process has seen running
//   commit    at each upgrade that was committed
//   fallback  at each upgrade that fell back
//
// The command also runs for upgrades that had ended before upgraderctl was started, the oldest
// first, as far as status.json and previous.json show them. A command that fails is run again. If
// upgraderctl is restarted, the command may run a second time for the same occasion, because only
// this process remembers for which occasions the command has run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/upgraderctl/core/decider.h"
#include "tools/upgraderctl/core/missing_rights.h"

namespace upgraderctl {

enum class Occasion { good, commit, fallback };

// An occasion is an event, such as a commit, for which the command must run. At most this many
// occasions wait for their turn. If there are more, the oldest is dropped, but not an occasion
// whose command is running or will be run again.
inline constexpr std::size_t occasions_waiting_max = 64;
// If the command fails, it is run again after this pause.
inline constexpr Duration occasion_retry = std::chrono::seconds{10};

// The variables that a command gets in its environment, as NAME=VALUE.
using OccasionEnvironment = std::vector<std::string>;

class Occasions {
 public:
  // Makes an object that decides when the command runs for the occasions of this kind. If the kind
  // is `good`, `after` is how long an agent must have been active before the occasion comes.
  Occasions(Occasion kind, Duration after) : kind_(kind), after_(after) {}

  // Records what was read of the control directory. If the rights to read the status have been
  // missing for some time, returns how `upgraderctl on` must end, because it would never see an
  // occasion. Otherwise returns nothing.
  [[nodiscard]] std::optional<Finish> looked(const Look& look, Duration now);
  // Records that the command has exited. `well` is true if its exit status was 0. Otherwise the
  // command will be run again.
  void command_ended(bool well, Duration now);

  // Returns the environment for the command if the command must run now, otherwise nothing. After
  // an environment has been returned, the command is regarded as running until command_ended() is
  // called.
  [[nodiscard]] std::optional<OccasionEnvironment> next(Duration now);
  // Returns when to read the control directory and to call next() again, even if nothing in the
  // directory has changed by then. This time is on the same clock as the argument `now` of next().
  // Returns nothing if next() need not be called at a certain time.
  [[nodiscard]] std::optional<Duration> next_deadline() const;

 private:
  [[nodiscard]] bool has_run(const Look& look);
  void look_at_endings(const Status& status, std::vector<std::string>& keys);
  void look_at_active(const Look& look, Duration now);
  [[nodiscard]] bool concerns(const Ending& ending) const;
  void add(OccasionEnvironment environment);

  Occasion kind_;
  Duration after_;
  std::vector<std::string> seen_;  // identifies the ended upgrades in the last status that was read
  std::vector<OccasionEnvironment> waiting_;
  MissingRights missing_rights_;
  bool running_ = false;
  std::optional<Duration> retry_at_;
  std::string running_life_;  // the last run of the upgrader that was seen running
  std::string good_life_;     // the run of the upgrader in which an agent was last found good
  // The agent that was active in the last status that was read. Used only for the occasion `good`,
  // until that occasion has come in this run of the upgrader.
  std::string active_;
  // Since when the agent active_ has been active and not on trial. Used only for the occasion
  // `good`. Absent if there is no such agent, or if the occasion has come already in this run of
  // the upgrader.
  std::optional<Duration> active_since_;
};

}  // namespace upgraderctl

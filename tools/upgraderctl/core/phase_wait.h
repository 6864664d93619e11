// Decides when a wait for a phase is over. If no upgrader runs, waits until one runs, even if a
// killed upgrader has left its status. If an upgrader runs, its end ends the wait, too.
#pragma once

#include <optional>
#include <string>

#include "tools/upgraderctl/core/decider.h"

namespace upgraderctl {

class PhaseWait : public Decider {
 public:
  // Waits for the phase of this name. `timeout` limits the wait, unless it is 0 or absent. `tells`
  // is the command line that shows the upgrader's state, for messages.
  PhaseWait(std::string phase, std::optional<Duration> timeout, std::string tells)
      : phase_(std::move(phase)), timeout_(timeout), tells_(std::move(tells)) {}

  [[nodiscard]] Orders start(Duration now) override;
  [[nodiscard]] Orders step(const Happening& happening, Duration now) override;
  [[nodiscard]] std::optional<Duration> next_deadline() const override { return limit_; }

 private:
  [[nodiscard]] Orders take(const Look& look);
  [[nodiscard]] Orders no_status(const Look& look);
  [[nodiscard]] Orders nobody_runs();
  [[nodiscard]] Orders say_once(std::string text);

  std::string phase_;
  std::optional<Duration> timeout_;
  std::string tells_;
  std::optional<Duration> limit_;
  std::optional<Status> first_;  // the first status of a running upgrader that was seen
  bool gone_ = false;            // at the last look, the upgrader had gone
  bool told_ = false;
};

}  // namespace upgraderctl

// Decides when a wait for a phase is over. An upgrader that does not run yet is waited for, also
// where one that was killed has left its status; one that ran when the wait began, and ended, ends
// it.
#pragma once

#include <optional>
#include <string>

#include "tools/upgraderctl/core/decider.h"

namespace upgraderctl {

class PhaseWait : public Decider {
 public:
  // A timeout of 0, or none, is no limit.
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
  std::optional<Status> first_;  // the first one seen of an upgrader that runs
  bool gone_ = false;            // it had gone when it was last looked at
  bool told_ = false;
};

}  // namespace upgraderctl

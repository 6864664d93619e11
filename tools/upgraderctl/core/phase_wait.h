// Decides when the command `upgraderctl wait --for=PHASE` ends. The command waits until an upgrader
// has reached the phase PHASE. If no upgrader runs, the command waits until an upgrader is started,
// even if the directory still has the status of an upgrader that was killed. If an upgrader runs
// and then exits, the command ends, too.
#pragma once

#include <optional>
#include <string>

#include "tools/upgraderctl/core/decider.h"
#include "tools/upgraderctl/core/missing_rights.h"

namespace upgraderctl {

class PhaseWait : public Decider {
 public:
  // Waits for `phase`. `timeout` limits the wait, unless it is 0 or absent. `tells` is the command
  // line that shows the upgrader's state; it is used in messages.
  PhaseWait(std::string phase, std::optional<Duration> timeout, std::string tells)
      : phase_(std::move(phase)), timeout_(timeout), tells_(std::move(tells)) {}

  [[nodiscard]] Orders start(Duration now) override;
  [[nodiscard]] Orders step(const Happening& happening, Duration now) override;
  [[nodiscard]] std::optional<Duration> next_deadline() const override {
    return upgrader::earlier_of(limit_, missing_rights_.next_deadline());
  }

 private:
  [[nodiscard]] Orders take(const Look& look, Duration now);
  [[nodiscard]] Orders no_status(const Look& look, bool lacks_rights);
  [[nodiscard]] Orders nobody_runs();
  [[nodiscard]] Orders nobody_runs_any_more(const Ended& ended);
  [[nodiscard]] Orders say_once(std::string text);

  std::string phase_;
  std::optional<Duration> timeout_;
  std::string tells_;
  std::optional<Duration> limit_;
  std::optional<Status> first_;  // the first status that was read of a running upgrader
  MissingRights missing_rights_;
  bool gone_ = false;  // when the directory was last read, no upgrader was running
  bool told_ = false;
  bool told_end_ = false;
};

}  // namespace upgraderctl

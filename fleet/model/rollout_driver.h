// The driver of one rollout. driver.h describes the driver, and rollout_decision.h its decisions.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/driver.h"
#include "fleet/model/judge_watch.h"
#include "fleet/model/rollout_decision.h"
#include "fleet/model/rollout_view.h"

namespace fleet {

class RolloutTask {
 public:
  RolloutTask(const std::string& controller, std::string rollout, ZoneBook zones);

  [[nodiscard]] std::string name() const { return "rollout " + view_.id; }
  [[nodiscard]] std::string key() const;
  [[nodiscard]] std::vector<std::string> prefixes() const;
  [[nodiscard]] const RolloutView& view() const { return view_; }

  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  void take_all(const Reading& reading);
  void wall_shows(UnixSeconds wall, Ms now) { windows_.set_wall(wall, now); }

  [[nodiscard]] DriverStep next(Revision fence, Ms now);
  void granted(LeaseId lease);
  void take_gates(const GatesAnswered& event);
  // Called when the store has denied a write. The next step then aborts the rollout. Returns false,
  // so that driving ends, if the store has denied the write of this abort, too.
  [[nodiscard]] bool deny(const std::string& reason);
  [[nodiscard]] std::string words(Ms now) const;

 private:
  [[nodiscard]] Opening window(Ms now) const;
  void ask_judge(Ms now);
  [[nodiscard]] AskGates begin_round(Ms now);

  RolloutView view_;
  WindowView windows_;
  Budgets budgets_;
  JudgeWatch judge_;
  DriverFacts facts_;
  std::int64_t rounds_ = 0;
};

class RolloutDriver : public Driver<RolloutTask> {
 public:
  RolloutDriver(const std::string& controller, std::string rollout, LeaseId lease,
                ZoneBook zones = {})
      : Driver(controller, RolloutTask(controller, std::move(rollout), std::move(zones)), lease) {}
};

}  // namespace fleet

// The driver of one plan. driver.h describes the driver, and plan_decision.h its decisions.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/driver.h"
#include "fleet/model/plan_decision.h"

namespace fleet {

class PlanTask {
 public:
  PlanTask(const std::string& controller, std::string plan, ZoneBook zones);

  [[nodiscard]] std::string name() const { return "plan " + view_.name; }
  [[nodiscard]] std::string key() const;
  [[nodiscard]] std::vector<std::string> prefixes() const;
  [[nodiscard]] const PlanView& view() const { return view_; }

  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  void take_all(const Reading& reading);
  void wall_shows(UnixSeconds wall, Ms now) { windows_.set_wall(wall, now); }

  [[nodiscard]] DriverStep next(Revision fence, Ms now);
  void granted(LeaseId) {}
  // Called when the store denies a write. Returns false, so that driving ends, since half a plan
  // cannot be undone automatically. The members wait until a driver continues with the plan.
  [[nodiscard]] bool deny(const std::string&) { return false; }
  [[nodiscard]] std::string words(Ms now) const;

 private:
  PlanView view_;
  WindowView windows_;
  Budgets budgets_;
  PlanFacts facts_;
};

class PlanDriver : public Driver<PlanTask> {
 public:
  PlanDriver(const std::string& controller, std::string plan, LeaseId lease, ZoneBook zones = {})
      : Driver(controller, PlanTask(controller, std::move(plan), std::move(zones)), lease) {}
};

}  // namespace fleet

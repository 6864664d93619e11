// The driver of one plan: see driver.h for how it drives, and plan_decision.h for what.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/driver.h"
#include "fleet/model/plan_decision.h"

namespace fleet {

class PlanTask {
 public:
  PlanTask(const std::string& controller, std::string plan);

  [[nodiscard]] std::string name() const { return "plan " + view_.name; }
  [[nodiscard]] std::string key() const;
  [[nodiscard]] std::vector<std::string> prefixes() const;
  [[nodiscard]] const PlanView& view() const { return view_; }

  void take(const KeyValue& record) { view_.take(record); }
  void take_absent(const std::string& key) { view_.take_absent(key); }
  void take_all(const Reading& reading) { view_.take_all(reading); }

  [[nodiscard]] DriverStep next(Revision fence, Ms now);
  void granted(LeaseId) {}
  // There is nothing that would undo half a plan: its members' waits end by themselves.
  [[nodiscard]] bool deny(const std::string&) { return false; }
  [[nodiscard]] std::string words(Ms now) const;

 private:
  PlanView view_;
  PlanFacts facts_;
};

class PlanDriver : public Driver<PlanTask> {
 public:
  PlanDriver(const std::string& controller, std::string plan, LeaseId lease)
      : Driver(controller, PlanTask(controller, std::move(plan)), lease) {}
};

}  // namespace fleet

// This file defines three drivers. One drives a rollout, one a plan, and one all desired versions
// of a cell. Each is a `Driver` (driver.h) with a task of its own, whose decisions are in
// rollout_decision.h, plan_decision.h and desired_decision.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/desired/desired_decision.h"
#include "fleet/model/drivers/driver.h"
#include "fleet/model/drivers/windows.h"
#include "fleet/model/plans/plan_decision.h"
#include "fleet/model/rollouts/judge_watch.h"
#include "fleet/model/rollouts/rollout_decision.h"
#include "fleet/model/rollouts/rollout_view.h"

namespace fleet {

// ---- the driver of one rollout

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
  // Records that the store has denied a write, so that the next step aborts the rollout. Returns
  // false at the second call: the store has then denied the abort, too, and the driver ends.
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

// ---- the driver of one plan

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
  // Called when the store denies a write. Returns false: the driver ends, since a half-finished
  // plan cannot be undone automatically. The nodes of the plan wait until another driver continues
  // the plan.
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

// ---- the driver of all desired versions

// The last part of the key `driver/desired` of this driver. No rollout and no plan may have this
// name, since two drivers would then have the same key.
inline constexpr std::string_view desired_id = "desired";

// Brings nodes to the desired versions of components. The components are those of which the cell
// has a desired version. When the task reads all records, it adds the components to whose versions
// single nodes were pinned or ordered to move, and those for which budget places are taken. If a
// person later pins a node to a version of another component, the driver ends, and the next driver
// adds that component.
class DesiredTask {
 public:
  DesiredTask(const std::vector<std::string>& components, const DesiredSettings& settings,
              ZoneBook zones);

  [[nodiscard]] std::string name() const { return "the desired version"; }
  [[nodiscard]] std::string key() const;
  [[nodiscard]] std::vector<std::string> prefixes() const;

  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  void take_all(const Reading& reading);
  void wall_shows(UnixSeconds wall, Ms now) { windows_.set_wall(wall, now); }

  // Returns the next step. Examines the components one after the other, until one of them needs a
  // write.
  [[nodiscard]] DriverStep next(Revision fence, Ms now);
  void granted(LeaseId lease) { lease_ = lease; }
  // Called when the store denies a write. Returns false: the driver ends, and has nothing to undo.
  // A new version may then wait until somebody orders the old one to stop, but the old one still
  // works.
  [[nodiscard]] bool deny(const std::string&) { return false; }
  [[nodiscard]] std::string words(Ms now) const;

 private:
  struct Component {
    DesiredView view;
    DesiredMarks marks = {};
  };

  [[nodiscard]] bool has(const std::string& component) const;

  std::vector<Component> components_;
  // A component to which a person has pinned a node, and which is not in `components_`; or empty.
  std::string missing_;
  WindowView windows_;
  std::uint64_t windows_seen_ = 0;  // the value of WindowView::changes() at the last decision
  Budgets budgets_;
  DesiredSettings settings_;
  LeaseId lease_ = 0;  // the lease for a command that stops an old version; 0 if there is none
};

class DesiredDriver : public Driver<DesiredTask> {
 public:
  DesiredDriver(const std::string& controller, const std::vector<std::string>& components,
                const DesiredSettings& settings, LeaseId lease, ZoneBook zones = {})
      : Driver(controller, DesiredTask(components, settings, std::move(zones)), lease) {}
};

}  // namespace fleet

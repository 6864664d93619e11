// A simulated node's part in all plans, like PlanDesk in fleet/agent/plan_desk.h. It runs no hook
// programs: each hook succeeds at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fleet/model/plan_part.h"
#include "fleet/store/mirror.h"

namespace fleet::test {

class SimPlans {
 public:
  // `own` is the mirror of the records below the node's key. `wrote` is called at each write. All
  // arguments must outlive this object.
  SimPlans(Store& store, Timers& timers, const Mirror& own, std::string node, std::uint64_t seed,
           std::function<void()> wrote);
  SimPlans(const SimPlans&) = delete;
  SimPlans& operator=(const SimPlans&) = delete;

  // Gives all plans the present records. Called when the node's records have changed.
  void look();
  // Begins to take part in plans. The node's record `active` has this revision.
  void act(Revision active);
  [[nodiscard]] bool follows() const { return plans_.follows(); }

 private:
  [[nodiscard]] bool is_wanted(const std::string& text) const;
  [[nodiscard]] PlanSeen seen(const std::string& plan, const KeyValue& record) const;
  void feed(const std::string& plan, const PlanPartEvent& event);
  void perform(const std::string& plan, const RunHook& run);
  void perform(const std::string& plan, const WriteMember& write);
  static void perform(const std::string& /*plan*/, const NothingToDo& /*nothing*/) {}

  Store& store_;
  Timers& timers_;
  const Mirror& own_;
  std::string node_;
  std::function<void()> wrote_;
  Revision active_ = 0;
  std::map<std::string, PlanPart> parts_;
  std::map<std::string, std::unique_ptr<Timer>> soon_;
  Mirror plans_;
};

}  // namespace fleet::test

// The driver of all desired versions of a cell. driver.h describes the driver, and
// desired_decision.h its decisions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/desired_decision.h"
#include "fleet/model/driver.h"
#include "fleet/model/window_view.h"

namespace fleet {

// The last part of the key `driver/desired` of this driver. No rollout and no plan may have this
// name, since its driver would have the same key.
inline constexpr std::string_view desired_id = "desired";

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

  // Returns the next step. Tries the components one after the other, until a record of one of them
  // has to be written.
  [[nodiscard]] DriverStep next(Revision fence, Ms now);
  void granted(LeaseId lease) { lease_ = lease; }
  // Called when the store denies a write. Returns false, so that driving ends. Nothing has to be
  // undone: a new version that waits beside the old one may go on waiting.
  [[nodiscard]] bool deny(const std::string&) { return false; }
  [[nodiscard]] std::string words(Ms now) const;

 private:
  struct Component {
    DesiredView view;
    DesiredMarks marks = {};
  };

  std::vector<Component> components_;
  WindowView windows_;
  std::uint64_t windows_seen_ = 0;  // the value of WindowView::changes() at the last decision
  Budgets budgets_;
  DesiredSettings settings_;
  LeaseId lease_ = 0;  // the lease for commands to stop; 0 if there is none
};

class DesiredDriver : public Driver<DesiredTask> {
 public:
  DesiredDriver(const std::string& controller, const std::vector<std::string>& components,
                const DesiredSettings& settings, LeaseId lease, ZoneBook zones = {})
      : Driver(controller, DesiredTask(components, settings, std::move(zones)), lease) {}
};

}  // namespace fleet

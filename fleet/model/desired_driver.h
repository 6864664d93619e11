// The driver of a cell's desired versions; a cell has one. driver.h says how it drives, and
// desired_decision.h what it decides.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/desired_decision.h"
#include "fleet/model/driver.h"
#include "fleet/model/window_view.h"

namespace fleet {

// The name of this driver in its key. No rollout and no plan may have it.
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

  // Returns the next step for the components, which are looked at one after the other.
  [[nodiscard]] DriverStep next(Revision fence, Ms now);
  void granted(LeaseId lease) { lease_ = lease; }
  // Returns false, since nothing has to be undone: an instance that waits at its gate stays there.
  [[nodiscard]] bool deny(const std::string&) { return false; }
  [[nodiscard]] std::string words(Ms now) const;

 private:
  struct Component {
    DesiredView view;
    DesiredMarks marks = {};
  };

  void look_at_windows(Component& component, Ms now) const;

  std::vector<Component> components_;
  WindowView windows_;
  DesiredSettings settings_;
  LeaseId lease_ = 0;  // the lease of the commands to stop
};

class DesiredDriver : public Driver<DesiredTask> {
 public:
  DesiredDriver(const std::string& controller, const std::vector<std::string>& components,
                const DesiredSettings& settings, LeaseId lease, ZoneBook zones = {})
      : Driver(controller, DesiredTask(components, settings, std::move(zones)), lease) {}
};

}  // namespace fleet

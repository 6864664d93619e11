// Defines the main class of fleet-controller. It follows the records of rollouts, plans and desired
// versions, and starts a driver (a state machine that carries them out) for each rollout or plan
// without one. One more driver brings nodes to the desired versions. If several controllers start a
// driver for the same work, only the one that gets the driver's key in the store works.
#pragma once

#include <uv.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/signal_watch.h"
#include "fleet/common/presence.h"
#include "fleet/controller/campaign.h"
#include "fleet/controller/driving.h"
#include "fleet/controller/gates.h"
#include "fleet/controller/options.h"
#include "fleet/model/records/keys.h"
#include "fleet/store/etcd_store.h"
#include "fleet/store/mirror.h"
#include "fleet/store/uv_timers.h"

namespace fleet {

class Controller {
 public:
  Controller(uv_loop_t& loop, ControllerOptions options);
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Runs until SIGTERM or SIGINT, and then until the store has removed the keys of this
  // controller's drivers, so that other controllers can continue the work. Returns the exit status.
  int run();

 private:
  struct Driven {
    std::vector<std::string> components = {};
    std::unique_ptr<Driving> driving = {};
  };

  void take_changes(const Changes& changes);
  void look_soon();
  void look();
  void forget_ended();
  void leave_outdated(const std::vector<Drivable>& drivable);
  void begin(const Drivable& what);
  [[nodiscard]] std::function<std::unique_ptr<AnyDriver>(LeaseId)> maker(
      const Drivable& what) const;
  void show_presence();
  void leave_all();
  [[nodiscard]] bool has_left() const;
  [[nodiscard]] std::unique_ptr<Mirror> follow(const Keys& keys,
                                               std::function<bool(const std::string& key)> keeps);
  [[nodiscard]] std::unique_ptr<Mirror> follow(KeyKind kind);
  [[nodiscard]] Ms now() const { return timers_.now().count(); }

  uv_loop_t& loop_;
  ControllerOptions options_;
  std::uint64_t seed_;
  UvTimers timers_;
  EtcdStore store_;
  Gates gates_;
  // `presence_` writes the record that shows this process, and `life_` is a local copy of it. Both
  // are null if the controller's name cannot be a part of a key.
  std::unique_ptr<Presence> presence_;
  std::unique_ptr<Mirror> life_;
  std::unique_ptr<Mirror> rollouts_;
  std::unique_ptr<Mirror> plans_;
  std::unique_ptr<Mirror> desired_;
  std::unique_ptr<Mirror> drivers_;
  Campaign campaign_;
  Drivables drivables_;
  std::map<std::string, Driven> driven_;
  bool leaving_ = false;
  std::unique_ptr<Timer> soon_;
  std::unique_ptr<Timer> later_;
  std::unique_ptr<Timer> end_;
  upgrader::SignalWatch signals_;
};

}  // namespace fleet

// Connects one driver (a state machine that carries out a rollout or plan) with the store: gets a
// lease for the driver's key, performs the driver's actions, and reports their outcomes to it.
// Decides nothing.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fleet/model/drivers/driver_events.h"
#include "fleet/store/alive.h"
#include "fleet/store/lease_keeper.h"
#include "fleet/store/mirror.h"
#include "fleet/store/store.h"
#include "fleet/store/timers.h"

namespace fleet {

// A driver of any kind: for a rollout, a plan, the cell's desired versions, or the history.
class AnyDriver {
 public:
  AnyDriver() = default;
  AnyDriver(const AnyDriver&) = delete;
  AnyDriver& operator=(const AnyDriver&) = delete;
  virtual ~AnyDriver() = default;

  [[nodiscard]] virtual DriverActions step(const DriverEvent& event, Ms now) = 0;
  [[nodiscard]] virtual std::optional<Ms> next_deadline() const = 0;
  [[nodiscard]] virtual Revision fence() const = 0;
};

template <class Driven>
class DriverOf : public AnyDriver {
 public:
  explicit DriverOf(Driven driver) : driver_(std::move(driver)) {}

  [[nodiscard]] DriverActions step(const DriverEvent& event, Ms now) override {
    return driver_.step(event, now);
  }
  [[nodiscard]] std::optional<Ms> next_deadline() const override { return driver_.next_deadline(); }
  [[nodiscard]] Revision fence() const override { return driver_.fence(); }

 private:
  Driven driver_;
};

class Driving {
 public:
  struct Settings {
    Store& store;
    Timers& timers;
    std::chrono::seconds lease;
    std::uint64_t seed = 0;
    std::function<std::unique_ptr<AnyDriver>(LeaseId)> make;
    std::function<void(bool loud, const std::string& text)> log;
    // Returns the time of the wall clock, or no value for a driver that does not need it.
    std::function<std::optional<UnixSeconds>()> wall = [] { return std::nullopt; };
    // Asks the gates of a rollout, that is, checks whether its new version works (gates.h). Calls
    // the second argument later, with the gates' answers.
    std::function<void(const AskGates&, std::function<void(const GatesAnswered&)>)> ask_gates = {};
    // Called when the driver has ended. Must not destroy its caller, the Driving object.
    std::function<void()> ended;
  };

  explicit Driving(Settings settings);
  Driving(const Driving&) = delete;
  Driving& operator=(const Driving&) = delete;
  ~Driving() = default;

  // Makes the driver remove its key from the store, so that another controller can take over
  // immediately.
  void leave(const LeaveDriving& leaving = {});

  [[nodiscard]] bool is_over() const { return over_; }
  // Returns whether the driver has ever had its key in the store. A driver works only while it has
  // the key, so that no two controllers drive the same rollout.
  [[nodiscard]] bool drove() const { return drove_; }
  [[nodiscard]] Ms began() const { return began_; }

 private:
  void tell(const DriverEvent& event);
  void perform(const Commit& commit);
  void perform(const WantReading& wanted);
  void perform(const GrantLease& wanted);
  void perform(const AskGates& asked);
  void perform(const Tell& words);
  void perform(const EndDriving& end);
  void take_reading(Reading reading);
  void take_changes(const Changes& changes);
  void take_trouble();
  void end();
  [[nodiscard]] bool is_wanted(const std::string& key) const;
  [[nodiscard]] Ms now() const { return settings_.timers.now().count(); }

  Settings settings_;
  Ms began_;
  bool over_ = false;
  bool drove_ = false;
  bool reading_ = false;  // the driver has asked for a reading, which has not come yet
  std::vector<std::string> wanted_;
  std::unique_ptr<AnyDriver> driver_;  // null until the store has granted the driver's lease
  // Reads and watches the records that the driver needs.
  std::unique_ptr<Following> following_;
  std::unique_ptr<Timer> alarm_;
  Alive alive_;
  LeaseKeeper keeper_;
};

}  // namespace fleet

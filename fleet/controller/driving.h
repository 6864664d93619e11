// Runs one driver on the store: takes a lease for its key, carries out its actions, and tells it
// the outcomes. Decides nothing.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fleet/model/driver_events.h"
#include "fleet/store/lease_keeper.h"
#include "fleet/store/mirror.h"
#include "fleet/store/store.h"
#include "fleet/store/timers.h"

namespace fleet {

// A driver of any kind: of a rollout, a plan, desired versions or a duty.
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
    // Returns the time of the wall clock, or no value if the driver does not need it.
    std::function<std::optional<UnixSeconds>()> wall = [] { return std::nullopt; };
    // Asks the gates of a rollout, and calls the function with their answers, later.
    std::function<void(const AskGates&, std::function<void(const GatesAnswered&)>)> ask_gates = {};
    // Called when the driving ends, from one of its own functions, so the callee must not destroy
    // it.
    std::function<void()> ended;
  };

  explicit Driving(Settings settings);
  Driving(const Driving&) = delete;
  Driving& operator=(const Driving&) = delete;
  ~Driving() = default;

  // Gives the key back, so that another controller takes it at once.
  void leave();

  [[nodiscard]] bool is_over() const { return over_; }
  // Returns whether the driver has had its key.
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
  void take_changes(const Changes& changes);
  void take_trouble();
  void end();
  [[nodiscard]] bool is_wanted(const std::string& key) const;
  [[nodiscard]] Ms now() const { return settings_.timers.now().count(); }

  Settings settings_;
  Ms began_;
  bool over_ = false;
  bool drove_ = false;
  bool reading_ = false;  // the mirror's first changes are the reading that was asked for
  std::vector<std::string> wanted_;
  std::unique_ptr<AnyDriver> driver_;  // null as long as there is no lease
  std::unique_ptr<Mirror> mirror_;
  std::unique_ptr<Timer> alarm_;
  // Callbacks hold a weak pointer to `alive_`, since answers of the store may come after this
  // object has ended.
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
  LeaseKeeper keeper_;
};

}  // namespace fleet

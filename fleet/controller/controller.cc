#include "fleet/controller/controller.h"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <functional>
#include <utility>

#include "base/check.h"
#include "base/version.h"
#include "fleet/common/identity.h"
#include "fleet/common/log_line.h"
#include "fleet/common/zone_file.h"
#include "fleet/model/drivers/controllers_at_work.h"
#include "fleet/model/drivers/drivers.h"
#include "fleet/model/history/chronicle.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

void log(const std::string& line) {
  log_line("fleet-controller", line);
}

// How long this process waits before its exit for the store to remove its drivers' keys,
// `driver/ID`.
constexpr std::chrono::milliseconds leave_time{2'000};

}  // namespace

Controller::Controller(uv_loop_t& loop, ControllerOptions options)
    : loop_(loop),
      options_(std::move(options)),
      seed_(std::hash<std::string>()(options_.name)),
      timers_(loop),
      store_(loop, {.endpoints = options_.store.endpoints,
                    .certificates = options_.store.certificates,
                    .seed = seed_}),
      gates_(loop, timers_,
             {.controller = options_.name,
              .prometheus = options_.prometheus_gates,
              .programs = options_.gates}),
      rollouts_(follow(KeyKind::rollout)),
      plans_(follow(KeyKind::plan)),
      desired_(follow(KeyKind::desired)),
      drivers_(follow(KeyKind::driver)) {
  show_presence();
  UPGRADER_CHECK(signals_.begin(&loop_, {SIGTERM, SIGINT}, [this](int) { leave_all(); }));
}

// Writes a record that lists this controller by its name, and one with a lease that shows that this
// process runs.
void Controller::show_presence() {
  const std::string name = controller_record_name(options_.name);
  if (name.empty()) {
    log("nobody is told when this controller is silent: no record may have the name " +
        options_.name);
    return;
  }
  const std::string key = key_of(KeyKind::controller, {name});
  const auto denied = [told = false](const std::string& why) mutable {
    if (std::exchange(told, true)) return;
    log("the store denies the record of this controller; fleetctl cell start or fleetctl enrol "
        "grants the right: " +
        why);
  };
  const std::string life = key_of(KeyKind::controller_life, {name, new_instance_id()});
  presence_ = std::make_unique<Presence>(store_, timers_, life, seed_, denied);
  life_ = follow(Keys{life}, [](const std::string&) { return true; });
  const std::string record =
      write_record(ControllerAtWork{.version = upgrader::upgrader_version, .since = time_text()});
  presence_->show(record, {{key, record}});
}

int Controller::run() {
  uv_run(&loop_, UV_RUN_DEFAULT);
  return 0;
}

// Keeps a local copy of the records of this kind, without the records below their keys. For
// example, the copy contains the record of a rollout, but not the records of the rollout's nodes.
std::unique_ptr<Mirror> Controller::follow(KeyKind kind) {
  const std::string prefix = prefix_of(kind);
  return follow(Keys{prefix, true}, [begin = prefix.size()](const std::string& key) {
    return key.find('/', begin) == std::string::npos;
  });
}

std::unique_ptr<Mirror> Controller::follow(const Keys& keys,
                                           std::function<bool(const std::string& key)> keeps) {
  return std::make_unique<Mirror>(
      store_, timers_, keys,
      Mirror::Observer{
          .changed = [this](const Changes& changes) { take_changes(changes); },
          .troubled = [](const Trouble& trouble) { log("the store: " + trouble.reason); },
          .keeps = std::move(keeps)},
      seed_);
}

void Controller::take_changes(const Changes& changes) {
  for (const Change& change : changes.changes) {
    change.erased ? drivables_.take_absent(change.now.key) : drivables_.take(change.now);
  }
  look_soon();
}

// Lets the event loop call look() later: look() may destroy the Driving object that is calling this
// function.
void Controller::look_soon() {
  soon_ = timers_.after(std::chrono::milliseconds(0), [this] { look(); });
}

void Controller::look() {
  forget_ended();
  if (leaving_) {
    if (has_left()) uv_stop(&loop_);
    return;
  }
  for (const Mirror* mirror : {rollouts_.get(), plans_.get(), desired_.get(), drivers_.get()}) {
    if (mirror->revision() == 0) return;
  }
  const auto drivable = drivables_.list();
  leave_outdated(drivable);
  for (const Drivable& one : campaign_.to_begin(drivable, drivers_->records(), now())) {
    if (!driven_.contains(one.id)) begin(one);
  }
  later_ = nullptr;
  if (const auto due = campaign_.next_deadline(drivable, now())) {
    later_ = timers_.after(std::chrono::milliseconds(*due - now()), [this] { look(); });
  }
}

void Controller::forget_ended() {
  std::erase_if(driven_, [this](const auto& one) {
    const Driving& driving = *one.second.driving;
    if (driving.is_over()) campaign_.ended(one.first, driving.drove(), driving.began(), now());
    return driving.is_over();
  });
}

// Ends the driver of desired versions if the set of components with a desired version has changed.
// A controller then starts a new driver for the new set.
void Controller::leave_outdated(const std::vector<Drivable>& drivable) {
  for (const Drivable& one : drivable) {
    const auto at = driven_.find(one.id);
    if (at != driven_.end() && at->second.components != one.components) {
      at->second.driving->leave({"versions of other components are desired now"});
    }
  }
}

std::function<std::unique_ptr<AnyDriver>(LeaseId)> Controller::maker(const Drivable& what) const {
  const DesiredSettings settings = options_.desired();
  return [name = options_.name, what, settings](LeaseId lease) -> std::unique_ptr<AnyDriver> {
    switch (what.kind) {
      case Drivable::Kind::rollout:
        return std::make_unique<DriverOf<RolloutDriver>>(
            RolloutDriver(name, what.id, lease, zone_of));
      case Drivable::Kind::plan:
        return std::make_unique<DriverOf<PlanDriver>>(PlanDriver(name, what.id, lease, zone_of));
      case Drivable::Kind::desired:
        return std::make_unique<DriverOf<DesiredDriver>>(
            DesiredDriver(name, what.components, settings, lease, zone_of));
    }
    return nullptr;
  };
}

void Controller::begin(const Drivable& what) {
  driven_[what.id] = {
      what.components,
      std::make_unique<Driving>(Driving::Settings{
          .store = store_,
          .timers = timers_,
          .lease = std::chrono::seconds(options_.lease_s),
          .seed = seed_,
          .make = maker(what),
          .log = [id = what.id](
                     bool loud,
                     const std::string& text) { log((loud ? "! " : "") + id + ": " + text); },
          .wall = [] { return std::optional(static_cast<UnixSeconds>(std::time(nullptr))); },
          .ask_gates = [this](const AskGates& asked,
                              Gates::Then then) { gates_.ask(asked, std::move(then)); },
          .ended = [this] { look_soon(); }})};
}

void Controller::leave_all() {
  if (std::exchange(leaving_, true)) return;
  if (presence_ != nullptr) presence_->end();
  for (auto& [id, one] : driven_) {
    if (!one.driving->is_over()) one.driving->leave();
  }
  end_ = timers_.after(leave_time, [this] { uv_stop(&loop_); });
  look_soon();
}

// Returns whether the store has removed this process's record and its drivers' keys. Ignores the
// key of the driver that writes the history: the class Front (front.h) waits for that.
bool Controller::has_left() const {
  if (life_ != nullptr && !life_->records().empty()) return false;
  return std::none_of(drivers_->records().begin(), drivers_->records().end(),
                      [this](const auto& one) {
                        const auto record = read_record<DriverRecord>(one.second.value);
                        if (one.first == key_of(KeyKind::driver, {events_id})) return false;
                        return record && record.value().controller == options_.name;
                      });
}

}  // namespace fleet

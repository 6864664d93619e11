// Simulates hours of rollouts, one after the other, on the same twelve machines. Controllers and
// nodes run their real code with a store in memory and a clock that the test moves. Requests and
// answers get lost or come late, controllers and fleet-agents are killed or cut off, the store's
// history is compacted, some releases are bad, and a person pauses, aborts, undoes and stops
// rollouts.
// HOURS=24 simulates a day; SEED=1 repeats a run.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "fleet/controller/campaign.h"
#include "fleet/controller/driving.h"
#include "fleet/model/drivers/drivers.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/rollout_draft.h"
#include "fleet/model/rollouts/rollout_wish.h"
#include "tests/together/fleet/day_machine.h"
#include "tests/together/fleet/long_run.h"

namespace day_test {

namespace {

using namespace fleet;
using namespace fleet_test;

constexpr Ms minute = 60'000;
constexpr Ms hour = 60 * minute;
// A rollout that takes longer than this counts as stuck. A rollout has six batches. Each batch runs
// the new version for a time (the soak), and may then wait in vain for its confirmation. A person
// may also pause the rollout.
constexpr Ms rollout_max = 6 * hour;
// When a rollout ends, a node may still run a new version that was not confirmed. Within this time,
// the version must be confirmed, or the node must be back at the old version.
constexpr Ms settle_max = 12 * minute;
// A machine that was cut off or killed may still be late for so long after it has come back.
constexpr Ms recovery_max = 2 * minute;

struct Controller {
  std::string name;
  std::unique_ptr<FakeStore> way = {};
  std::unique_ptr<Driving> driving = {};
  std::string driven = {};
  Ms back_at = 0;  // when the killed controller is started again
};

class Day {
 public:
  explicit Day(std::uint64_t seed, bool forgets = false) : chance_(seed) {
    for (int i = 0; i < 12; ++i) {
      machines_.push_back(std::make_unique<DayMachine>(
          DayMachine::World{time_, cell_, [this](const std::string& one) { return faults_[one]; },
                            forgets},
          "n" + std::to_string(100 + i), chance_()));
      machines_.back()->set_faults(way_faults);
    }
    for (const char* name : {"c1", "c2", "c3"}) {
      controllers_.push_back({.name = name});
      restart(controllers_.back());
    }
  }
  Day(const Day&) = delete;
  Day& operator=(const Day&) = delete;
  ~Day() {
    for (Controller& one : controllers_)
      one.driving = nullptr;
  }

  void live_until(Ms end) {
    pass(minute);
    while (now() < end && wrong_.empty())
      roll_out();
  }

  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] Ms now() const { return time_.now().count(); }
  [[nodiscard]] std::string report() const {
    std::size_t commands = 0;
    for (const auto& one : machines_)
      commands += one->carried_out().size();
    std::string text = std::to_string(number_) + " rollouts (";
    for (const auto& [state, count] : ends_)
      text += std::to_string(count) + " " + state + ", ";
    text.replace(text.size() - 2, 2, "), ");
    return text + std::to_string(commands) + " commands, " + std::to_string(kills_) + " kills, " +
           std::to_string(cuts_) + " cuts, " + std::to_string(cell_.revision()) + " changes";
  }
  [[nodiscard]] std::size_t kills() const { return kills_; }
  [[nodiscard]] const std::map<std::string, int>& ends() const { return ends_; }

 private:
  static constexpr Faults way_faults{
      .lost_requests = 10, .lost_answers = 10, .late_requests = 5, .cut_watches = 10};

  [[nodiscard]] std::uint64_t below(std::uint64_t limit) {
    return fleet_test::below(chance_, limit);
  }

  void is_wrong(const std::string& what) {
    if (wrong_.empty()) wrong_ = "after " + std::to_string(now()) + " ms: " + what;
  }

  void pass(Ms length) {
    const auto end = time_.now() + std::chrono::milliseconds(length);
    time_.post(std::chrono::milliseconds(length), [] {});
    while (time_.run_next_until(end)) {
    }
  }

  // ---- controllers

  void restart(Controller& one) {
    one.driving = nullptr;
    one.way = std::make_unique<FakeStore>(time_, cell_, chance_(), way_faults);
  }

  [[nodiscard]] Campaign::Records records(KeyKind kind) const {
    Campaign::Records all;
    for (KeyValue& found : cell_.read({prefix_of(kind), true}).found) {
      const std::string key = found.key;
      all[key] = std::move(found);
    }
    return all;
  }

  void look_after_controllers() {
    Drivables drivables;
    for (const auto& [key, record] : records(KeyKind::rollout))
      drivables.take(record);
    std::vector<Drivable> rollouts = drivables.list();
    std::erase_if(rollouts,
                  [](const Drivable& one) { return one.kind != Drivable::Kind::rollout; });
    const auto to_begin = Campaign{}.to_begin(rollouts, records(KeyKind::driver), now());
    for (Controller& one : controllers_) {
      if (now() < one.back_at) continue;
      if (one.driving && one.driving->is_over()) one.driving = nullptr;
      if (!one.driving && !to_begin.empty()) drive(one, to_begin.front().id);
    }
  }

  void drive(Controller& one, const std::string& id) {
    one.driving = std::make_unique<Driving>(Driving::Settings{
        .store = *one.way,
        .timers = time_,
        .lease = std::chrono::seconds(15),
        .seed = chance_(),
        .make = [name = one.name, id](LeaseId lease) -> std::unique_ptr<AnyDriver> {
          return std::make_unique<DriverOf<RolloutDriver>>(RolloutDriver(name, id, lease));
        },
        .log = [](bool, const std::string&) {},
        .ended = [] {}});
  }

  // ---- faults

  void suffer() {
    switch (below(200)) {
      case 0: {
        Controller& one = controllers_[below(controllers_.size())];
        restart(one);
        one.back_at = now() + static_cast<Ms>(below(40)) * 1'000;
        ++kills_;
        break;
      }
      case 1: {
        Controller& one = controllers_[below(controllers_.size())];
        one.way->set_reachable(false);
        FakeStore* way = one.way.get();
        time_.post(std::chrono::seconds(1 + below(60)), [&one, way] {
          if (one.way.get() == way) one.way->set_reachable(true);
        });
        ++cuts_;
        break;
      }
      case 2:
      case 3: {
        DayMachine& one = *machines_[below(machines_.size())];
        if (!one.is_alive()) break;
        const auto dead_for = static_cast<Ms>(below(20'000));
        one.kill(dead_for);
        disturb(one, dead_for);
        ++kills_;
        break;
      }
      case 4: {
        DayMachine& one = *machines_[below(machines_.size())];
        one.set_reachable(false);
        const auto cut_for = static_cast<Ms>(1'000 + 1'000 * below(60));
        time_.post(std::chrono::milliseconds(cut_for), [&one] { one.set_reachable(true); });
        disturb(one, cut_for);
        ++cuts_;
        break;
      }
      case 5:
        cell_.compact(cell_.revision());
        break;
      default:
        break;
    }
  }

  void disturb(const DayMachine& one, Ms length) {
    Ms& until = disturbed_[one.name()];
    until = std::max(until, now() + length + recovery_max);
  }

  // ---- a person's orders

  [[nodiscard]] Rollout rollout() const {
    const auto found = cell_.read({key_of(KeyKind::rollout, {id()})}).found;
    if (found.empty()) return {};
    const auto read = read_record<Rollout>(found.front().value);
    return read ? read.value() : Rollout{};
  }
  [[nodiscard]] std::string id() const { return "r" + std::to_string(number_); }
  [[nodiscard]] std::string version() const { return std::to_string(number_ + 1); }

  void start_rollout() {
    ++number_;
    constexpr Fault kinds[] = {Fault::at_prepare, Fault::at_start, Fault::at_soak};
    faults_[version()] = below(4) == 0 ? kinds[below(3)] : Fault::none;
    const std::string published = key_of(KeyKind::release, {day_component, version()});
    cell_.commit({.puts = {{published, write_record(Release{.digest = "d"})}}});
    const Reading reading = cell_.read({std::string(key_root), true});
    Rollout wanted{.terms = {.component = std::string(day_component),
                             .version = version(),
                             .digest = "d",
                             .target = "*",
                             .batch = 1 + static_cast<std::int64_t>(below(6)),
                             .soak_ms = minute,
                             .max_failed = 1 + static_cast<std::int64_t>(below(3))}};
    const auto draft =
        draft_rollout(wanted.terms, candidates_in(nodes_in(reading), wanted.terms.component));
    if (!draft) return is_wrong("no rollout: " + draft.reason());
    batch_ = wanted.terms.batch;
    std::optional<WrittenRollout> written;
    const Revision release = reading.find(published)->modified;
    while (const auto next = next_creation(id(), wanted, draft.value(), release, written)) {
      // While a record `stop` exists, the store refuses this transaction, since no rollout may
      // begin. The test repeats the transaction until the record is gone.
      while (!std::holds_alternative<Committed>(cell_.commit(*next))) {
        if (cell_.read({key_of(KeyKind::stop)}).found.empty())
          return is_wrong("a rollout is not written");
        pass(minute);
      }
      const KeyValue there = cell_.read({key_of(KeyKind::rollout, {id()})}).found.front();
      written = {read_record<Rollout>(there.value).value(), there.modified};
    }
  }

  void change(const std::function<bool(Rollout&)>& how) {
    const auto found = cell_.read({key_of(KeyKind::rollout, {id()})}).found;
    Rollout now = read_record<Rollout>(found.front().value).value();
    if (!how(now)) return;
    cell_.commit({.compares = {{.key = found.front().key, .revision = found.front().modified}},
                  .puts = {{found.front().key, write_record(now)}}});
  }

  void interfere() {
    const std::string stop = key_of(KeyKind::stop);
    switch (below(2'000)) {
      case 0:
        change([](Rollout& now) {
          const bool rolls = now.state == RolloutState::rolling && now.order == RolloutOrder::none;
          if (rolls) now.order = RolloutOrder::pause;
          return rolls;
        });
        break;
      case 1:
        abort();
        break;
      case 2:
        cell_.commit({.puts = {{stop, write_record(Stop{.who = "p"})}}});
        time_.post(std::chrono::minutes(2), [this, stop] { cell_.commit({.erases = {{stop}}}); });
        break;
      case 3:
        undo();
        break;
      default:
        break;
    }
    if (rollout().state == RolloutState::paused && below(60) == 0) {
      change([](Rollout& now) {
        now.state = RolloutState::rolling;
        now.order = RolloutOrder::none;
        now.unconfirmed.clear();
        return true;
      });
    }
  }

  void abort() {
    change([](Rollout& now) {
      const bool goes = now.state == RolloutState::rolling || now.state == RolloutState::paused;
      if (goes && now.state == RolloutState::paused) now.state = RolloutState::aborting;
      if (goes && now.state == RolloutState::rolling) now.order = RolloutOrder::abort;
      return goes;
    });
  }

  void undo() {
    const RolloutWish wish = below(2) == 0 ? RolloutWish::undo : RolloutWish::undo_now;
    change([wish](Rollout& now) {
      const auto changed = wished(now, wish, false);
      if (changed && changed.value().rollout) now = *changed.value().rollout;
      return changed && changed.value().rollout;
    });
  }

  // ---- one rollout: all its steps, and the checks after its end

  void roll_out() {
    start_rollout();
    began_ = now();
    go_on_to_end();
    // The undo of a rollout that has ended brings back all machines at which the version was kept.
    if (below(4) == 0) {
      pass(minute);
      undo();
      go_on_to_end();
    }
    ++ends_[std::string(text_of(rollout().state))];
    const auto is_quiet = [this] {
      return std::none_of(machines_.begin(), machines_.end(),
                          [](const auto& one) { return one->is_on_trial() || !one->is_alive(); });
    };
    const Ms ended = now();
    do {
      pass(1'000);
    } while (!is_quiet() && now() - ended < settle_max);
    if (!is_quiet()) is_wrong(id() + " has ended, and something is on trial still");
    judge();
    pass(static_cast<Ms>(below(10)) * minute);
  }

  void go_on_to_end() {
    const Ms began = now();
    while (!is_over(rollout().state) && wrong_.empty()) {
      suffer();
      interfere();
      look_after_controllers();
      pass(1'000);
      if (now() - began > rollout_max) is_wrong(id() + " stands still");
    }
  }

  void judge() {
    std::set<std::string> begun;
    for (const auto& one : machines_) {
      for (const auto& [command, times] : one->carried_out()) {
        if (times > 1) is_wrong(one->name() + " has carried out " + command + " twice");
      }
      if (one->begun().contains(version())) begun.insert(one->name());
      judge_version(*one);
    }
    const bool is_bad = faults_[version()] != Fault::none;
    const auto touched = static_cast<std::int64_t>(begun.size());
    if (is_bad && touched > rollout().terms.max_failed + batch_)
      is_wrong(id() + " is bad, and has touched " + std::to_string(touched));
    if (is_bad && rollout().state == RolloutState::completed && rollout().failed == 0)
      is_wrong(id() + " is bad, and nothing has failed");
  }

  // Checks the version of one machine. If the new version was confirmed on this machine, the
  // machine must run the new version, and otherwise the old version.
  void judge_version(const DayMachine& one) {
    const auto found = cell_.read({key_of(KeyKind::rollout_node, {id(), one.name()})}).found;
    const auto read = read_record<RolloutNode>(found.empty() ? "{}" : found.front().value);
    const bool confirmed = !found.empty() && read && read.value().stage == NodeStage::confirmed;
    const bool runs = one.version() == version();
    const auto disturbed = disturbed_.find(one.name());
    const bool is_sound = disturbed == disturbed_.end() || disturbed->second < began_;
    if (is_sound && faults_[version()] == Fault::none && !found.empty() && read &&
        read.value().stage == NodeStage::failed)
      is_wrong(one.name() + " has failed, and nothing has happened to it: " + read.value().error);
    if (confirmed && !runs) is_wrong(one.name() + " has lost " + version());
    const bool may_run =
        !found.empty() && read &&
        (read.value().stage == NodeStage::left || read.value().stage == NodeStage::unconfirmed ||
         read.value().stage == NodeStage::kept);
    if (runs && !confirmed && !may_run) is_wrong(one.name() + " runs what was not confirmed");
    if (runs && faults_[version()] != Fault::none) is_wrong(one.name() + " runs a bad version");
  }

  VirtualTime time_;
  FakeCell cell_{time_};
  fleet_test::Random chance_;
  std::map<std::string, Fault> faults_;
  std::vector<std::unique_ptr<DayMachine>> machines_;
  std::vector<Controller> controllers_;
  int number_ = 0;
  std::int64_t batch_ = 0;
  Ms began_ = 0;                         // when the present rollout began
  std::map<std::string, Ms> disturbed_;  // until when a fault may make the machine late
  std::size_t kills_ = 0;
  std::size_t cuts_ = 0;
  std::map<std::string, int> ends_;
  std::string wrong_;
};

// Requirements (tests/judging/rows): Z-35, Z-46
TEST_CASE("hours of rollouts lose nothing and do nothing twice, whatever dies and is cut off") {
  const auto hours = static_cast<Ms>(fleet_test::number_of("HOURS", 1));
  Day day(fleet_test::number_of("SEED", 1));

  day.live_until(hours * hour);

  CAPTURE(day.report());
  CHECK(day.wrong() == "");
  CHECK(day.kills() > 0);
  CHECK(day.ends().size() == 3);
  const std::string hours_lived = std::to_string(day.now() / hour);
  fleet_test::report("make simulate-fleet-day HOURS=" + hours_lived,
                     hours_lived + " hours of a virtual clock: " + day.report(),
                     "nothing lost, nothing done twice, every rollout ends");
}

TEST_CASE("canary: machines that forget which commands they have executed are found") {
  Day day(1, true);

  day.live_until(6 * hour);

  CHECK(day.wrong() != "");
}

}  // namespace

}  // namespace day_test

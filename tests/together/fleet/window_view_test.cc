// Tests whether the windows allow that work begins on a node now, for the drivers of rollouts,
// plans and desired versions. The test sets the wall clock.
#include "fleet/model/window_view.h"

#include <catch2/catch.hpp>

#include "fleet/model/desired_driver.h"
#include "fleet/model/keys.h"
#include "fleet/model/plan_driver.h"
#include "fleet/model/record_text.h"
#include "fleet/model/rollout_driver.h"

namespace window_view_test {

namespace {

using namespace fleet;

constexpr Ms minute = 60'000;
constexpr UnixSeconds midnight = 1'000 * 86'400;

const ZoneBook no_zones = [](const std::string&) -> Result<TimeZone> { return Refusal{"unknown"}; };

KeyValue window(const std::string& group, const Window& window) {
  return {.key = key_of(KeyKind::window, {group}), .value = write_record(window), .modified = 1};
}

KeyValue node(const std::string& id, const std::string& group, const std::string& zone = "") {
  NodeInfo info{.time_zone = zone};
  if (!group.empty()) info.labels["group"] = group;
  return {.key = key_of(KeyKind::node_info, {id}), .value = write_record(info), .modified = 1};
}

const Window at_two{.start = "02:00", .duration_s = 3'600, .time_zone = "UTC"};

WindowView view_at(UnixSeconds wall) {
  WindowView view(no_zones);
  view.set_wall(wall, 0);
  return view;
}

// Rows: A-51
TEST_CASE("a node has the window of its group, or that of all, or is always open") {
  WindowView view = view_at(midnight);
  view.take(node("a", "shop"));
  view.take(node("b", ""));
  CHECK(view.opening("a", minute, 0).is_open);
  view.take(window("shop", at_two));
  CHECK_FALSE(view.opening("a", minute, 0).is_open);
  CHECK(view.opening("b", minute, 0).is_open);
  view.take(window("all", {.start = "00:00", .duration_s = 60, .time_zone = "UTC"}));
  CHECK(view.opening("b", minute, 0).is_open);
  CHECK_FALSE(view.opening("nobody", 2 * minute, 0).is_open);
  view.take_absent(key_of(KeyKind::window, {"shop"}));
  CHECK(view.opening("a", minute, 0).is_open);
}

// Rows: A-52
TEST_CASE("a window opens at its time, and work that cannot end inside waits for the next") {
  WindowView view = view_at(midnight);
  view.take(window("all", at_two));
  const Opening closed = view.opening("n", minute, 0);
  CHECK(closed == Opening{false, 120 * minute, "its window opens in 2h"});
  CHECK(view.opening("n", minute, 120 * minute).is_open);
  CHECK(view.opening("n", 60 * minute, 120 * minute).is_open);
  const Opening late = view.opening("n", 30 * minute, 151 * minute);
  CHECK_FALSE(late.is_open);
  CHECK(late.until == (24 + 2) * 60 * minute);
  const Opening never = view.opening("n", 61 * minute, 120 * minute);
  CHECK(never == Opening{false, std::nullopt, "it takes longer than its window is open"});
}

TEST_CASE("the latest time of the wall clock counts") {
  WindowView view = view_at(midnight);
  view.take(window("all", at_two));
  CHECK_FALSE(view.opening("n", minute, 5).is_open);
  view.set_wall(midnight + 2 * 3'600, 10);
  CHECK(view.opening("n", minute, 10).is_open);
}

TEST_CASE("a time zone is looked up once until the clock is heard again, for however many nodes") {
  int lookups = 0;
  const ZoneBook counting = [&lookups](const std::string& name) -> Result<TimeZone> {
    ++lookups;
    return name == "Moon/Base" ? Result<TimeZone>(Refusal{"unknown"}) : TimeZone::utc();
  };
  DesiredTask task({"agent", "web"}, DesiredSettings{}, counting);
  Window local = at_two;
  local.time_zone = "site-local";
  task.take(window("all", local));
  task.wall_shows(midnight, 0);
  for (int i = 0; i < 1'000; ++i)
    task.take(node("n" + std::to_string(i), "", i % 2 == 0 ? "Europe/Berlin" : "Moon/Base"));

  for (int event = 0; event < 20; ++event) {
    task.take(node("n" + std::to_string(event), "", "Europe/Berlin"));
    static_cast<void>(task.next(1, event));
  }
  CHECK(lookups == 0);  // no node has the component yet
  task.take({.key = key_of(KeyKind::desired, {"web"}),
             .value = write_record(Desired{.version = "2"}),
             .modified = 3});
  for (int i = 0; i < 1'000; ++i) {
    const std::string name = "n" + std::to_string(i);
    task.take({.key = key_of(KeyKind::node_versions, {name}),
               .value = write_record(Versions{{{"agent", "1"}, {"web", "1"}}}),
               .modified = 2});
    task.take({.key = key_of(KeyKind::node_instance, {name, "i"}),
               .value = write_record(Instance{.version = "1", .ready = true}),
               .modified = 2});
    task.take({.key = key_of(KeyKind::node_active, {name}),
               .value = write_record(Active{.instance = "i"}),
               .modified = 2});
  }
  for (int event = 0; event < 20; ++event)
    static_cast<void>(task.next(1, event));
  CHECK(lookups == 2);  // one for each of the two time zones

  task.wall_shows(midnight + 60, 60'000);
  static_cast<void>(task.next(1, 60'000));
  CHECK(lookups == 4);
}

TEST_CASE("an answer about a window holds for no other window, zone, length or moment") {
  WindowView view = view_at(midnight);
  Window at_three = at_two;
  at_three.start = "03:00";
  view.take(window("two", at_two));
  view.take(window("three", at_three));
  view.take(node("a", "two"));
  view.take(node("b", "three"));
  CHECK(view.opening("a", minute, 0).until == 120 * minute);
  CHECK(view.opening("b", minute, 0).until == 180 * minute);
  CHECK(view.opening("a", 61 * minute, 0).until == std::nullopt);
  CHECK(view.opening("a", minute, 120 * minute).is_open);
  view.take(window("two", at_three));
  CHECK_FALSE(view.opening("a", minute, 120 * minute).is_open);
  view.take_absent(key_of(KeyKind::window, {"two"}));
  CHECK(view.opening("a", minute, 120 * minute).is_open);
  view.take(window("two", at_two));
  view.set_wall(midnight + 4 * 3'600, 120 * minute);
  CHECK_FALSE(view.opening("a", minute, 120 * minute).is_open);
}

TEST_CASE("while anything about a window is not known, it is closed") {
  WindowView unknown(no_zones);
  unknown.take(window("all", at_two));
  CHECK(unknown.opening("n", minute, 0).why == "nobody knows what time it is");
  WindowView view = view_at(midnight);
  view.take({.key = key_of(KeyKind::window, {"all"}), .value = "{", .modified = 1});
  CHECK_FALSE(view.opening("n", minute, 0).is_open);
  Window elsewhere = at_two;
  elsewhere.time_zone = "Moon/Base";
  view.take(window("all", elsewhere));
  CHECK(view.opening("n", minute, 0).why == "time zone Moon/Base: unknown");
  elsewhere.time_zone = "site-local";
  view.take(window("all", elsewhere));
  CHECK(view.opening("n", minute, 0).why == "it does not say its time zone");
  view.take(node("n", "", "UTC"));
  CHECK(view.opening("n", minute, 0).why == "its window opens in 2h");
}

TEST_CASE("of several nodes the one whose window opens last decides") {
  WindowView view = view_at(midnight);
  Window at_three = at_two;
  at_three.start = "03:00";
  view.take(window("two", at_two));
  view.take(window("three", at_three));
  view.take(node("a", "two"));
  view.take(node("b", "three"));
  CHECK(view.opening(std::vector<std::string>{"a", "b", "c"}, minute, 0).until == 180 * minute);
  CHECK(view.opening(std::vector<std::string>{"c"}, minute, 0).is_open);
}

// ---- windows in the drivers

Reading cell_with(const std::string& key, const std::string& record) {
  Reading reading{.revision = 9};
  reading.found = {{.key = key, .value = record, .modified = 3}, window("all", at_two)};
  return reading;
}

TEST_CASE("a rollout orders nothing until the windows of its batch are open, or are ignored") {
  RolloutTask task("c", "r", no_zones);
  Rollout rollout{.terms = {.component = "agent", .version = "2", .target = "*"},
                  .state = RolloutState::rolling,
                  .batches = 1};
  const auto next_of = [&](Ms now) {
    Reading reading = cell_with(key_of(KeyKind::rollout, {"r"}), write_record(rollout));
    reading.found.push_back({.key = key_of(KeyKind::rollout_batch, {"r"}, 0),
                             .value = write_record(RolloutBatch{{"n"}}),
                             .modified = 3});
    task.take_all(reading);
    return task.next(1, now);
  };
  task.wall_shows(midnight, 0);
  CHECK(next_of(0) == DriverStep{Wait{120 * minute}});
  CHECK(std::holds_alternative<GrantLease>(next_of(120 * minute)));
  // The window will close too soon. A node that is not confirmed goes back by itself later, and
  // that would be after the window has closed.
  CHECK(next_of(176 * minute) == DriverStep{Wait{(24 + 2) * 60 * minute}});
  rollout.terms.ignore_window = true;
  CHECK_FALSE(std::holds_alternative<Wait>(next_of(0)));
}

TEST_CASE("a plan begins only if all its steps can end inside the windows of its members") {
  PlanTask task("c", "p", no_zones);
  Plan plan{.version = "2",
            .steps = {{.name = "a", .kind = StepClass::any, .hook = "h"},
                      {.name = "b", .kind = StepClass::one_at_a_time, .hook = "h"}},
            .state = PlanState::running};
  CHECK(longest({.plan = plan, .ids = {"m", "n"}}, nullptr) == 30 * minute);
  const auto next_of = [&](Ms now) {
    Reading reading = cell_with(key_of(KeyKind::plan, {"p"}), write_record(plan));
    for (const std::string id : {"m", "n"}) {
      reading.found.push_back({.key = key_of(KeyKind::plan_member, {"p", id}),
                               .value = write_record(PlanPlace{}),
                               .modified = 4});
      reading.found.push_back(
          {.key = key_of(KeyKind::node_plan, {id, "p"}),
           .value = write_record(PlanMember{.step = 1, .phase = MemberPhase::waiting}),
           .modified = 4});
    }
    task.take_all(reading);
    return task.next(1, now);
  };
  task.wall_shows(midnight, 0);
  CHECK(next_of(0) == DriverStep{Wait{120 * minute}});
  CHECK(std::holds_alternative<Write>(next_of(150 * minute)));
  CHECK(next_of(151 * minute) == DriverStep{Wait{(24 + 2) * 60 * minute}});
  plan.ignore_window = true;
  CHECK(std::holds_alternative<Write>(next_of(0)));
  // A closed window does not hold up a plan that has begun.
  plan.ignore_window = false;
  plan.step = 1;
  CHECK(next_of(0) != DriverStep{Wait{120 * minute}});
}

}  // namespace

}  // namespace window_view_test

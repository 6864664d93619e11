// Tests the copies of records that the drivers of rollouts, plans and desired versions keep. A
// driver reads all records once, and then hears of each change. It must then know the same as a
// driver that takes over and reads all records anew: otherwise the two would decide differently.
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "fleet/model/desired/desired_view.h"
#include "fleet/model/drivers/budgets.h"
#include "fleet/model/drivers/controllers_at_work.h"
#include "fleet/model/drivers/windows.h"
#include "fleet/model/plans/plan_decision.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/rollout_view.h"
#include "tests/together/fleet/test_store.h"

namespace record_copies_test {

namespace {

using namespace fleet;
using fleet_test::TestStore;

// ---- the copies, and the part of each that decisions depend on

struct OfRollout : RolloutView {
  OfRollout() : RolloutView{.id = "r"} {}
  // A node without records, and a batch without nodes, count as absent. If the rollout is absent,
  // its driver ends, and nothing else matters.
  [[nodiscard]] RolloutView known() const {
    if (!rollout) return {.id = id};
    RolloutView view = *this;
    std::erase_if(view.nodes, [](const auto& one) { return one.second == NodeSight{}; });
    std::erase_if(view.batches, [](const auto& one) { return one.second.empty(); });
    return view;
  }
};

struct OfPlan : PlanView {
  OfPlan() : PlanView{.name = "p"} {}
  // The contents of a plan that is absent do not matter.
  [[nodiscard]] PlanView known() const {
    PlanView view = *this;
    if (view.revision == 0) view.plan = {};
    return view;
  }
};

struct OfDesired : DesiredView {
  OfDesired() : DesiredView("agent") {}
  [[nodiscard]] auto known() const {
    std::map<std::string, DesiredNode> some = nodes();
    std::erase_if(some, [](const auto& one) { return one.second == DesiredNode{}; });
    return std::tuple(some, wish(), is_wish_absent(), is_stopped());
  }
};

struct OfWindows : WindowView {
  OfWindows() : WindowView([](const std::string&) { return Result<TimeZone>(Refusal{"none"}); }) {
    set_wall(0, 0);
  }
  [[nodiscard]] auto known() const { return std::pair(opening("m", 1, 0), opening("n", 1, 0)); }
};

struct OfBudgets : Budgets {
  [[nodiscard]] auto known() const {
    std::vector<std::string> words{limits_text()};
    for (const char* node : {"m", "n"}) {
      const PlacesAnswer answer = ask("rollout/new", {node}, 8);
      words.push_back(answer.waits_for + answer.impossible);
      for (const Put& put : answer.puts)
        words.push_back(put.key + put.value);
      for (const Compare& one : answer.compares)
        words.push_back(std::to_string(one.revision));
    }
    return std::tuple(words, nodes_of("rollout/r"), nodes_of("plan/p"), nodes_of("somebody"));
  }
};

struct OfControllers : ControllersAtWork {
  void take_all(const Reading& reading) {
    *this = {};
    for (const KeyValue& record : reading.found)
      take(record);
  }
  [[nodiscard]] auto known() const { return std::tuple(living(), silent(), driving()); }
};

// ---- a cell with two of everything

struct Written {
  std::string key;
  std::string first;
  std::string second;
};

std::vector<Written> of_node(const std::string& id) {
  const auto under = [&id](KeyKind kind, std::string_view name) {
    return name.empty() ? key_of(kind, {id}) : key_of(kind, {id, name});
  };
  std::vector<Written> all{
      {under(KeyKind::node_active, ""), R"({"instance":"i1"})", R"({"instance":"i2"})"},
      {under(KeyKind::node_instance, "i1"), R"({"ready":true})", R"({"degraded":"full"})"},
      {under(KeyKind::node_instance, "i2"), R"({"degraded":"full"})", R"({"ready":true})"},
      {under(KeyKind::node_info, ""), R"({"labels":{"group":"shop","site":"north"}})",
       R"({"labels":{"group":"else","site":"south"}})"},
      {under(KeyKind::node_versions, ""), R"({"agent":"1","web":"7"})",
       R"({"agent":"2","web":"8"})"},
      {key_of(KeyKind::identity, {"node", id}), R"({"labels":{"site":"north"}})",
       R"({"labels":{"site":"south","group":"else"}})"},
  };
  for (const char* component : {"agent", "web"}) {
    const std::string version = component + std::string("-1");
    all.push_back({under(KeyKind::node_claim, component), R"({"by":"a"})", R"({"by":"b"})"});
    all.push_back({under(KeyKind::node_command, component), R"({"id":"c1"})", R"({"id":"c2"})"});
    all.push_back({under(KeyKind::node_answer, component), R"({"command":"c1","result":"done"})",
                   R"({"command":"c2","result":"done"})"});
    all.push_back({under(KeyKind::node_desired, component), R"({"version":")" + version + "\"}",
                   R"({"version":"3","pinned":true})"});
    all.push_back({under(KeyKind::node_upgrade, component),
                   R"({"phase":"soaking","attempt":")" + version + "\"}",
                   R"({"phase":"done","attempt":"c2"})"});
  }
  for (const char* plan : {"p", "q"})
    all.push_back({under(KeyKind::node_plan, plan), R"({"step":1})", R"({"step":2})"});
  return all;
}

std::vector<Written> of_cell() {
  const auto place = [](const char* number) {
    return key_of(KeyKind::place, {"site", place_value("north"), number});
  };
  std::vector<Written> all{
      {key_of(KeyKind::stop), "{}", "{}"},
      {key_of(KeyKind::epoch), R"({"number":1})", R"({"number":2})"},
      {key_of(KeyKind::settings), R"({"unavailable.site":"3"})", R"({"unavailable.site":"4"})"},
      {key_of(KeyKind::window, {"all"}), R"({"start":"01:00","duration_s":60})",
       R"({"start":"02:00","duration_s":60})"},
      {key_of(KeyKind::window, {"shop"}), R"({"start":"03:00","duration_s":60})",
       R"({"start":"04:00","duration_s":60})"},
      {key_of(KeyKind::desired, {"agent"}), R"({"version":"2"})", R"({"version":"3"})"},
      {key_of(KeyKind::desired, {"web"}), R"({"version":"8"})", R"({"version":"9"})"},
      {key_of(KeyKind::controller, {"c1"}), "{}", "{}"},
      {key_of(KeyKind::controller, {"c2"}), "{}", "{}"},
      {key_of(KeyKind::controller_life, {"c1", "a"}), "{}", "{}"},
      {key_of(KeyKind::controller_life, {"c1", "b"}), "{}", "{}"},
      {key_of(KeyKind::controller_life, {"c3", "a"}), "{}", "{}"},
      {key_of(KeyKind::driver, {"r"}), R"({"controller":"c1"})", R"({"controller":"c2"})"},
      {place("0"), R"({"node":"m","by":"rollout/r"})", R"({"node":"m","by":"plan/p"})"},
      {place("1"), R"({"node":"n","by":"plan/p"})", R"({"node":"n","by":"plan/q"})"},
      {place("2"), R"({"node":"n","by":"plan/q"})", R"({"node":"n","by":"rollout/r"})"},
      {"/fleet/v1/no/such/kind", "{}", "?"},
      {"/elsewhere", "{}", "?"},
  };
  for (const char* run : {"r", "s", "p.t"}) {
    all.push_back({key_of(KeyKind::rollout, {run}),
                   write_record(Rollout{.terms = {.component = "agent", .version = "2"},
                                        .state = RolloutState::rolling}),
                   write_record(Rollout{.terms = {.component = "agent", .version = "2"},
                                        .state = RolloutState::paused})});
    all.push_back(
        {key_of(KeyKind::rollout_batch, {run}, 0), R"({"nodes":["m"]})", R"({"nodes":["m","n"]})"});
    all.push_back({key_of(KeyKind::rollout_node, {run, "n"}), R"({"stage":"applying"})",
                   R"({"stage":"failed"})"});
  }
  for (const char* plan : {"p", "q"}) {
    all.push_back(
        {key_of(KeyKind::plan, {plan}), R"({"state":"running"})", R"({"state":"stopping"})"});
    all.push_back({key_of(KeyKind::once, {plan, "s"}), R"({"version":"1","success":true})",
                   R"({"version":"2"})"});
    for (const char* member : {"m", "n"})
      all.push_back({key_of(KeyKind::plan_member, {plan, member}), "{}", "{}"});
  }
  for (const char* node : {"m", "n"}) {
    const auto some = of_node(node);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

// A record of the rollout r or of its nodes' progress that cannot be read ends the driver of r. So
// no change comes after it.
bool ends_driver(const std::string& key) {
  return key.starts_with(key_of(KeyKind::rollout, {"r"}));
}

TEMPLATE_TEST_CASE("a driver that hears of a change knows the same as one that reads all anew", "",
                   OfRollout, OfPlan, OfDesired, OfWindows, OfBudgets, OfControllers) {
  TestStore store;
  const std::vector<Written> records = of_cell();
  for (const Written& one : records)
    store.put(one.key, one.first);
  const auto anew = [&store] {
    TestType copy;
    copy.take_all(store.read({"/"}));
    return copy;
  };
  TestType hears = anew();
  const auto is_changed = [&](const std::string& key) {
    CAPTURE(key, store.find(key) == nullptr ? "absent" : store.find(key)->value);
    if (const KeyValue* record = store.find(key)) {
      hears.take(*record);
    } else {
      hears.take_absent(key);
    }
    CHECK(hears.known() == anew().known());
  };
  for (const Written& one : records) {
    store.erase(one.key);
    is_changed(one.key);
    if (!ends_driver(one.key)) {
      store.put(one.key, "?");
      is_changed(one.key);
    }
    store.put(one.key, one.second);
    is_changed(one.key);
  }
  // The watch has ended, and all records are read again. Some were erased meanwhile.
  for (const Written& one : records) {
    store.erase(one.key);
    hears.take_all(store.read({"/"}));
    CAPTURE(one.key);
    CHECK(hears.known() == anew().known());
  }
}

}  // namespace

}  // namespace record_copies_test

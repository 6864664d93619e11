// Tests how fleetctl and the web page explain that work must wait. The reasons are a closed window
// (a time in which work may begin), a stop that a person has ordered, and a used-up budget of nodes
// that may be down.
#include "fleet/model/reasons/held.h"

#include <catch2/catch.hpp>

#include "fleet/fleetctl/plans.h"
#include "fleet/fleetctl/status_view.h"
#include "fleet/http/outlook.h"
#include "fleet/http/state.h"
#include "fleet/model/drivers/budgets.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"

namespace held_test {

namespace {

using namespace fleet;

KeyValue record(const std::string& key, const std::string& value) {
  return {.key = key, .value = value, .modified = 1};
}

// ---- the decision

TEST_CASE("a rollout that may not begin its batch says what it waits for") {
  const Rollout rollout{.state = RolloutState::rolling, .batch = 1, .batches = 2};
  Reading own{.found = {record("/fleet/v1/rollout/r/batch/0", R"({"nodes":["n1"]})"),
                        record("/fleet/v1/rollout/r/batch/1", R"({"nodes":["n2","n3"]})"),
                        record("/fleet/v1/rollout/r/node/n2", R"({"stage":"confirmed"})")}};
  const ToBegin what{.nodes = nodes_to_begin(rollout, own), .takes = 300'000};
  CHECK(what.nodes == std::vector<std::string>{"n3"});
  own.found[2].value = R"({"stage":"left"})";
  CHECK(nodes_to_begin(rollout, own) == what.nodes);
  own.found[2].value = R"({"stage":"not-judged"})";
  CHECK(nodes_to_begin(rollout, own) == what.nodes);
  Rollout once_more = rollout;
  once_more.again = 1;
  CHECK(nodes_to_begin(once_more, own) == std::vector<std::string>{"n2", "n3"});
  own.found[2].value = R"({"stage":"applying"})";
  CHECK(nodes_to_begin(rollout, own) == std::vector<std::string>{"n2", "n3"});
  own.found.push_back(record("/fleet/v1/rollout/r/node/n3", R"({"stage":"applying"})"));
  CHECK(nodes_to_begin(rollout, own).empty());

  const auto why = [&what](const std::string& key, const std::string& value) {
    const auto no_zone = [](const std::string&) { return Result<TimeZone>(Refusal{"none"}); };
    return held_back(what, {.found = {record("/fleet/v1/" + key, value)}}, 3'600, no_zone);
  };
  CHECK(why("stop", "{}").words == "the end of the stop (fleetctl stop off)");
  const auto later = why("window/all", R"({"start":"03:00","duration_s":3600})");
  CHECK(later.words == "n3: its window opens in 2h");
  CHECK_FALSE(later.needs_person);
  const auto never = why("window/all", R"({"start":"01:00","duration_s":60})");
  CHECK(never.words == "n3: it takes longer than its window is open");
  CHECK(never.needs_person);
  CHECK(why("window/all", R"({"start":"01:00","duration_s":3600})").words.empty());
}

TEST_CASE("a plan waits for the windows of all its members, until its first step has begun") {
  PlanView view{.plan = {.state = PlanState::running}, .ids = {"n1", "n2"}};
  CHECK(nodes_to_begin(view) == view.ids);
  view.plan.step = 1;
  CHECK(nodes_to_begin(view).empty());
  view.plan = {.state = PlanState::stopping};
  CHECK(nodes_to_begin(view).empty());
}

TEST_CASE("work that no controller drives waits for a controller") {
  Reading cell;
  const auto add = [&cell](const std::string& key, const std::string& value = "{}") {
    cell.found.push_back(record("/fleet/v1/" + key, value));
  };
  CHECK(undriven("r", cell).words == "a controller: none is at work");
  add("controller/c1");
  CHECK(undriven("r", cell).words == "a controller: c1 is silent");
  add("controller/c2");
  CHECK(undriven("r", cell).words == "a controller: c1, c2 are silent");
  CHECK(undriven("r", cell).needs_person);
  add("controller/c2/life/a");
  CHECK(undriven("r", cell).words == "a controller that drives it");
  CHECK_FALSE(undriven("r", cell).needs_person);
  add("driver/r", R"({"controller":"c2"})");
  CHECK(undriven("r", cell).words.empty());
  CHECK_FALSE(undriven("r2", cell).words.empty());
}

TEST_CASE("a plan of a restored store waits for a newer controller if an older one drives it") {
  const Reading cell{.found = {record("/fleet/v1/driver/p", R"({"controller":"c2"})")}};
  PlanView view{.name = "p", .plan = {.state = PlanState::running}, .revision = 7};
  CHECK(not_halted(view, cell).words.empty());
  view.restored = 7;
  CHECK(not_halted(view, cell).words.empty());
  view.restored = 8;
  CHECK(not_halted(view, cell).words ==
        "a newer controller than c2, to halt it, since it ran when the store was restored");
  CHECK(not_halted(view, cell).needs_person);
}

TEST_CASE("a plan waits for the rollout of its fleet-agent, and for a person if that is paused") {
  PlanView view{.name = "p",
                .plan = {.agent = "2", .state = PlanState::running, .trace = "t"},
                .revision = 7};
  CHECK(agents_to_come(view).words.empty());
  view.rollouts["p.t"].state = RolloutState::rolling;
  CHECK(agents_to_come(view).words == "rollout p.t, which brings fleet-agent 2");
  CHECK_FALSE(agents_to_come(view).needs_person);
  view.rollouts["p.t"] = {.state = RolloutState::paused, .reason = "asked for by anna"};
  CHECK(agents_to_come(view).words ==
        "rollout p.t, which brings fleet-agent 2, and is paused: asked for by anna");
  CHECK(agents_to_come(view).needs_person);
  view.plan.step = 1;
  CHECK(agents_to_come(view).words.empty());
}

TEST_CASE("the batches of a new rollout whose windows never open together are named") {
  const auto no_zone = [](const std::string&) { return Result<TimeZone>(Refusal{"none"}); };
  WindowView windows(no_zone);
  windows.set_wall(3'600, 0);
  for (const std::string group : {"a", "b"}) {
    windows.take(record(
        key_of(KeyKind::window, {group}),
        R"({"duration_s":3600,"start":"0)" + std::string(group == "a" ? "2" : "3") + R"(:00"})"));
    windows.take_node("of-" + group, {.labels = {{"group", group}}});
  }
  RolloutTerms terms{.soak_ms = 60'000};
  const auto lines = [&] {
    return batches_held_for_ever({{"of-a"}, {"of-a", "of-b"}, {"n"}}, terms, windows);
  };

  CHECK(lines() == std::vector<std::string>{
                       "batch 2 cannot begin: of-a, of-b: their windows are never open at the same "
                       "time for long enough"});
  terms.ignore_window = true;
  CHECK(lines().empty());
}

TEST_CASE("of nodes that begin one by one, the window that opens first counts") {
  const auto no_zone = [](const std::string&) { return Result<TimeZone>(Refusal{"none"}); };
  WindowView windows(no_zone);
  windows.set_wall(3'600, 0);
  const auto window = [&windows](const std::string& group, const std::string& value) {
    windows.take(record(key_of(KeyKind::window, {group}), value));
    windows.take_node("of-" + group, {.labels = {{"group", group}}});
  };
  window("a", R"({"start":"01:00","duration_s":60})");
  window("b", R"({"start":"05:00","duration_s":3600})");
  window("c", R"({"start":"03:00","duration_s":3600})");
  ToBegin what{.nodes = {"of-a", "of-b", "of-c"}, .takes = 300'000, .one_by_one = true};

  const Held held = held_back(what, false, windows);
  CHECK(held.words == "of-c: its window opens in 2h");
  CHECK_FALSE(held.needs_person);
  what.nodes.emplace_back("without a window");
  CHECK(held_back(what, false, windows).words.empty());
  CHECK(held_back(what, true, windows).words == "the end of the stop (fleetctl stop off)");
  what.nodes = {"of-a"};
  CHECK(held_back(what, false, windows).needs_person);
  what.ignore_window = true;
  CHECK(held_back(what, false, windows).words.empty());
}

TEST_CASE("a node that may not move to the desired version waits for no window") {
  const CellWish wish{.desired = {.version = "2"}, .revision = 7};
  const DesiredNode free{.running = "1",
                         .active = {{.instance = "i"}, 1},
                         .instances = {{"i", {{.version = "1"}, 1}}}};
  const auto begin = [&wish, &free](const DesiredNode& other) {
    NextNodes next("web", wish);
    next.take("free", free);
    next.take("other", other);
    return next.to_begin().nodes;
  };
  const std::vector<std::string> both{"free", "other"};
  const std::vector<std::string> one{"free"};
  CHECK(begin(free) == both);

  DesiredNode node = free;
  node.running = "2";
  CHECK(begin(node) == one);
  node = free;
  node.claim.revision = 8;
  CHECK(begin(node) == one);
  node = free;
  node.desired = {{.version = "1", .pinned = true}, 3};
  CHECK(begin(node) == one);
  node.desired = {{.version = "3"}, 9};  // a later rollout has moved the node to version 3
  CHECK(begin(node) == one);
  node = free;
  node.instances.clear();
  CHECK(begin(node) == one);
  // The first node has begun to move to version 2. The second node must wait until the first one
  // has succeeded.
  node.desired = {{.version = "2", .trace = wish.trace()}, 9};
  CHECK(begin(node).empty());
  // The first node has failed, so no other node may begin.
  node.upgrade = {{.phase = UpgradePhase::failed, .attempt = "desired.9.1"}, 10};
  CHECK(begin(node).empty());
}

TEST_CASE("a node at its gate counts beside those that may begin") {
  const auto no_zone = [](const std::string&) { return Result<TimeZone>(Refusal{"none"}); };
  WindowView windows(no_zone);
  windows.set_wall(3'600, 0);
  windows.take(record("/fleet/v1/window/all", R"({"start":"01:00","duration_s":300})"));
  ToBegin what{.nodes = {"n2"}, .takes = 600'000, .one_by_one = true};
  CHECK(held_back(what, false, windows).words == "n2: it takes longer than its window is open");
  what.at_gate = {"n1"};
  what.stop_takes = 60'000;
  CHECK(held_back(what, false, windows).words.empty());
  what.stop_takes = 600'000;
  CHECK(held_back(what, false, windows).words == "n1: it takes longer than its window is open");
}

// ---- fleetctl and the page

// The records of a cell, for two readers: fleetctl, and a controller that shows them at 01:00.
struct Bench {
  std::map<std::string, KeyValue, std::less<>> records;
  CellState cell;
  Health health{.follows = true};
  DesiredSettings settings;  // the settings of the controller

  void put(const std::string& rest, const std::string& value) {
    const KeyValue made = record(std::string(key_root) + rest, value);
    records[made.key] = made;
    cell.take(made);
  }
  void erase(const std::string& rest) {
    records.erase(std::string(key_root) + rest);
    cell.take_absent(std::string(key_root) + rest);
  }
  // Adds a node that runs version 1 of the component `web`. The label in the node's identity is
  // group=shop, and the node itself reports group=bakery.
  void put_node(const std::string& name) {
    put("node/" + name + "/active", R"({"instance":"i"})");
    put("identity/node/" + name, R"({"labels":{"group":"shop"}})");
    put("node/" + name + "/instance/i", "{}");
    put("node/" + name + "/versions", R"({"web":"1"})");
    put("node/" + name + "/info", R"({"labels":{"group":"bakery"}})");
  }

  [[nodiscard]] Reading reading() const {
    Reading all;
    for (const auto& [key, value] : records)
      all.found.push_back(value);
    return all;
  }

  // Returns the web page's text about `subject` in one of the page's lists, such as `moves`.
  [[nodiscard]] std::string page(const std::string& list, const std::string& subject) const {
    const Response answer =
        state_answer({}, "", {records, cell, health}, {.now = 3'600, .desired = settings});
    const JsonTree tree = parse_tree(answer.body).value();
    for (const JsonTree& line : tree.find("outlook")->find(list)->elements) {
      if (line.text_of("subject") == subject) return line.text_of("text");
    }
    return "";
  }

  [[nodiscard]] std::vector<std::string> status() const {
    WindowView windows([](const std::string&) { return Result<TimeZone>(Refusal{"none"}); });
    windows.set_wall(3'600, 0);
    windows.take_all(reading());
    return fleetctl::wish_lines(reading(), nodes_in(reading()), windows);
  }
  // Returns the line of `fleetctl plan show p` that says for what the plan waits.
  [[nodiscard]] std::string plan_waits_for() const {
    PlanView view{.name = "p"};
    view.take_all(reading());
    Budgets budgets;
    budgets.take_all(reading());
    const Held held = held_back(to_begin(view, budgets), reading(), 3'600, [](const std::string&) {
      return Result<TimeZone>(Refusal{"none"});
    });
    for (const std::string& line : fleetctl::plan_page(view, held)) {
      if (line.find("waits for") != std::string::npos) return line.substr(line.find("waits for"));
    }
    return "";
  }
};

constexpr const char* hour_from_three = R"({"start":"03:00","duration_s":3600})";
constexpr const char* minute_from_three = R"({"start":"03:00","duration_s":60})";

TEST_CASE("the page and fleetctl say what a desired version waits for") {
  Bench bench;
  bench.put_node("n1");
  bench.put("driver/desired", R"({"controller":"c1"})");
  bench.put("desired/web", R"({"version":"2"})");
  const std::string page = "web 2 is desired; 1 node without it";
  CHECK(bench.page("notes", "desired/web") == page);
  CHECK(bench.status() == std::vector<std::string>{"desired: web 2"});

  bench.put("window/shop", hour_from_three);
  const std::string later = "; waits for n1: its window opens in 2h";
  CHECK(bench.page("notes", "desired/web") == page + later);
  CHECK(bench.status() == std::vector<std::string>{"desired: web 2" + later});

  bench.put("window/shop", minute_from_three);
  const std::string never = "; waits for n1: it takes longer than its window is open";
  CHECK(bench.page("notes", "desired/web").empty());
  CHECK(bench.page("waits", "desired/web") == page + never);
  CHECK(bench.status() == std::vector<std::string>{"desired: web 2" + never});

  bench.erase("window/shop");
  bench.put("stop", "{}");
  const std::string stop = "; waits for the end of the stop (fleetctl stop off)";
  CHECK(bench.page("notes", "desired/web") == page + stop);
  CHECK(bench.status() == std::vector<std::string>{"desired: web 2" + stop});

  bench.put("node/n1/claim/web", R"({"by":"rollout/r"})");
  CHECK(bench.page("notes", "desired/web") == page);
  CHECK(bench.status() == std::vector<std::string>{"desired: web 2"});
  bench.erase("node/n1/claim/web");
  bench.put("desired/web", R"({"version":"2","pending":true,"why":"plan/p"})");
  CHECK(bench.page("notes", "desired/web").find("waits for") == std::string::npos);
}

TEST_CASE("the page uses the group in the identity of a node without records") {
  Bench bench;
  bench.put("identity/node/n1", R"({"labels":{"group":"shop"}})");
  bench.put("driver/p", R"({"controller":"c1"})");
  bench.put("plan/p", write_record(Plan{.version = "2", .state = PlanState::running}));
  bench.put("plan/p/member/n1", "{}");
  bench.put("window/shop", hour_from_three);
  CHECK(bench.page("moves", "plan/p").ends_with("; waits for n1: its window opens in 2h"));
  CHECK(bench.plan_waits_for() == "waits for  n1: its window opens in 2h");
}

TEST_CASE("the page knows for how long the controller observes a new version") {
  Bench bench;
  bench.put_node("n1");
  bench.put("driver/desired", R"({"controller":"c1"})");
  bench.put("desired/web", R"({"version":"2"})");
  bench.put("window/shop", hour_from_three);
  CHECK(bench.page("notes", "desired/web").ends_with("n1: its window opens in 2h"));
  bench.settings.observe_ms = 3'600'000;
  CHECK(
      bench.page("waits", "desired/web").ends_with("n1: it takes longer than its window is open"));
}

TEST_CASE("the page and fleetctl say what a node at its gate waits for") {
  Bench bench;
  bench.put_node("n1");
  bench.put_node("n2");
  bench.put("driver/desired", R"({"controller":"c1"})");
  bench.put("desired/web", R"({"version":"2"})");
  bench.put("node/n1/desired/web", R"({"version":"2","trace":"desired-1"})");
  bench.put("node/n1/upgrade/web", R"({"to":"2","phase":"cutover-ready","attempt":"desired.1.1"})");
  const std::string page = "web 2 is desired: 1 node on the way, 2 still without it";
  const auto check = [&](const std::string& list, const std::string& words) {
    CHECK(bench.page(list, "desired/web") == page + words);
    CHECK(bench.status() == std::vector<std::string>{"desired: web 2" + words});
  };
  check("moves", "");
  bench.put("window/shop", hour_from_three);
  check("moves", "; waits for n1: its window opens in 2h");
  // A window of one minute is long enough, since the node has only to stop its old version.
  bench.put("window/shop", minute_from_three);
  check("moves", "; waits for n1: its window opens in 2h");
  bench.put("window/shop", R"({"start":"01:00","duration_s":60})");
  check("moves", "");
  bench.put("stop", "{}");
  check("moves", "; waits for the end of the stop (fleetctl stop off)");

  // A node that a rollout has claimed (reserved for itself) does not wait for its window. A node
  // whose new version is not ready yet goes on with its upgrade.
  bench.put("node/n1/claim/web", R"({"by":"rollout/r"})");
  check("moves", "");
  bench.erase("node/n1/claim/web");
  bench.put("node/n1/upgrade/web", R"({"to":"2","phase":"staging","attempt":"desired.1.1"})");
  check("moves", "");
}

TEST_CASE("the page and fleetctl say which places a node at its gate waits for") {
  Bench bench;
  for (const char* name : {"n1", "n2"})
    bench.put_node(name);
  bench.put("driver/desired", R"({"controller":"c1"})");
  bench.put("desired/web", R"({"version":"2"})");
  bench.put("node/n1/desired/web", R"({"version":"2","trace":"desired-1"})");
  bench.put("node/n1/upgrade/web", R"({"to":"2","phase":"cutover-ready","attempt":"desired.1.1"})");
  const std::string page = "web 2 is desired: 1 node on the way, 2 still without it";
  const auto check = [&](const std::string& words) {
    CHECK(bench.page("moves", "desired/web") == page + words);
    CHECK(bench.status() == std::vector<std::string>{"desired: web 2" + words});
  };
  // The budget uses the label in the node's identity (shop), not the label that the node reports
  // (bakery).
  bench.put("settings", R"({"unavailable.group":"1"})");
  check("");
  const std::string place = "place/group/" + place_value("shop") + "/0";
  bench.put(place, R"({"node":"n2","by":"rollout/r","value":"shop"})");
  check("; waits for n1: group=shop: 1 of 1 places are taken, by n2 (rollout/r)");
  bench.put(place, R"({"node":"n1","by":"desired/web","value":"shop"})");
  check("");
  bench.erase(place);
  bench.erase("node/n2/instance/i");
  check("; waits for n1: group=shop: 1 of 1 places are taken, by n2 (does not work)");

  // A node that may ignore its window must still wait until the budget allows the node to go down.
  bench.put("window/shop", hour_from_three);
  check("; waits for n1: its window opens in 2h");
  bench.put("desired/web", R"({"version":"2","ignore_window":true})");
  check("; waits for n1: group=shop: 1 of 1 places are taken, by n2 (does not work)");
}

TEST_CASE("the page and fleetctl say what a pinned node at its gate waits for") {
  Bench bench;
  bench.put_node("n1");
  bench.put_node("n2");
  bench.put("node/n1/desired/web", R"({"version":"3","pinned":true})");
  bench.put("node/n1/upgrade/web", R"({"to":"3","phase":"cutover-ready","attempt":"desired.1.1"})");
  const std::string pin = "node/n1/desired/web";
  const auto check = [&](const std::string& words) {
    CHECK(bench.page("moves", pin) == "web 3 is desired of n1; waits for " + words);
    CHECK(bench.status() == std::vector<std::string>{"desired of n1: web 3; waits for " + words});
  };
  CHECK(bench.page("moves", pin).empty());
  CHECK(bench.status() == std::vector<std::string>{"desired of n1: web 3"});

  bench.put("window/shop", minute_from_three);
  check("n1: its window opens in 2h");
  bench.settings.stop_ms = 120'000;
  CHECK(bench.page("waits", pin).ends_with("n1: it takes longer than its window is open"));
  bench.put("stop", "{}");
  check("the end of the stop (fleetctl stop off)");
  bench.erase("stop");
  bench.erase("window/shop");
  bench.put("settings", R"({"unavailable.group":"1"})");
  bench.erase("node/n2/instance/i");
  check("n1: group=shop: 1 of 1 places are taken, by n2 (does not work)");

  // The page shows one line for all nodes with the same version. The line says for what the first
  // of these nodes waits.
  bench.put("node/n2/desired/web", R"({"version":"3","pinned":true})");
  bench.put("node/n2/upgrade/web", R"({"to":"3","phase":"cutover-ready","attempt":"desired.1.1"})");
  bench.put("node/n2/instance/i", "{}");
  bench.put("stop", "{}");
  CHECK(bench.page("moves", pin).starts_with("web 3 is desired of n1, n2; waits for the end"));
  CHECK(bench.status().size() == 1);
  bench.erase("stop");

  // n1 ignores its window, and a rollout has claimed (reserved) n2. So the page must not say that
  // n1 or n2 waits for a window.
  bench.put("window/shop", hour_from_three);
  bench.put("node/n1/desired/web", R"({"version":"3","pinned":true,"ignore_window":true})");
  bench.put("node/n2/claim/web", R"({"by":"rollout/r"})");
  CHECK(bench.page("moves", pin).empty());
  CHECK(bench.status() == std::vector<std::string>{"desired of n1, n2: web 3"});
}

TEST_CASE("the page says which places a rollout and a plan wait for, as their records do") {
  Bench bench;
  const std::string places = "site=north: 1 of 1 places are taken, by n7 (rollout/r2)";
  Rollout rollout{
      .terms = {.component = "web", .version = "2"}, .state = RolloutState::rolling, .batches = 1};
  rollout.waits_for = places;
  Plan plan{.version = "2", .state = PlanState::running};
  plan.waits_for = places;
  bench.put("rollout/r1", write_record(rollout));
  bench.put("driver/r1", R"({"controller":"c1"})");
  bench.put("plan/p", write_record(plan));
  bench.put("driver/p", R"({"controller":"c1"})");
  CHECK(bench.page("moves", "rollout/r1").ends_with("; waits for " + places));
  CHECK(bench.page("moves", "plan/p").ends_with("; waits for " + places));
  bench.put("stop", "{}");
  bench.put("rollout/r1/batch/0", R"({"nodes":["n1"]})");
  const std::string stop = "; waits for the end of the stop (fleetctl stop off)";
  CHECK(bench.page("moves", "rollout/r1").ends_with(stop));
}

TEST_CASE("the page and fleetctl say what a plan waits for before its first step") {
  Bench bench;
  bench.put_node("n1");
  bench.put("driver/p", R"({"controller":"c1"})");
  Plan plan{.version = "2",
            .steps = {{.name = "a", .kind = StepClass::any, .hook = "a", .timeout_ms = 1'800'000}},
            .state = PlanState::running};
  bench.put("plan/p", write_record(plan));
  bench.put("plan/p/member/n1", "{}");
  CHECK(bench.page("moves", "plan/p") == "plan p (2) is under way: step 0 of 1");
  CHECK(bench.plan_waits_for().empty());

  bench.put("window/shop", hour_from_three);
  CHECK(bench.page("moves", "plan/p").ends_with("; waits for n1: its window opens in 2h"));
  CHECK(bench.plan_waits_for() == "waits for  n1: its window opens in 2h");

  // The budget allows one node to be down, so the two members do the step one after the other. That
  // takes longer than the window of half an hour.
  bench.put_node("n2");
  bench.put("plan/p/member/n2", "{}");
  bench.put("window/shop", R"({"start":"03:00","duration_s":1800})");
  CHECK(bench.page("moves", "plan/p").ends_with("its window opens in 2h"));
  bench.put("settings", R"({"unavailable.group":"1"})");
  CHECK(bench.page("moves", "plan/p").empty());
  const std::string never = "waits for n1: it takes longer than its window is open";
  CHECK(bench.page("waits", "plan/p").ends_with(never));
  CHECK(bench.plan_waits_for() == "waits for  n1: it takes longer than its window is open");

  plan.step = 1;
  bench.put("plan/p", write_record(plan));
  CHECK(bench.page("moves", "plan/p") == "plan p (2) is under way: step 1 of 1");
  CHECK(bench.plan_waits_for().empty());
}

TEST_CASE("the page names what a rollout waits for, and asks for a person if time does not help") {
  CellState cell;
  const Rollout rollout{.terms = {.component = "agent", .version = "2"},
                        .state = RolloutState::rolling,
                        .batches = 1};
  cell.take(record("/fleet/v1/rollout/r1", write_record(rollout)));
  cell.take(record("/fleet/v1/driver/r1", R"({"controller":"c1"})"));
  const auto outlook = [&cell](const Held& why) {
    return outlook_of(cell, {}, 0,
                      why.words.empty() ? HeldWork{} : HeldWork{{{"rollout/r1", why}}});
  };
  REQUIRE(outlook({}).moves.size() == 1);
  CHECK(outlook({}).moves[0].not_before);

  const Outlook later = outlook({.words = "n2: its window opens in 2h"});
  REQUIRE(later.moves.size() == 1);
  CHECK(later.moves[0].text.ends_with("; waits for n2: its window opens in 2h"));
  CHECK_FALSE(later.moves[0].not_before);

  const Outlook never = outlook({.words = "n2: its window never opens", .needs_person = true});
  CHECK(never.moves.empty());
  REQUIRE(never.waits.size() == 1);
  CHECK(never.waits[0].text.ends_with("; waits for n2: its window never opens"));
  CHECK(never.waits[0].commands ==
        std::vector<std::string>{"fleetctl window list", "fleetctl rollout abort r1"});
}

}  // namespace

}  // namespace held_test

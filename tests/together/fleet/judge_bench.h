// A rollout over many nodes, for tests of the judge. The judge is the part of a rollout's driver
// that compares the nodes that run the new version with nodes that run the old one. The driver in
// these tests is the real one. The store is in memory.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fleet/model/drivers/drivers.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/batch_draft.h"
#include "tests/together/fleet/test_store.h"

namespace fleet_test {

using namespace fleet;

inline constexpr Ms second = 1'000;
inline constexpr Ms minute = 60 * second;

// A rollout and its driver. The first batch has 51 nodes, and the second batch has all other nodes.
// The nodes do nothing by themselves: the test writes their reports.
struct JudgeBench : DriverWork {
  using Ids = std::vector<std::string>;

  std::optional<RolloutDriver> driver;
  Ids nodes;
  Ids first;  // the nodes of the first batch
  Ms now = 0;
  int drivers = 0;
  int lives = 0;

  explicit JudgeBench(std::size_t count = 600, NodeOrder order = NodeOrder::random,
                      const std::string& component = "agent", Ms soak = 600 * minute) {
    RolloutTerms terms{.component = component,
                       .version = "2",
                       .soak_ms = soak,
                       .max_failed = 100,
                       .batches = "51,100%",
                       .order = order,
                       .seed = "s"};
    std::vector<PlacedNode> placed;
    for (std::size_t i = 0; i < count; ++i) {
      placed.push_back({.id = "n" + std::to_string(10'000 + i)});
      nodes.push_back(placed.back().id);
      starts(nodes.back());
    }
    const auto batches = draft_batches(terms, placed).batches;
    first = batches[0];
    for (std::size_t i = 0; i < batches.size(); ++i)
      store.put(key_of(KeyKind::rollout_batch, {"r"}, i), write_record(RolloutBatch{batches[i]}));
    store.put(key_of(KeyKind::rollout, {"r"}),
              write_record(Rollout{.terms = terms,
                                   .state = RolloutState::rolling,
                                   .batches = static_cast<std::int64_t>(batches.size())}));
    drive();
  }

  void drive() {
    driver.emplace("c", "r", 100 + ++drivers);
    asked.clear();
    tell(BeginDriving{});
    settle();
  }
  void replace_driver() {
    store.end_lease(100 + drivers);
    drive();
  }

  void tell(const DriverEvent& event) { take(driver->step(event, now)); }
  void settle() {
    DriverWork::settle([this](const DriverEvent& event) { tell(event); });
  }

  void put(const std::string& key, const std::string& value) {
    store.put(key, value);
    if (!driver) return;
    tell(KeyChanged{*store.find(key), true});
  }
  void wait(Ms time) {
    for (const Ms end = now + time; now < end;) {
      now = std::min(end, now + 10 * second);
      tell(KeptAlive{});
      tell(TimePassed{});
      settle();
    }
  }

  // ---- reports of nodes

  // Registers a new process of fleet-agent on the node, as after a restart of fleet-agent.
  void starts(const std::string& node, const std::string& version = "1") {
    const std::string instance = "i" + std::to_string(++lives);
    put(key_of(KeyKind::node_instance, {node, instance}),
        write_record(Instance{.version = version}));
    put(key_of(KeyKind::node_active, {node}), write_record(Active{.instance = instance}));
  }
  void is_silent(const std::string& node) {
    const std::string prefix = node_prefix(node) + "instance/";
    Ids keys;
    for (const auto& [key, record] : store.all()) {
      if (key.starts_with(prefix)) keys.push_back(key);
    }
    for (const std::string& key : keys) {
      store.erase(key);
      tell(KeyErased{key, store.revision(), true});
    }
  }
  void is_removed(const std::string& node) {
    is_silent(node);
    const std::string active = key_of(KeyKind::node_active, {node});
    store.erase(active);
    tell(KeyErased{active, store.revision(), true});
  }
  // Reports that the nodes of the first batch have prepared and applied the release, and that their
  // soak has begun: the new version must now work for some time.
  void first_soaks(const std::string& component = "agent") {
    for (const UpgradePhase phase : {UpgradePhase::staging, UpgradePhase::soaking}) {
      for (const std::string& node : first) {
        const std::string id = command(node, component).id;
        put(key_of(KeyKind::node_upgrade, {node, component}),
            write_record(Upgrade{.phase = phase, .attempt = "r.apply.1"}));
        put(key_of(KeyKind::node_answer, {node, component}),
            write_record(Answer{.command = id, .result = "done"}));
      }
      tell(KeptAlive{});
      settle();
    }
  }
  void first_reports(UpgradePhase phase, const std::string& component = "agent") {
    for (const std::string& node : first) {
      put(key_of(KeyKind::node_upgrade, {node, component}),
          write_record(Upgrade{.phase = phase, .attempt = "r.apply.1"}));
    }
    tell(KeptAlive{});
    settle();
  }
  // Returns how many nodes of the first batch now have a command with this action.
  std::int64_t ordered(CommandAction action) {
    return std::count_if(first.begin(), first.end(), [&](const std::string& node) {
      return command(node, "agent").action == action;
    });
  }

  Rollout rollout() {
    return read_record<Rollout>(store.find(key_of(KeyKind::rollout, {"r"}))->value).value();
  }
  RolloutJudge judge() {
    const KeyValue* found = store.find(key_of(KeyKind::rollout_judge, {"r"}));
    return found == nullptr ? RolloutJudge{} : read_record<RolloutJudge>(found->value).value();
  }
  // Returns the node's current command, or an empty command if there is none.
  Command command(const std::string& node, const std::string& component) {
    const KeyValue* found = store.find(key_of(KeyKind::node_command, {node, component}));
    return found == nullptr ? Command{} : read_record<Command>(found->value).value();
  }

  // ---- the health that nodes report

  // Returns the control nodes. These are the nodes, not yet moved, that the rollout has asked to
  // report their health for comparison.
  Ids asked_controls(const std::string& component = "web") {
    Ids ids;
    for (const std::string& node : nodes) {
      if (store.find(key_of(KeyKind::node_control, {node, component})) != nullptr)
        ids.push_back(node);
    }
    return ids;
  }
  std::string control_run_of(const std::string& node, const std::string& component = "web") {
    const KeyValue* found = store.find(key_of(KeyKind::node_control, {node, component}));
    return read_record<ControlWatch>(found->value).value().run;
  }
  void reports(const std::string& node, const NodeHealth& health,
               const std::string& component = "web") {
    put(key_of(KeyKind::node_health, {node, component}), write_record(health));
  }

  // Returns the `count` nodes that the rollout moves last.
  Ids last(std::size_t count) {
    std::vector<std::pair<std::uint64_t, std::string>> places;
    for (const std::string& node : nodes)
      places.emplace_back(place_of("s", node), node);
    std::sort(places.rbegin(), places.rend());
    Ids ids;
    for (std::size_t i = 0; i < count; ++i)
      ids.push_back(places[i].second);
    return ids;
  }
};

}  // namespace fleet_test

// Every order of events in a small rollout: drivers that are killed or wake too late at any step,
// answers of the store that are lost, nodes that fail, a person who intervenes. Nothing may be
// ordered twice or too early, and every way must end.
#include <catch2/catch.hpp>
#include <unordered_map>

#include "tests/fleet/rollout_world.h"

namespace {

using namespace fleet_test;
using fleet::RolloutOrder;
using fleet::RolloutState;

struct Walk {
  std::string wrong;
  std::size_t states = 0;
  std::size_t ends = 0;
  std::map<RolloutState, std::size_t> ended;
};

// Depth first; a state that is met again on the way to itself is one from which it may never end.
Walk walk(const WorldSetup& setup) {
  struct Frame {
    RolloutWorld world;
    std::vector<RolloutWorld::Step> steps;
    std::size_t next;
    std::size_t hash;
  };
  Walk result;
  std::unordered_map<std::size_t, bool> open;  // false: all behind it has been seen
  std::vector<Frame> stack;
  const auto enter = [&](RolloutWorld world) {
    if (result.wrong.empty()) result.wrong = world.wrong();
    const std::size_t hash = std::hash<std::string>{}(world.words());
    const auto [seen, is_new] = open.emplace(hash, true);
    if (!is_new) {
      if (seen->second && result.wrong.empty()) result.wrong = "it may go round for ever";
      return;
    }
    auto steps = world.steps();
    if (steps.empty()) {
      ++result.ends;
      ++result.ended[world.rollout().state];
      if (result.wrong.empty()) result.wrong = world.wrong_end();
    }
    stack.push_back({std::move(world), std::move(steps), 0, hash});
  };
  enter(RolloutWorld(setup));
  while (!stack.empty() && result.wrong.empty()) {
    Frame& top = stack.back();
    if (top.next == top.steps.size()) {
      open[top.hash] = false;
      stack.pop_back();
      continue;
    }
    const RolloutWorld::Step step = top.steps[top.next++];
    RolloutWorld next = top.world;
    next.make(step);
    enter(std::move(next));
  }
  result.states = open.size();
  return result;
}

using enum Nature;

TEST_CASE("two good nodes, one by one, and the driver killed or frozen at any step") {
  const Walk all = walk({.nodes = {good, good}, .faults = {.kills = 1}});
  CHECK(all.wrong == "");
  CHECK(all.ended.size() == 1);
  CHECK(all.ended.contains(RolloutState::completed));
  CHECK(all.states > 100);
}

TEST_CASE("two nodes side by side, a kill and an answer that is lost") {
  const Walk all = walk({.nodes = {good, good}, .batch = 2, .faults = {.kills = 1, .unknowns = 1}});
  CHECK(all.wrong == "");
  CHECK(all.ended.size() == 1);
  CHECK(all.ended.contains(RolloutState::completed));
}

TEST_CASE("a bad node among good ones aborts the rollout wherever it fails") {
  const Nature bad = GENERATE(bad_prepare, bad_start, bad_soak, silent);
  const Walk all = walk({.nodes = {bad, good, good}, .batch = 2, .faults = {.kills = 1}});
  CHECK(all.wrong == "");
  CHECK(all.ended.size() == 1);
  CHECK(all.ended.contains(RolloutState::aborted));
}

TEST_CASE(
    "a node that is lost after apply fails, and one lost at confirm leaves the rollout paused") {
  const Walk applied = walk({.nodes = {lost_at_apply, good}, .batch = 2, .faults = {.kills = 1}});
  CHECK(applied.wrong == "");
  CHECK(applied.ended.size() == 1);
  CHECK(applied.ended.contains(RolloutState::aborted));

  const Walk confirmed = walk({.nodes = {lost_at_confirm, good}, .faults = {.kills = 1}});
  CHECK(confirmed.wrong == "");
  CHECK(confirmed.ended.size() == 1);
  CHECK(confirmed.ended.contains(RolloutState::paused));
}

TEST_CASE("fewer failures than max-failed do not stop a rollout") {
  const Nature bad = GENERATE(bad_prepare, bad_start, bad_soak);
  const Walk all =
      walk({.nodes = {bad, good, good}, .batch = 2, .max_failed = 2, .faults = {.unknowns = 1}});
  CHECK(all.wrong == "");
  CHECK(all.ended.size() == 1);
  CHECK(all.ended.contains(RolloutState::completed));
}

TEST_CASE("an order that was interrupted is given again as another attempt, and begins once") {
  const Walk all = walk({.nodes = {interrupted_once, good}, .batch = 2, .faults = {.kills = 1}});
  CHECK(all.wrong == "");
  CHECK(all.ended.contains(RolloutState::completed));
}

TEST_CASE("a person aborts, or pauses and lets go on, at any step") {
  const RolloutOrder order =
      GENERATE(RolloutOrder::abort, RolloutOrder::abort_and_leave, RolloutOrder::pause);
  const Walk all = walk(
      {.nodes = {good, good}, .batch = 1, .faults = {.kills = 1, .orders = 2}, .orders = {order}});
  CHECK(all.wrong == "");
}

TEST_CASE("a stop at any step holds back what begins and nothing else") {
  const Walk all = walk({.nodes = {good, good},
                         .batch = 1,
                         .faults = {.unknowns = 1, .orders = 1},
                         .person_stops = true});
  CHECK(all.wrong == "");
  CHECK(all.ended.contains(RolloutState::completed));
}

TEST_CASE("a node that goes back unconfirmed pauses the rollout and fails nobody") {
  const Walk all =
      walk({.nodes = {good, good}, .batch = 1, .faults = {.kills = 1, .abandoned = 1}});
  CHECK(all.wrong == "");
  CHECK(all.ended.contains(RolloutState::completed));
  CHECK(all.ended.contains(RolloutState::paused));
  CHECK(all.ended.size() == 2);
}

TEST_CASE("canaries: an error seeded in what the driver writes is found") {
  WorldSetup setup{.nodes = {good, good},
                   .batch = 2,
                   .faults = {.kills = 1, .unknowns = 1, .orders = 1},
                   .person_stops = true};
  setup.seeded = GENERATE(Seeded::no_fence, Seeded::no_stop, Seeded::no_revision, Seeded::no_stage,
                          Seeded::confirm_early);
  const Walk all = walk(setup);
  CHECK(all.wrong != "");
}

}  // namespace

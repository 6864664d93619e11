// Tests every possible order of events in a small rollout. At any step, a driver may be killed, a
// frozen driver may wake up too late, an answer of the store may get lost, a node may fail, and a
// person may give an order. No node may get an order twice or too early, and every course of events
// must end.
#include <catch2/catch.hpp>

#include "tests/together/fleet/long_run.h"
#include "tests/together/fleet/rollout_world.h"
#include "tests/together/fleet/walk.h"

namespace rollout_explore_test {

namespace {

using namespace fleet_test;
using fleet::RolloutOrder;

using enum Nature;

TEST_CASE("two good nodes move one by one, though the driver is killed or frozen at any step") {
  const Walk all = walk(RolloutWorld({.nodes = {good, good}, .faults = {.kills = 1}}));
  CHECK(all.outcome() == "completed");
  CHECK(all.states > 100);
}

TEST_CASE("two nodes move side by side, despite a kill and a lost answer") {
  const Walk all = walk(
      RolloutWorld({.nodes = {good, good}, .batch = 2, .faults = {.kills = 1, .unknowns = 1}}));
  CHECK(all.outcome() == "completed");
}

TEST_CASE("a bad node among good ones aborts the rollout wherever it fails") {
  const Nature bad = GENERATE(bad_prepare, bad_start, bad_soak, silent);
  const Walk all =
      walk(RolloutWorld({.nodes = {bad, good, good}, .batch = 2, .faults = {.kills = 1}}));
  CHECK(all.outcome() == "aborted");
}

TEST_CASE(
    "a node that is lost after apply fails, and one lost at confirm leaves the rollout paused") {
  const Walk applied = walk(RolloutWorld({.nodes = {lost_at_apply, good}, .batch = 2}));
  CHECK(applied.outcome() == "aborted");
  // A driver that takes over leaves the node, since a stop may have kept it from beginning.
  const Walk taken_over =
      walk(RolloutWorld({.nodes = {lost_at_apply, good}, .batch = 2, .faults = {.kills = 1}}));
  CHECK(taken_over.outcome() == "aborted, or completed");

  const Walk confirmed =
      walk(RolloutWorld({.nodes = {lost_at_confirm, good}, .faults = {.kills = 1}}));
  CHECK(confirmed.outcome() == "paused");
}

TEST_CASE("fewer failures than max-failed do not stop a rollout") {
  const Nature bad = GENERATE(bad_prepare, bad_start, bad_soak);
  const Walk all = walk(RolloutWorld(
      {.nodes = {bad, good, good}, .batch = 2, .max_failed = 2, .faults = {.unknowns = 1}}));
  CHECK(all.outcome() == "completed");
}

// Requirements (tests/judging/rows): S-01
TEST_CASE("two nodes of one site never move together, whichever driver and whatever is lost") {
  const Walk all = walk(RolloutWorld({.nodes = {good, good, good},
                                      .batch = 2,
                                      .faults = {.kills = 1, .unknowns = 1},
                                      .sites = {"north", "north", "south"}}));
  CHECK(all.outcome() == "completed");
}

TEST_CASE("without --max-failed, a whole batch that fails aborts the rollout at once") {
  const Walk whole = walk(RolloutWorld({.nodes = {bad_soak, good},
                                        .batch = 1,
                                        .max_failed = 3,
                                        .faults = {.kills = 1},
                                        .max_failed_unsaid = true}));
  CHECK(whole.outcome() == "aborted");

  const Walk half = walk(RolloutWorld({.nodes = {bad_soak, good},
                                       .batch = 2,
                                       .max_failed = 3,
                                       .faults = {.kills = 1},
                                       .max_failed_unsaid = true}));
  CHECK(half.outcome() == "completed");
}

// Requirements (tests/judging/rows): Z-42
TEST_CASE("an order that was interrupted is given again as another attempt, and begins once") {
  const Walk all =
      walk(RolloutWorld({.nodes = {interrupted_once, good}, .batch = 2, .faults = {.kills = 1}}));
  CHECK(all.wrong == "");
  CHECK(all.ends.contains("completed"));
}

// Requirements (tests/judging/rows): Z-32, Z-45
TEST_CASE("a person aborts, or pauses and lets go on, at any step") {
  const RolloutOrder order =
      GENERATE(RolloutOrder::abort, RolloutOrder::abort_and_leave, RolloutOrder::pause);
  const Walk all = walk(RolloutWorld(
      {.nodes = {good, good}, .batch = 1, .faults = {.kills = 1, .orders = 2}, .orders = {order}}));
  CHECK(all.wrong == "");
}

TEST_CASE("a person's order that the watch reports late overtakes the driver's write only") {
  const RolloutOrder order = GENERATE(RolloutOrder::abort, RolloutOrder::pause, RolloutOrder::undo);
  const Walk all = walk(RolloutWorld({.nodes = {good, good},
                                      .batch = 2,
                                      .faults = {.unknowns = 1, .orders = 2, .lags = 2},
                                      .orders = {order}}));
  CHECK(all.wrong == "");
}

TEST_CASE("a stop at any step holds back orders that begin something, and nothing else") {
  const Walk all = walk(RolloutWorld({.nodes = {good, good},
                                      .batch = 1,
                                      .faults = {.unknowns = 1, .orders = 1},
                                      .person_stops = true}));
  CHECK(all.wrong == "");
  CHECK(all.ends.contains("completed"));
}

TEST_CASE(
    "a node that is cut off for a time, and may be forgotten meanwhile, keeps nobody waiting") {
  const Walk all = walk(RolloutWorld({.nodes = {good, good},
                                      .batch = 2,
                                      .faults = {.kills = 1, .orders = 1, .absences = 1},
                                      .person_forgets = true}));
  CHECK(all.wrong == "");
  CHECK(all.ends.contains("completed"));

  const Walk undone = walk(RolloutWorld({.nodes = {good, good},
                                         .batch = 1,
                                         .faults = {.orders = 1, .absences = 1},
                                         .orders = {RolloutOrder::undo}}));
  CHECK(undone.wrong == "");
  CHECK(undone.ends.contains("undone"));
}

TEST_CASE("a node that goes back unconfirmed pauses the rollout, and is no failure") {
  const Walk all = walk(
      RolloutWorld({.nodes = {good, good}, .batch = 1, .faults = {.kills = 1, .abandoned = 1}}));
  CHECK(all.wrong == "");
  CHECK(all.ends.contains("completed"));
  CHECK(all.ends.contains("paused"));
  CHECK(all.ends.size() == 2);
}

// Requirements (tests/judging/rows): S-07
TEST_CASE("a person undoes a rollout at any step, batch by batch or at once, and all go back") {
  const RolloutOrder order = GENERATE(RolloutOrder::undo, RolloutOrder::undo_now);
  const Walk all = walk(RolloutWorld(
      {.nodes = {good, good}, .batch = 1, .faults = {.kills = 1, .orders = 1}, .orders = {order}}));
  CHECK(all.outcome() == "undone");
}

TEST_CASE("an undo goes on whatever answers of the store are lost, and while there is a stop") {
  const Walk lost = walk(RolloutWorld({.nodes = {good, good},
                                       .batch = 2,
                                       .faults = {.unknowns = 1, .orders = 1},
                                       .orders = {RolloutOrder::undo}}));
  CHECK(lost.outcome() == "undone");

  const Walk stopped = walk(RolloutWorld({.nodes = {good, good},
                                          .batch = 2,
                                          .faults = {.orders = 2},
                                          .orders = {RolloutOrder::undo},
                                          .person_stops = true}));
  CHECK(stopped.wrong == "");
  CHECK(stopped.ends.contains("undone"));
}

TEST_CASE("a rollout with --undo that aborts by itself takes back what was confirmed") {
  const Walk all = walk(RolloutWorld({.nodes = {good, bad_soak, good},
                                      .batch = 1,
                                      .faults = {.kills = 1, .unknowns = 1},
                                      .undo = true}));
  CHECK(all.outcome() == "undone");
}

TEST_CASE("a node on which the version before does not start keeps the new one, and others go on") {
  const Walk all = walk(RolloutWorld({.nodes = {good, bad_undo},
                                      .batch = 1,
                                      .faults = {.kills = 1, .orders = 1},
                                      .orders = {RolloutOrder::undo}}));
  CHECK(all.wrong == "");
  CHECK(all.ends.contains("undone"));
}

TEST_CASE("a node that a person pins while a rollout moves it stays pinned, whenever that is") {
  const Walk all = walk(RolloutWorld({.nodes = {good, good},
                                      .batch = 2,
                                      .faults = {.kills = 1, .orders = 1, .lags = 1},
                                      .person_pins = true}));
  CHECK(all.outcome() == "completed");

  const Walk undone = walk(RolloutWorld({.nodes = {good},
                                         .batch = 1,
                                         .faults = {.unknowns = 1, .orders = 2, .lags = 1},
                                         .orders = {RolloutOrder::undo},
                                         .person_pins = true}));
  CHECK(undone.wrong == "");
  CHECK(undone.ends.contains("undone"));
}

// Requirements (tests/judging/rows): S-12
TEST_CASE("a rollout bakes after its last batch, whoever is killed, and is completed then") {
  const Walk all = walk(RolloutWorld({.nodes = {good, good},
                                      .batch = 2,
                                      .faults = {.kills = 1, .unknowns = 1},
                                      .bake_ms = 60'000}));
  CHECK(all.outcome() == "completed");
}

TEST_CASE("a person aborts or undoes a rollout while it bakes, or at any other step") {
  const RolloutOrder order = GENERATE(RolloutOrder::abort, RolloutOrder::undo);
  const Walk all = walk(RolloutWorld({.nodes = {good, good},
                                      .batch = 1,
                                      .faults = {.kills = 1, .orders = 1},
                                      .orders = {order},
                                      .bake_ms = 60'000}));
  CHECK(all.wrong == "");
  CHECK(all.ends.contains(order == RolloutOrder::abort ? "aborted" : "undone"));
}

TEST_CASE("a gate that says worse during the bake aborts, and with --undo all go back") {
  const Walk all =
      walk(RolloutWorld({.nodes = {good},
                         .batch = 1,
                         .faults = {.kills = 1},
                         .undo = true,
                         .has_gate = true,
                         .bake_ms = 30'000,
                         .gate_says = {fleet::GateSays::well, fleet::GateSays::worse}}));
  CHECK(all.wrong == "");
  CHECK(all.ends.contains("completed"));
  CHECK(all.ends.contains("undone"));
}

TEST_CASE("canaries: a wish that an undo leaves, and an undo to another version, are found") {
  const Seeded seeded = GENERATE(Seeded::keep_wish, Seeded::undo_elsewhere);
  const Walk all = walk(RolloutWorld({.nodes = {good, good},
                                      .batch = 1,
                                      .faults = {.orders = 1},
                                      .orders = {RolloutOrder::undo},
                                      .seeded = seeded}));
  const bool is_wish = all.wrong.find("is not what it was") != all.wrong.npos;
  const bool is_elsewhere = all.wrong.find("was told to go back to 0") != all.wrong.npos;
  CHECK((seeded == Seeded::keep_wish ? is_wish : is_elsewhere));
}

TEST_CASE("a batch is kept only if its gate says well, whatever it says and whoever is killed") {
  const Walk all = walk(RolloutWorld(
      {.nodes = {good, good},
       .batch = GENERATE(1, 2),
       .faults = {.kills = 1, .unknowns = 1},
       .has_gate = true,
       .gate_says = {fleet::GateSays::well, fleet::GateSays::worse, fleet::GateSays::not_known}}));
  CHECK(all.wrong == "");
  CHECK(all.ends.size() == 3);
  CHECK(all.ends.contains("completed"));
  CHECK(all.ends.contains("aborted"));
  CHECK(all.ends.contains("paused"));
}

// Requirements (tests/judging/rows): S-06
TEST_CASE("a batch whose gate never answers goes back, and the rollout pauses") {
  const Walk all = walk(RolloutWorld({.nodes = {good, bad_soak},
                                      .batch = 2,
                                      .max_failed = 2,
                                      .faults = {.kills = 1},
                                      .has_gate = true}));
  CHECK(all.outcome() == "paused");
}

TEST_CASE("a batch that was not judged is done again when a person resumes the rollout") {
  const Walk all =
      walk(RolloutWorld({.nodes = {good, good},
                         .batch = GENERATE(1, 2),
                         .faults = {.kills = 1, .orders = 1},
                         .orders = {RolloutOrder::pause},
                         .has_gate = true,
                         .gate_says = {fleet::GateSays::well, fleet::GateSays::not_known}}));
  CHECK(all.wrong == "");
  CHECK(all.ends.contains("completed"));
  CHECK(all.ends.contains("paused"));
  CHECK(all.ends.size() == 2);
}

TEST_CASE("a person undoes or aborts a rollout whose batch was not judged, at any step") {
  const RolloutOrder order = GENERATE(RolloutOrder::undo, RolloutOrder::abort);
  const Walk all =
      walk(RolloutWorld({.nodes = {good, good},
                         .batch = 1,
                         .faults = {.kills = 1, .orders = 2},
                         .orders = {order, RolloutOrder::pause},
                         .has_gate = true,
                         .gate_says = {fleet::GateSays::well, fleet::GateSays::not_known}}));
  CHECK(all.wrong == "");
  CHECK(all.ends.contains(order == RolloutOrder::undo ? "undone" : "aborted"));
}

TEST_CASE("canaries: a batch that is confirmed although its gate is not known is found") {
  const Walk all = walk(RolloutWorld({.nodes = {good},
                                      .batch = 1,
                                      .has_gate = true,
                                      .gate_says = {fleet::GateSays::not_known},
                                      .seeded = Seeded::confirm_unjudged}));
  CHECK(all.wrong.find("although its gate has not said well") != all.wrong.npos);
}

// Requirements (tests/judging/rows): Z-11
TEST_CASE("canaries: an error seeded in what the driver writes is found") {
  WorldSetup setup{.nodes = {good, good},
                   .batch = 2,
                   .faults = {.kills = 1, .unknowns = 1, .orders = 1},
                   .person_stops = true};
  setup.seeded = GENERATE(Seeded::no_fence, Seeded::no_stop, Seeded::no_revision, Seeded::no_stage,
                          Seeded::confirm_early);
  const Walk all = walk(RolloutWorld(setup));
  CHECK(all.wrong != "");
}

TEST_CASE("canaries: a pin that was written meanwhile, and which the driver replaces, is found") {
  const Walk all = walk(RolloutWorld(
      {.nodes = {good}, .faults = {.orders = 1}, .person_pins = true, .seeded = Seeded::lose_pin}));
  CHECK(all.wrong.find("has replaced the later") != all.wrong.npos);
}

TEST_CASE("canaries: two nodes of one site that are in one batch are found") {
  const Walk all = walk(RolloutWorld({.nodes = {good, good},
                                      .batch = 2,
                                      .sites = {"north", "north"},
                                      .seeded = Seeded::not_apart}));
  CHECK(all.wrong.find("of the same site moved") != all.wrong.npos);
}

TEST_CASE("the states of rollouts that were walked are reported") {
  // If no other test of this program was run, there are no figures to report.
  if (states_walked == 0) return;
  report("make explore-fleet", std::to_string(states_walked) + " states of rollouts",
         "every order of events, to a fixpoint, nothing wrong");
}

}  // namespace

}  // namespace rollout_explore_test

// Tests every possible order of events at one node. The node gets the commands to prepare, apply
// and confirm a release, or to go back. fleet-agent may be killed between any two of its actions,
// answers of the store may get lost, the new version may die, and a person may write the record
// `stop`. The node must answer each command, carry out no command twice, and ask the store before
// it carries one out.
#include <catch2/catch.hpp>

#include "tests/together/fleet/long_run.h"
#include "tests/together/fleet/node_world.h"
#include "tests/together/fleet/walk.h"

namespace node_explore_test {

namespace {

using namespace fleet_test;
using enum fleet::CommandAction;

TEST_CASE("a node killed at any step executes each command at most once, and answers it") {
  const Walk all = walk(NodeWorld({.script = {prepare, apply, confirm}, .kills = 2}));
  CHECK(all.wrong == "");
  CHECK(all.states > 300);
  CHECK(all.ends.contains("done, done"));
}

// Each course of events has a name for its end, "ANSWER, PHASE": the answer to the last command,
// and the phase of the upgrade. This test's only command is to prepare a release. No upgrade
// begins, so the phase is always `unknown`.
//
// Rows: A-18
TEST_CASE(
    "a node killed at any step of a prepare keeps its version, and ends the prepare at last") {
  const Walk all = walk(NodeWorld({.script = {prepare}, .kills = 3, .unknowns = 1}));
  CHECK(all.wrong == "");
  for (const auto& [end, times] : all.ends) {
    INFO(end);
    CHECK(end.ends_with(", unknown"));
  }
  CHECK(all.ends.contains("done, unknown"));
  // The driver gives up after fleet-agent was killed three times during the command.
  CHECK(all.ends.contains("interrupted, unknown"));
}

TEST_CASE("lost answers of the store cost only time") {
  const Walk all =
      walk(NodeWorld({.script = {prepare, apply, confirm}, .kills = 1, .unknowns = 2}));
  CHECK(all.wrong == "");
  CHECK(all.ends.contains("done, done"));
}

TEST_CASE("a version that dies at any moment of its trial is reported as failed") {
  const Walk all =
      walk(NodeWorld({.script = {prepare, apply, confirm}, .kills = 1, .may_fail = true}));
  CHECK(all.wrong == "");
  CHECK(all.ends.contains("exited with status 3, failed"));
  CHECK(all.ends.contains("done, failed"));
}

TEST_CASE("a node that is told to go back does so once, unless it is committed") {
  const Walk all = walk(NodeWorld({.script = {prepare, apply, rollback}, .kills = 2}));
  CHECK(all.wrong == "");
  const Walk late = walk(NodeWorld({.script = {prepare, apply, confirm, rollback}, .kills = 1}));
  CHECK(late.wrong == "");
  CHECK(late.ends.contains("committed, done"));
}

TEST_CASE("a roll-back ordered while the old version stops is carried out, killed or not") {
  const Walk all = walk(NodeWorld(
      {.script = {prepare, apply, rollback}, .kills = 1, .hands_over = true, .aborts = 1}));
  CHECK(all.wrong == "");
  CHECK(all.ends.size() == 1);
  CHECK(all.ends.contains("done, rolled-back"));
}

TEST_CASE("a node that is never told to confirm goes back by itself, killed or not") {
  const Walk all = walk(NodeWorld({.script = {prepare, apply}, .kills = 2}));
  CHECK(all.wrong == "");
  CHECK(all.ends.size() == 1);
  CHECK(all.ends.contains("done, unconfirmed"));
}

TEST_CASE("a stop at any step holds back commands that begin something") {
  const Walk all =
      walk(NodeWorld({.script = {prepare, apply, confirm}, .kills = 1, .unknowns = 1, .stops = 1}));
  CHECK(all.wrong == "");
  CHECK(all.ends.contains("done, done"));
}

TEST_CASE("canaries: an error seeded in fleet-agent is found") {
  const NodeSeeded seeded = GENERATE(NodeSeeded::acts_before_save, NodeSeeded::reports_before_save,
                                     NodeSeeded::forgets_answers, NodeSeeded::no_question);
  const Walk all = walk(NodeWorld({.script = {prepare, apply, confirm},
                                   .kills = 1,
                                   .unknowns = 1,
                                   .stops = 1,
                                   .seeded = seeded}));
  CHECK(all.wrong != "");
  CHECK(all.wrong != "it may go round for ever");
}

TEST_CASE("the states that were walked are reported") {
  // If no other test of this program was run, there are no figures to report.
  if (states_walked == 0) return;
  report("make explore-fleet", std::to_string(states_walked) + " states of nodes",
         "every order of events, to a fixpoint, nothing wrong");
}

}  // namespace

}  // namespace node_explore_test

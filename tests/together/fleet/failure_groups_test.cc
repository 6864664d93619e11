// Tests how the failures of a rollout's nodes are put into groups, and which labels and facts of
// the nodes are named as suspected causes.
#include "fleet/model/failure_groups.h"

#include <catch2/catch.hpp>

#include "fleet/fleetctl/why.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace failure_groups_test {

namespace {

using namespace fleet;

NodeOfRollout failed(const std::string& error, const Capsule& capsule = {}) {
  return {.record = {.stage = NodeStage::failed, .error = error, .evidence = {capsule}}};
}

NodeOfRollout confirmed() {
  return {.record = {.stage = NodeStage::confirmed}};
}

std::string name(int i) {
  return "n" + std::to_string(100 + i);
}

// Rows: S-11
TEST_CASE("forty nodes that failed the same way are one line with a count") {
  NodesOfRollout nodes;
  for (int i = 0; i < 40; ++i) {
    nodes[name(i)] = failed("trial: process " + std::to_string(4'000 + i) + " of " + name(i) +
                                " exited with status 3 after " + std::to_string(i) + " ms",
                            {.stage = "trial", .exit_status = 3, .lived_ms = i});
  }
  const auto groups = failure_groups(nodes);
  REQUIRE(groups.size() == 1);
  CHECK(groups.front().nodes.size() == 40);
  CHECK(groups.front().is_everybody);
  const auto page = fleetctl::why_page(groups);
  CHECK(page.front() ==
        "40 nodes failed: trial: process 4000 of n100 exited with status 3 after 0 ms");
  CHECK(page.back() == "  suspect: the version itself: every node that has begun failed so");
}

TEST_CASE("failures that differ in status, signal, stage or words stay apart") {
  NodesOfRollout nodes;
  nodes["a"] = failed("trial: exited with status 3");
  nodes["b"] = failed("trial: exited with status 4");
  nodes["c"] = failed("trial: killed", {.signal = 9});
  nodes["d"] = failed("trial: killed", {.signal = 11});
  nodes["e"] = failed("trial: killed", {.stage = "start", .signal = 11});
  nodes["f"] = failed("no answer to prepare");
  nodes["g"] = {.record = {.stage = NodeStage::kept, .error = "no answer to prepare"}};
  nodes["h"] = confirmed();
  CHECK(failure_groups(nodes).size() == 7);
}

TEST_CASE("numbers, ids and the node's own name do not tell failures apart") {
  CHECK(likeness("n1.example: n1 of n12, pid 4711", "n1") == "NODE.example: NODE of n#, pid #");
  CHECK(likeness("at 0xdeadbeef01, id 3f2a9c, cafe", "") == "at #, id #, cafe");
  CHECK(likeness("exited with status 3, signal 11, http: 503", "n") ==
        "exited with status 3, signal 11, http: 503");
  CHECK(likeness("", "n1").empty());
}

TEST_CASE("a mark that nearly all failed nodes have, and few others, is a suspect") {
  NodesOfRollout nodes;
  for (int i = 0; i < 20; ++i) {
    const bool is_arm = i < 10;
    NodeOfRollout& node = nodes[name(i)];
    node = is_arm ? failed("cannot execute") : confirmed();
    node.marks = {{"arch", is_arm ? "aarch64" : "x86_64"},
                  {"os", "linux"},
                  {"host", name(i)},
                  {"site", i < 9 || i == 15 ? "north" : "south"}};
  }
  // This node has not begun to upgrade, so it belongs to no group of failures.
  nodes["waits"].marks = {{"arch", "aarch64"}};
  const auto groups = failure_groups(nodes);
  REQUIRE(groups.size() == 1);
  CHECK(groups.front().suspects ==
        std::vector<Suspect>{{"arch=aarch64", 10, 0, 10}, {"site=north", 9, 1, 10}});
  CHECK_FALSE(groups.front().is_everybody);
  const auto page = fleetctl::why_page(groups);
  CHECK(std::count(page.begin(), page.end(),
                   "  suspect: arch=aarch64: 10 of these 10, and 0 of the other 10") == 1);
}

TEST_CASE("one node alone has no suspects, and the largest group comes first") {
  NodesOfRollout nodes;
  nodes["a"] = failed("odd");
  nodes["a"].marks = {{"host", "a"}};
  nodes["b"] = failed("common");
  nodes["c"] = failed("common");
  nodes["d"] = confirmed();
  const auto groups = failure_groups(nodes);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].nodes == std::vector<std::string>{"b", "c"});
  CHECK(groups[1].suspects.empty());
}

TEST_CASE("the page shows everything that the capsule has, and JSON the same") {
  NodesOfRollout nodes;
  nodes["a"] = failed("trial: exited", {.stage = "trial",
                                        .reason = "exited",
                                        .exit_status = 3,
                                        .lived_ms = 4'200,
                                        .peak_kib = 12'000,
                                        .cpu_ms = 31,
                                        .lines = {"no disk"},
                                        .differs = {"1 -> 2"}});
  nodes["b"] = confirmed();
  const auto groups = failure_groups(nodes);
  CHECK(fleetctl::why_page(groups) ==
        std::vector<std::string>{"1 node failed: trial: exited", "  nodes: a", "  stage: trial",
                                 "  exit status 3, lived 4.2 s, memory 12 MiB, processor 31 ms",
                                 "  differs: 1 -> 2", "  wrote: no disk"});
  const std::string json = failures_json(groups);
  CHECK(json.starts_with(R"({"failures":[{"stage":"failed","error":"trial: exited","evidence":[)"));
  CHECK(json.find(R"("lines":["no disk"])") != json.npos);
  CHECK(fleetctl::why_page({}) == std::vector<std::string>{"no node has failed"});
  CHECK(failures_json({}) == "{}");
}

TEST_CASE("nodes of another rollout, and records that are damaged, are left out") {
  const auto record = [](const std::string& key, const std::string& value) {
    return KeyValue{.key = key, .value = value, .modified = 1};
  };
  const Reading reading{
      .revision = 1,
      .found = {record(key_of(KeyKind::node_info, {"n1"}),
                       write_record(NodeInfo{.facts = {{"os", "linux"}}})),
                record(key_of(KeyKind::rollout_node, {"r1", "n1"}),
                       write_record(RolloutNode{.stage = NodeStage::failed, .before = "1"})),
                record(key_of(KeyKind::rollout_node, {"r1", "n2"}), "damaged"),
                record(key_of(KeyKind::rollout_node, {"r2", "n3"}), write_record(RolloutNode{}))}};
  const auto nodes = nodes_of_rollout(reading, "r1");
  REQUIRE(nodes.size() == 1);
  CHECK(nodes.at("n1").marks ==
        std::map<std::string, std::string>{{"before", "1"}, {"os", "linux"}});
}

}  // namespace

}  // namespace failure_groups_test

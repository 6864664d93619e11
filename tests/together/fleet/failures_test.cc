// Tests how failures of nodes are explained: the evidence of one failure (a capsule), and the
// groups into which the failures of a rollout are put.
#include "fleet/model/agent/capsule.h"

#include <catch2/catch.hpp>
#include <random>

#include "fleet/fleetctl/rollouts.h"
#include "fleet/model/reasons/failure_causes.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace failures_test {

namespace {

using namespace fleet;

// ---- a capsule: the facts that a node reports at each level of detail, in a record of limited
// length

const FailureSeen seen{.stage = "trial",
                       .reason = "exited with status 3; its last line: password is hunter2",
                       .exit_status = 3,
                       .lived = 4'200,
                       .peak_kib = 12'000,
                       .processor = 31,
                       .last_words = "begin\n\npassword is hunter2\n",
                       .differs = {"1.0.0 -> 1.1.0"}};

TEST_CASE("a node that is to give no evidence gives none") {
  CHECK(capsule_of(seen, EvidenceLevel::none).empty());
}

TEST_CASE("without `lines`, nothing that the daemon wrote leaves the machine") {
  const auto evidence = capsule_of(seen, EvidenceLevel::reason);
  REQUIRE(evidence.size() == 1);
  CHECK(evidence.front() == Capsule{.stage = "trial",
                                    .reason = "exited with status 3",
                                    .exit_status = 3,
                                    .lived_ms = 4'200,
                                    .peak_kib = 12'000,
                                    .cpu_ms = 31,
                                    .differs = {"1.0.0 -> 1.1.0"}});
  CHECK(reason_at(EvidenceLevel::none, seen.reason) == "exited with status 3");
}

TEST_CASE("with `lines`, the capsule has the last lines that are not empty, in their order") {
  FailureSeen many = seen;
  CHECK(capsule_of(many, EvidenceLevel::lines).front().lines ==
        std::vector<std::string>{"begin", "password is hunter2"});
  CHECK(reason_at(EvidenceLevel::lines, seen.reason) == seen.reason);

  for (int i = 0; i < 20; ++i)
    many.last_words += "line " + std::to_string(i) + "\n";
  const auto lines = capsule_of(many, EvidenceLevel::lines).front().lines;
  CHECK(lines.size() == capsule_lines_max);
  CHECK(lines.back() == "line 19");
}

TEST_CASE("how a daemon below agentify ended is found in the reason") {
  const auto of = [](const std::string& reason) {
    return capsule_of({.reason = reason}, EvidenceLevel::reason).front();
  };
  CHECK(of("unfit: the daemon exited with status 98; its last line: x").exit_status == 98);
  CHECK(of("unfit: the daemon was killed by SIGSEGV").signal == 11);
  CHECK(of("unfit: the daemon was killed by SIGSEGV").exit_status == -1);
  CHECK(of("exited with status x").exit_status == -1);
  CHECK(of("killed by nobody").signal == 0);
  const FailureSeen known{.reason = "exited with status 7", .signal = 9};
  CHECK(capsule_of(known, EvidenceLevel::reason).front().exit_status == -1);
}

TEST_CASE("a fact that is not known is told as such") {
  const Capsule capsule = capsule_of({.reason = "gone"}, EvidenceLevel::reason).front();
  CHECK(capsule == Capsule{.reason = "gone"});
}

TEST_CASE("the versions and the files in which two releases differ are named, the first of many") {
  CHECK(differences({"1.0", "0555 a bin/x\n0444 b etc/y\n0444 c gone\n"},
                    {"1.1", "0555 a bin/x\n0444 z etc/y\n0444 d lib/new\n"}) ==
        std::vector<std::string>{"1.0 -> 1.1", "changed: etc/y", "new: lib/new", "gone: gone"});
  std::string after;
  for (int i = 0; i < 100; ++i)
    after += "0444 a file" + std::to_string(i) + "\n";
  const auto differs = differences({"1.0", ""}, {"1.1", after});
  CHECK(differs.size() == capsule_differs_max);
  CHECK(differs.back() == "and 96 more");
}

TEST_CASE("releases without lists differ in their versions, and an unknown one is not named") {
  CHECK(differences({"1.0", ""}, {"1.1", ""}) == std::vector<std::string>{"1.0 -> 1.1"});
  CHECK(differences({"", "no list"}, {"1.1", ""}).empty());
  CHECK(differences({"1.0", "0444 a x\n"}, {"", ""}).empty());
}

// Returns how many bytes the evidence adds to a record.
std::size_t bytes_of(const std::vector<Capsule>& evidence) {
  const Answer without{.command = "r.apply.1", .result = "x"};
  Answer with = without;
  with.evidence = evidence;
  return write_record(with).size() - write_record(without).size() -
         std::string_view(R"(,"evidence":[])").size();
}

TEST_CASE("a capsule has at most 1,500 bytes in a record, whatever a node writes into it") {
  std::mt19937 random(5);
  std::size_t longest = 0;
  for (int round = 0; round < 500; ++round) {
    const auto text = [&random] {
      std::string bytes(random() % 3'000, 'x');
      const auto kind = random() % 4;
      for (char& c : bytes) {
        if (kind == 1) c = '\x01';
        if (kind == 2) c = '"';
        if (kind == 3) c = static_cast<char>(random());
      }
      return bytes;
    };
    Capsule capsule{.stage = text(),
                    .reason = text(),
                    .exit_status = static_cast<std::int64_t>(random()) << 31,
                    .signal = static_cast<std::int64_t>(random()) << 31,
                    .lived_ms = static_cast<std::int64_t>(random()),
                    .peak_kib = static_cast<std::int64_t>(random()) << 20,
                    .cpu_ms = static_cast<std::int64_t>(random())};
    for (auto i = random() % 12; i > 0; --i)
      capsule.lines.push_back(text());
    for (auto i = random() % 12; i > 0; --i)
      capsule.differs.push_back(text());
    longest = std::max(longest, bytes_of({capsule, capsule}));
  }
  CHECK(longest <= capsule_bytes_max);
  CHECK(longest > capsule_bytes_max / 2);
}

TEST_CASE("a record that a hostile node has written is cut where it is read") {
  const std::string capsule = R"({"stage":"s","reason":")" + std::string(5'000, 'r') +
                              R"(","exit_status":-7,"signal":4000,)" +
                              R"("lived_ms":-5,"peak_kib":-2,"lines":[")" +
                              std::string(2'000, 'a') + R"(","b"]})";
  const auto read = read_record<Answer>(
      R"({"v":1,"command":"r.apply.1","result":"x","evidence":[)" + capsule + "," + capsule + "]}");
  REQUIRE(read);
  REQUIRE(read.value().evidence.size() == 1);
  const Capsule& kept = read.value().evidence.front();
  CHECK(kept.reason.size() == capsule_reason_bytes_max);
  CHECK(kept.exit_status == -1);
  CHECK(kept.signal == 0);
  CHECK(kept.lived_ms == -1);
  CHECK(kept.peak_kib == -1);
  CHECK(kept.lines.back() == "b");
  CHECK_FALSE(read_record<Answer>(R"({"v":1,"evidence":[{"stage":7}]})"));
}

// ---- groups of failures, with the labels and facts that are suspected causes

NodeOfRollout failed(const std::string& error, const Capsule& capsule = {}) {
  return {.record = {.stage = NodeStage::failed, .error = error, .evidence = {capsule}}};
}

NodeOfRollout confirmed() {
  return {.record = {.stage = NodeStage::confirmed}};
}

std::string name(int i) {
  return "n" + std::to_string(100 + i);
}

// Requirements (tests/judging/rows): S-11
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
  CHECK(failures_json({}) == R"({"failures":[]})");
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

}  // namespace failures_test

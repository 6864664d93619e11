// Tests how a controller answers its clients after a node has written hostile records with its own
// certificate. A value of a wrong type must not reach a client, and the answers about other nodes
// must stay the same.
#include <catch2/catch.hpp>
#include <set>

#include "fleet/http/state.h"
#include "fleet/model/records/record_kinds.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"
#include "tests/together/fleet/full_records.h"

namespace hostile_node_test {

namespace {

using namespace fleet;

// One record of each kind that a node may write, with a value for each member.
const std::map<std::string, std::string> full_records{
    {"info", write_record(NodeInfo{.facts = {{"os", "linux"}},
                                   .labels = {{"site", "north"}},
                                   .protocol = 3,
                                   .upgrader_protocol = "1",
                                   .library_protocol = "1",
                                   .on_disk = {{"agent", {"1.0.0"}}},
                                   .time_zone = "Europe/Berlin"})},
    {"versions", write_record(Versions{{{"agent", "1.0.0"}}})},
    {"instance/i", write_record(full_instance)},
    {"active", write_record(Active{"i", "b", 2})},
    {"upgrade/agent", write_record(full_upgrade)},
    {"desired/agent", write_record(full_desired)},
    {"command/agent", write_record(full_command)},
    {"answer/agent", write_record(Answer{"r1.apply.2", "done", "i", {full_capsule}})},
    {"claim/agent", write_record(Claim{"rollout/r1"})},
    {"csr", write_record(CertificateRequest{"pem", "certificate"})},
    {"certificate", write_record(NodeCertificate{"pem", "error"})},
    {"plan/p", write_record(PlanMember{.version = "2",
                                       .step = 1,
                                       .phase = MemberPhase::failed,
                                       .finished = true,
                                       .error = true,
                                       .exit_status = 3,
                                       .boot = "b",
                                       .message = "m"})},
    {"health/agent", write_record(full_health)},
    {"control/agent", write_record(full_control_watch)},
};

// A cell with two nodes: `good` has well-formed records, and the test writes the records of `evil`.
struct Bench {
  std::map<std::string, KeyValue, std::less<>> records;
  CellState cell;
  Health health{.controller = "c1", .follows = true, .revision = 7};

  Bench() {
    for (const auto& [below, text] : full_records)
      put("node/good/" + below, text);
  }

  void put(const std::string& rest, const std::string& value) {
    const KeyValue record{.key = std::string(key_root) + rest, .value = value, .modified = 5};
    records[record.key] = record;
    cell.take(record);
  }
  [[nodiscard]] JsonTree get(const std::string& rest) const {
    const auto tree = parse_tree(state_answer({}, rest, {records, cell, health}, {}).body);
    REQUIRE(tree);
    return tree.value();
  }
};

// Returns whether each value in `tree` has the same type as the value at the same place in `model`.
// `tree` may lack values that `model` has.
bool has_types_of(const JsonTree& model, const JsonTree& tree) {
  if (tree.kind != model.kind) return false;
  for (const JsonTree& element : tree.elements)
    if (model.elements.empty() || !has_types_of(model.elements.front(), element)) return false;
  for (const auto& [name, member] : tree.members) {
    const JsonTree* of_model = model.find(name);
    // Only maps from names to texts, such as the facts of a node, may have members that `model`
    // lacks.
    if (of_model == nullptr && member.kind != JsonTree::Kind::text) return false;
    if (of_model != nullptr && !has_types_of(*of_model, member)) return false;
  }
  return true;
}

// Returns all variants of the tree in which one value is replaced by null or by another odd value.
std::vector<JsonTree> spoilt(const JsonTree& tree) {
  JsonTree odd{.kind = JsonTree::Kind::object};
  odd.members["toString"] = json_number(1);
  std::vector<JsonTree> all{{},
                            json_truth(true),
                            json_number(-7),
                            json_number(7),
                            json_text("abc"),
                            {.kind = JsonTree::Kind::array},
                            json_texts({"abc"}),
                            {.kind = JsonTree::Kind::array, .elements = {odd, JsonTree{}}},
                            {.kind = JsonTree::Kind::object},
                            odd};
  for (std::size_t i = 0; i < tree.elements.size(); ++i) {
    for (JsonTree& one : spoilt(tree.elements[i])) {
      JsonTree whole = tree;
      whole.elements[i] = std::move(one);
      all.push_back(std::move(whole));
    }
  }
  for (const auto& [name, member] : tree.members) {
    for (JsonTree& one : spoilt(member)) {
      JsonTree whole = tree;
      whole.members[name] = std::move(one);
      all.push_back(std::move(whole));
    }
  }
  return all;
}

TEST_CASE("no member of a node's record has a wrong type in an answer, and other nodes stay") {
  for (const auto& [below, text] : full_records) {
    const JsonTree model = parse_tree(text).value();
    for (const JsonTree& hostile : spoilt(model)) {
      Bench bench;
      const JsonTree before = bench.get("node");
      const std::string written = write_tree(hostile);
      INFO(below << " " << written);

      bench.put("node/evil/" + below, written);

      JsonTree all = bench.get("node");
      const JsonTree shown = all.members.extract("evil/" + below).mapped();
      const bool is_said = shown.kind == JsonTree::Kind::text;
      CHECK((is_said || has_types_of(model, shown)));
      if (is_said) CHECK(shown.text.starts_with("the record is "));
      CHECK(all == before);
      CHECK(bench.get("node/evil").find(below) != nullptr);
      CHECK(bench.get("").find("outlook")->is_object());
    }
  }
}

TEST_CASE("every kind of record that a node may write is among the hostile ones") {
  std::set<KeyKind> kinds;
  for (const auto& [below, text] : full_records) {
    INFO(below);
    const auto key = parse_key(std::string(key_root) + "node/n1/" + below);
    REQUIRE(key);
    kinds.insert(key->kind);
    CHECK(rewritten_record(key->kind, text).value() == text);
  }

  for (int kind = 0; kind <= static_cast<int>(KeyKind::controller_life); ++kind) {
    INFO(kind);
    CHECK(kinds.contains(static_cast<KeyKind>(kind)) == is_of_node(static_cast<KeyKind>(kind)));
  }
}

TEST_CASE("a record that cannot be read is a text that says why") {
  Bench bench;
  const auto shown = [&bench](const std::string& value) {
    bench.put("node/evil/upgrade/agent", value);
    return bench.get("node/evil").text_of("upgrade/agent");
  };

  CHECK(shown(R"({"to":{"toString":1}})") == "the record is damaged: to is no text");
  CHECK(shown(R"({"evidence":[{"differs":"abc"}]})") ==
        "the record is damaged: evidence.differs is no array");
  CHECK(shown("garbage").starts_with("the record is damaged: "));
  CHECK(shown(R"({"v":2})") == "the record is of version 2 of the records; this program knows 1");
  CHECK(shown(std::string(70'000, ' ')) == "the record has 70000 bytes; at most 65536");
}

TEST_CASE("a member of a node's record that this controller does not know is not shown") {
  Bench bench;
  bench.put("node/evil/versions", R"({"v":1,"agent":"1.0","shop":{"toString":1}})");
  bench.put("node/evil/claim/agent", R"({"v":1,"by":"x","odd":{"toString":1}})");

  CHECK(write_tree(bench.get("node/evil")) ==
        R"({"claim/agent":{"by":"x","v":1},"versions":{"agent":"1.0","v":1}})");
}

TEST_CASE("a record that is not of a node keeps the members of a later version") {
  Bench bench;
  const std::string later = R"({"odd":[7],"stage":"failed"})";
  bench.put("rollout/r1/node/good", later);
  bench.put("rollout/r1/node/evil", R"({"stage":7})");

  CHECK(write_tree(*bench.get("rollout/r1/node").find("good")) == later);
  CHECK(bench.get("rollout/r1/node").text_of("evil") == "the record is damaged: stage is no text");
}

TEST_CASE("followers get no record that this controller cannot read") {
  const auto sent = [](const std::string& value) {
    const std::string event = changes_event(
        9, {Change{{.key = std::string(key_root) + "rollout/r1/node/n1", .value = value}, false}});
    const std::size_t begin = event.find("{\"nodes\"");
    const auto tree = parse_tree(event.substr(begin, event.find('\n', begin) - begin));
    return write_tree(*tree.value().find("records")->find("rollout/r1/node/n1"));
  };

  CHECK(sent(R"({"stage":7})") == "null");
  CHECK(sent(R"({"odd":[7],"stage":"failed"})") == R"({"odd":[7],"stage":"failed"})");
}

}  // namespace

}  // namespace hostile_node_test

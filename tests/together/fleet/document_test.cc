// Tests documents that describe a whole cell: which records a document changes, and that a document
// that is applied a second time changes nothing.
#include "fleet/orders/document.h"

#include <catch2/catch.hpp>

#include "fleet/model/record_text.h"
#include "tests/together/fleet/test_store.h"

namespace document_test {
namespace {

using namespace fleet;

const std::string root(key_root);

struct Bench {
  fleet_test::TestStore store;
  int applied = 0;

  Bench() {
    for (int i = 1; i <= 3; ++i) {
      const std::string node = "node/n" + std::to_string(i) + "/";
      store.put(root + node + "info", write_record(NodeInfo{}));
      store.put(root + node + "versions", R"({"agent":"1.0"})");
      store.put(root + node + "active", write_record(Active{.instance = "i"}));
      store.put(root + node + "instance/i", write_record(Instance{.version = "1.0"}));
    }
    store.put(root + "release/agent/2.0", write_record(Release{.digest = "d"}));
  }

  agent_protocol::Result<DocumentDecision> decide(const std::string& text) {
    const auto orders = orders_in(text);
    if (!orders) return orders.refusal();
    return decide_document(
        orders.value(), store.read(document_reads(orders.value())),
        {.who = "anna", .time = std::to_string(applied), .trace = "t" + std::to_string(++applied)});
  }
  std::string refusal(const std::string& text) {
    const auto decided = decide(text);
    return decided ? "" : decided.reason();
  }
  // Applies the document to the store. Returns one line for each change.
  std::vector<std::string> apply(const std::string& text) {
    const auto decided = decide(text);
    INFO(refusal(text));
    REQUIRE(decided);
    std::vector<std::string> lines;
    for (const DocumentChange& change : decided.value().changes)
      for (const std::string& line : change.lines)
        lines.push_back(change.subject + ": " + line);
    const Outcome outcome = store.commit(decided.value().transaction);
    REQUIRE(std::holds_alternative<Committed>(outcome));
    return lines;
  }
  std::string value(const std::string& rest) {
    const KeyValue* found = store.find(root + rest);
    return found == nullptr ? "" : found->value;
  }
};

using Lines = std::vector<std::string>;

const std::string rollout =
    R"({"rollout":{"spring":{"component":"agent","version":"2.0","target":"*","batch":1)";
const std::string plan =
    R"({"plan":{"move":{"version":"3","steps":[{"name":"a","class":"any","hook":"h"}])";

TEST_CASE("a document that is applied twice changes everything once") {
  Bench bench;
  const std::string text = R"({
    "desired": {"agent": {"version": "2.0", "why": "spring"}},
    "window": {"all": {"start": "01:00", "duration_s": 3600}},
    "settings": {"keep": "30d"}})";
  CHECK(bench.apply(text) == Lines{"desired/agent: new", "settings: new", "window/all: new"});
  CHECK(read_record<Desired>(bench.value("desired/agent")).value().digest == "d");
  CHECK(read_record<Window>(bench.value("window/all")).value().who == "anna");
  const Revision before = bench.store.revision();

  CHECK(bench.apply(text).empty());
  CHECK(bench.store.revision() == before);
}

TEST_CASE("a record that a document names is replaced whole, and others are left alone") {
  Bench bench;
  bench.apply(R"({"settings":{"keep":"30d","event-age":"7d"},
                  "window":{"all":{"start":"01:00","duration_s":60}}})");
  CHECK(bench.apply(R"({"settings":{"keep":"60d"}})") ==
        Lines{R"(settings: event-age: "7d" -> not set)", R"(settings: keep: "30d" -> "60d")"});
  CHECK(bench.value("window/all") != "");
}

TEST_CASE("a rollout of a document has its judge's terms, and others are refused later") {
  Bench bench;
  const std::string text = rollout + R"(,"alpha_millionths":50000,"tolerate_millionths":2000000)";
  CHECK(bench.apply(text + "}}}") == Lines{"rollout/spring: begins: agent 2.0"});
  CHECK(read_record<Rollout>(bench.value("rollout/spring")).value().terms.alpha_millionths ==
        50'000);
  CHECK(bench.apply(text + "}}}").empty());
  CHECK(bench.refusal(rollout + R"(,"alpha_millionths":60000}}})") ==
        "rollout/spring: it is there already, with other terms: alpha_millionths is 50000 there, "
        "and 60000 here");
}

TEST_CASE("a rollout and a plan of a document begin once, even if their records are gone") {
  Bench bench;
  CHECK(bench.apply(rollout + "}}}") == Lines{"rollout/spring: begins: agent 2.0"});
  CHECK(read_record<Rollout>(bench.value("rollout/spring")).value().state == RolloutState::rolling);
  CHECK(bench.value("rollout/spring/batch/2") != "");
  CHECK(bench.apply(rollout + "}}}").empty());
  CHECK(bench.refusal(rollout + R"(,"soak_ms":1}}})") ==
        "rollout/spring: it is there already, with other terms: soak_ms is 60000 there, and 1 "
        "here");
  CHECK(bench.apply(plan + "}}}") == Lines{"plan/move: begins with 3 members"});
  CHECK(bench.apply(plan + "}}}").empty());
  CHECK(bench.refusal(plan + R"(,"soak_ms":1}}})") ==
        "plan/move: it is there already, with another value of soak_ms");

  bench.store.erase(root + "rollout/spring");
  bench.store.put(root + "history/000000000001",
                  write_record(PastRun{.subject = "rollout/spring", .state = "completed"}));
  CHECK(bench.apply(rollout + "}}}").empty());
}

TEST_CASE("when two people apply a document at once, one writes, and the other has nothing to do") {
  Bench bench;
  const auto first = bench.decide(rollout + "}}}");
  const auto second = bench.decide(rollout + "}}}");
  REQUIRE(first);
  REQUIRE(second);
  CHECK(std::holds_alternative<Committed>(bench.store.commit(first.value().transaction)));
  CHECK(std::holds_alternative<Refused>(bench.store.commit(second.value().transaction)));
  CHECK(bench.apply(rollout + "}}}").empty());
}

TEST_CASE("a document with an order that is refused changes nothing, and the order is named") {
  Bench bench;
  CHECK(bench.refusal("[]") != "");
  CHECK(bench.refusal(R"({"windows":{}})") ==
        "windows: a document has desired, window, settings, rollout and plan");
  CHECK(bench.refusal(R"({"window":{"all":7}})") == "window/all is no object");
  CHECK(bench.refusal(R"({"window":{"A":{}}})") ==
        "window/A: it has a name that no record may have");
  CHECK(bench.refusal(R"({"desired":{"agent":{"version":"9"}}})") ==
        "desired/agent: agent 9 is not published");
  CHECK(bench.refusal(R"({"desired":{"agent":{"version":"2.0"}},"settings":{"colour":"red"}})")
            .starts_with("settings: colour = \"red\": needs another name"));
  CHECK(bench.value("desired/agent") == "");
  std::string many = R"({"window":{)";
  for (int i = 0; i < 101; ++i)
    many +=
        (i == 0 ? "\"w" : ",\"w") + std::to_string(i) + R"(":{"start":"01:00","duration_s":60})";
  CHECK(bench.refusal(many + "}}") == "the document changes 101 records; at most 100 at once");
  CHECK(bench.refusal(std::string(document_bytes_max + 1, ' ')) == "it has more than 262144 bytes");
}

}  // namespace

}  // namespace document_test

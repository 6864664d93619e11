// Tests documents: a document is a JSON text with the orders that describe a whole cell. Also tests
// that the work for a document does not grow with the number of orders times the number of nodes.
#include "fleet/orders/document.h"

#include <catch2/catch.hpp>

#include "fleet/model/records/effort.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "tests/together/fleet/test_store.h"

namespace document_test {
namespace {

using namespace fleet;

const std::string root(key_root);

constexpr std::uint64_t nodes = 30;

// Returns how many records are parsed for a decision about this document, in a cell with the
// release 2.0 and with nodes that run version 1.0.
std::uint64_t parsed_for(const std::string& document) {
  fleet_test::TestStore store;
  for (std::uint64_t i = 0; i < nodes; ++i) {
    const std::string node = root + "node/n" + std::to_string(i) + "/";
    store.put(node + "info", write_record(NodeInfo{}));
    store.put(node + "versions", R"({"agent":"1.0"})");
    store.put(node + "active", write_record(Active{.instance = "i"}));
    store.put(node + "instance/i", write_record(Instance{.version = "1.0"}));
  }
  store.put(root + "release/agent/2.0", write_record(Release{.digest = "d"}));

  const auto orders = orders_in(document);
  REQUIRE(orders);
  const Reading reading = store.read(document_reads(orders.value()));
  const std::uint64_t before = effort.records;
  const auto decided = decide_document(orders.value(), reading, {.who = "anna", .trace = "t"});
  REQUIRE(std::holds_alternative<DocumentDecision>(decided));
  return effort.records - before;
}

TEST_CASE("the records of nodes are parsed once for a document, however many orders it has") {
  const std::string rollouts =
      R"({"rollout":{"r":{"component":"agent","version":"2.0","target":"*"}})";
  const std::string others =
      R"(,"desired":{"agent":{"version":"2.0"}})"
      R"(,"plan":{"p":{"version":"3","steps":[{"name":"a","class":"any","hook":"h"}]}})";

  const std::uint64_t one = parsed_for(rollouts + "}");
  const std::uint64_t three = parsed_for(rollouts + others + "}");

  CHECK(one > nodes);
  CHECK(three - one < nodes);
}

// ---- documents: which records a document changes, and that it changes nothing when applied again

// A cell that has the release 2.0, and three nodes that run version 1.0.
struct DocumentBench {
  fleet_test::TestStore store;
  int applied = 0;

  DocumentBench() {
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
    auto decided = decide_document(
        orders.value(), store.read(document_reads(orders.value())),
        {.who = "anna", .time = std::to_string(applied), .trace = "t" + std::to_string(++applied)});
    if (const auto* refused = std::get_if<OrderRefused>(&decided)) {
      return agent_protocol::Refusal{refused->reason};
    }
    return std::move(std::get<DocumentDecision>(decided));
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
  // Checks that the document would change nothing. Returns the notes about the document that its
  // author would get.
  std::vector<std::string> notes(const std::string& text) {
    const auto decided = decide(text);
    INFO(refusal(text));
    REQUIRE(decided);
    CHECK(decided.value().changes.empty());
    return decided.value().notes;
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
  DocumentBench bench;
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

TEST_CASE("a document that is applied again leaves an undone version refused, and says so") {
  DocumentBench bench;
  bench.store.put(root + "release/agent/2.1", write_record(Release{.digest = "e"}));
  const std::string text = R"({"desired":{"agent":{"version":"2.0","why":"spring"}}})";
  const std::string other = R"({"desired":{"agent":{"version":"2.0","ignore_window":true}}})";
  const Lines note{
      "desired/agent: stays refused (rollout/r is undone) until somebody desires 2.0 again"};
  const auto refuse = [&bench] {
    auto wish = read_record<Desired>(bench.value("desired/agent")).value();
    wish.refused = "rollout/r is undone";
    wish.why = "said by hand";
    bench.store.put(root + "desired/agent", write_record(wish));
  };
  const auto refused = [&bench] {
    return read_record<Desired>(bench.value("desired/agent")).value().refused;
  };
  CHECK(bench.notes("{}").empty());
  bench.apply(text);
  CHECK(bench.notes(text).empty());
  refuse();

  CHECK(bench.notes(text) == note);
  CHECK(bench.apply(text).empty());
  CHECK(bench.apply(R"({"desired":{"agent":{"version":"2.0"}},"settings":{"keep":"30d"}})") ==
        Lines{"settings: new"});
  CHECK(refused() == "rollout/r is undone");

  // This document desires the refused version with other options. So it is a new order of a person,
  // and the version is no longer refused.
  CHECK(bench.apply(other).size() == 3);
  CHECK(refused().empty());
  refuse();
  CHECK(bench.apply(R"({"desired":{"agent":{"version":"2.1"}}})").size() > 1);
  CHECK(refused().empty());
}

TEST_CASE("a record that a document names is replaced whole, and others are left alone") {
  DocumentBench bench;
  bench.apply(R"({"settings":{"keep":"30d","event-age":"7d"},
                  "window":{"all":{"start":"01:00","duration_s":60}}})");
  CHECK(bench.apply(R"({"settings":{"keep":"60d"}})") ==
        Lines{R"(settings: event-age: "7d" -> not set)", R"(settings: keep: "30d" -> "60d")"});
  CHECK(bench.value("window/all") != "");
}

TEST_CASE("a rollout of a document has its judge's terms, and others are refused later") {
  DocumentBench bench;
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
  DocumentBench bench;
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
  CHECK(bench.refusal(plan + R"(,"over_budget":true}}})") ==
        "plan/move: it is there already, with another value of over_budget");
  CHECK(bench.apply(plan + R"(,"target":"*"}}})").empty());
  CHECK(bench.refusal(plan + R"(,"target":"n1"}}})") ==
        "plan/move: it is there already, with another value of target");

  bench.store.erase(root + "rollout/spring");
  bench.store.put(root + "history/000000000001",
                  write_record(PastRun{.subject = "rollout/spring", .state = "completed"}));
  CHECK(bench.apply(rollout + "}}}").empty());
}

// Each of these documents sets a term of the rollout, such as `undo`, to its default value. The
// rollout's record may lack this term, or have the value that was filled in for it. The document
// and the record then differ as texts, but mean the same.
TEST_CASE("a document that names terms as they are by default begins its rollout once") {
  for (const char* terms :
       {R"("undo":false)", R"("downgrade":false,"ignore_window":false)", R"("apart":[],"gates":[])",
        R"("seed":"","confirm_ms":0)", R"("batches":"")", R"("min_protocol":0,"digest":"")",
        R"("batch":1,"canary":0,"bake_ms":0)", R"("v":1,"gates":["errors"],"confirm_ms":0)"}) {
    INFO(terms);
    DocumentBench bench;
    const std::string named = std::string(R"({"rollout":{"spring":{"component":"agent",)") +
                              R"("version":"2.0","target":"*",)" + terms + "}}}";
    CHECK(bench.apply(named) == Lines{"rollout/spring: begins: agent 2.0"});
    CHECK(bench.apply(named).empty());
  }
  DocumentBench bench;
  bench.apply(rollout + R"(,"undo":true,"seed":"one"}}})");
  CHECK(bench.refusal(rollout + R"(,"undo":false}}})") != "");
  CHECK(bench.refusal(rollout + R"(,"seed":"two"}}})") != "");
  CHECK(bench.refusal(rollout + R"(,"seed":"0"}}})") != "");
  CHECK(bench.refusal(rollout + R"(,"batches":"0"}}})") != "");
  CHECK(bench.refusal(rollout + R"(,"min_protocol":1}}})") != "");
  CHECK(bench.refusal(rollout + R"(,"sead":"one"}}})")
            .starts_with("rollout/spring: there is no member sead; the members are component, "));
  CHECK(bench.refusal(rollout + R"(,"undo":true,"seed":"one"}}})").empty());
}

TEST_CASE("when two people apply a document at once, one writes, and the other has nothing to do") {
  DocumentBench bench;
  const auto first = bench.decide(rollout + "}}}");
  const auto second = bench.decide(rollout + "}}}");
  REQUIRE(first);
  REQUIRE(second);
  CHECK(std::holds_alternative<Committed>(bench.store.commit(first.value().transaction)));
  CHECK(std::holds_alternative<Refused>(bench.store.commit(second.value().transaction)));
  CHECK(bench.apply(rollout + "}}}").empty());
}

// A plan and a rollout of the same name would both need the key driver/NAME for their drivers.
TEST_CASE("a plan and a rollout of the same name never exist together") {
  DocumentBench bench;
  const std::string one_name =
      R"("plan":{"spring":{"version":"3","steps":[{"name":"a","class":"any","hook":"h"}]}})";
  CHECK(bench.refusal(rollout + "}}," + one_name + "}") ==
        "rollout/spring: a rollout and a plan of the same name cannot both begin");
  bench.apply(rollout + "}}}");
  CHECK(bench.refusal("{" + one_name + "}") ==
        "plan/spring: there is a rollout spring: choose another name");
}

TEST_CASE("while nothing may begin, a document begins nothing, and may repeat what has begun") {
  DocumentBench bench;
  bench.apply(rollout + "}}}");
  bench.store.put(root + "stop", "{}");
  const auto orders = orders_in(plan + "}}}").value();
  const auto decided = decide_document(orders, bench.store.read(document_reads(orders)), {});
  REQUIRE(std::holds_alternative<OrderRefused>(decided));
  CHECK(std::get<OrderRefused>(decided).why == OrderRefused::Why::conflict);
  CHECK(std::get<OrderRefused>(decided).reason ==
        "plan/move: nothing may begin now; fleetctl stop off ends the stop");
  CHECK(bench.apply(rollout + "}}}").empty());
}

TEST_CASE("a document with an order that is refused changes nothing, and the order is named") {
  DocumentBench bench;
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

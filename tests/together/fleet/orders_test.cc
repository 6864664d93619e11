// Tests which orders a person may give, and which person the records name as the author of an
// order. Also tests documents: a document is a JSON text with the orders that describe a whole
// cell. fleetctl and HTTP share the tested code. config_test.cc has more tests of settings, and
// config_rollout_test.cc more tests of rollouts.
#include <catch2/catch.hpp>

#include "fleet/model/records/plan_records.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/rollout_records.h"
#include "fleet/orders/document.h"
#include "fleet/orders/order.h"
#include "tests/together/fleet/test_store.h"

namespace orders_test {

namespace {

using namespace fleet;

const std::string root(key_root);

// A cell that has the releases 1.0 and 2.0, and a node n1 that runs version 2.0.
struct Bench {
  fleet_test::TestStore store;

  Bench() {
    store.put(root + "node/n1/info", write_record(NodeInfo{}));
    store.put(root + "node/n1/versions", R"({"agent":"2.0","web":"2.0"})");
    store.put(root + "node/n1/active", write_record(Active{.instance = "i"}));
    store.put(root + "node/n1/instance/i", write_record(Instance{.version = "2.0"}));
    for (const std::string version : {"1.0", "2.0"}) {
      store.put(root + "release/agent/" + version, write_record(Release{.digest = "d"}));
      store.put(root + "release/web/" + version, write_record(Release{.digest = "d"}));
    }
  }

  OrderDecision decide(const Order& order) {
    return decide_order(order, store.read(order_reads(order)),
                        {.who = "anna", .time = "now", .trace = "t1"});
  }
  std::string refusal(const Order& order) {
    const auto decision = decide(order);
    const auto* refused = std::get_if<OrderRefused>(&decision);
    return refused == nullptr ? "" : refused->reason;
  }
  // Gives the order: commits all of its transactions. Returns the event that the order adds to the
  // history.
  FleetEvent give(const Order& order) {
    auto decision = decide(order);
    INFO(refusal(order));
    REQUIRE(std::holds_alternative<OrderTaken>(decision));
    auto& taken = std::get<OrderTaken>(decision);
    for (const Transaction& part : taken.parts)
      REQUIRE(std::holds_alternative<Committed>(store.commit(part)));
    std::optional<Outcome> last;
    while (taken.creation != nullptr) {
      const auto next =
          taken.creation->next(store.find(taken.creation->key()), last ? &*last : nullptr);
      const auto* transaction = std::get_if<Transaction>(&next);
      if (transaction == nullptr) break;
      last = store.commit(*transaction);
    }
    return taken.event;
  }
};

const std::string plan_text = R"({"version":"3","steps":[{"name":"a","class":"any","hook":"h"}]})";

TEST_CASE("an order says who has ordered what, and whether that is proved") {
  Bench bench;
  const FleetEvent event = bench.give({.subject = "stop", .body = R"({"why":"Friday"})"});
  CHECK(event.kind == "ordered");
  CHECK(event.subject == "stop");
  CHECK(event.text == "nothing begins: Friday");
  CHECK(event.who == "anna");
  CHECK_FALSE(event.proved);
  CHECK(read_record<Stop>(bench.store.find(root + "stop")->value).value().who == "anna");
  CHECK(bench.give({.deed = Deed::erase, .subject = "stop"}).text == "everything may begin again");
  CHECK(bench.store.find(root + "stop") == nullptr);
}

TEST_CASE("an order for an older version than the one that runs is refused, unless it says so") {
  Bench bench;
  const std::string older =
      "agent 1.0 is older than what runs on n1 (2.0); if that is meant, say --downgrade "
      "(by HTTP \"downgrade\": true)";
  CHECK(bench.refusal({.subject = "desired/agent", .body = R"({"version":"1.0"})"}) == older);
  CHECK(bench.refusal({.subject = "node/n1/desired/agent", .body = R"({"version":"1.0"})"}) ==
        older);
  const std::string terms = R"({"terms":{"component":"agent","version":"1.0","target":"*")";
  CHECK(bench.refusal({.subject = "rollout/r", .body = terms + "}}"}) == older);

  bench.give({.subject = "rollout/r", .body = terms + R"(,"downgrade":true}})"});
  CHECK(bench.store.find(root + "rollout/r") != nullptr);
  bench.give({.subject = "desired/agent", .body = R"({"version":"1.0","downgrade":true})"});
  CHECK(read_record<Desired>(bench.store.find(root + "desired/agent")->value).value().who ==
        "anna");
}

TEST_CASE("an order for a rollout has the judge's alpha and tolerate, within their bounds") {
  Bench bench;
  const std::string terms =
      R"({"terms":{"component":"agent","version":"1.0","target":"*","downgrade":true)";
  CHECK(bench.refusal({.subject = "rollout/r", .body = terms + R"(,"alpha_millionths":1000}})"})
            .find("alpha must be above 0.001, which a bake takes from it, and at most 0.5: ") !=
        std::string::npos);
  CHECK(bench.refusal({.subject = "rollout/r", .body = terms + R"(,"tolerate_millionths":0}})"})
            .find("tolerate must be 1 to 100: ") != std::string::npos);

  bench.give({.subject = "rollout/r",
              .body = terms + R"(,"alpha_millionths":50000,"tolerate_millionths":2000000}})"});
  const Rollout rollout = read_record<Rollout>(bench.store.find(root + "rollout/r")->value).value();
  CHECK(rollout.terms.alpha_millionths == 50'000);
  CHECK(rollout.terms.tolerate_millionths == 2'000'000);
}

TEST_CASE("a version is desired of a node that reports or is enrolled, and of no other one") {
  Bench bench;
  const std::string version = R"({"version":"2.0"})";
  CHECK(bench.refusal({.subject = "node/n1/desired/web", .body = version}).empty());
  const Order of_new{.subject = "node/n9/desired/web", .body = version};
  CHECK(bench.refusal(of_new) == "n9: no such node");
  bench.store.put(root + "identity/node/n9", write_record(Identity{}));
  CHECK(bench.refusal(of_new).empty());
  bench.store.put(root + "identity/node/n9", write_record(Identity{.revoked = "then"}));
  CHECK(bench.refusal(of_new) == "n9: no such node");
}

TEST_CASE("an order begins a plan with the nodes of its target, and another recovers the plan") {
  Bench bench;
  const FleetEvent begun = bench.give({.subject = "plan/p", .body = plan_text});
  CHECK(begun.text == "begins with 1 member");
  auto plan = read_record<Plan>(bench.store.find(root + "plan/p")->value).value();
  CHECK(plan.state == PlanState::running);
  CHECK(plan.who == "anna");
  CHECK(bench.store.find(root + "plan/p/member/n1") != nullptr);
  CHECK(bench.refusal({.deed = Deed::erase, .subject = "plan/p"}) ==
        "p: it is running, and is recovered when it has ended");
  CHECK(bench.refusal({.deed = Deed::patch, .subject = "plan/p"}).starts_with("a plan is not"));

  plan.state = PlanState::halted;
  bench.store.put(root + "plan/p", write_record(plan));
  CHECK(bench.give({.deed = Deed::erase, .subject = "plan/p"}).text ==
        "is recovered: the next run begins anew");
  CHECK(bench.store.find(root + "plan/p") == nullptr);
  CHECK(bench.refusal({.deed = Deed::erase, .subject = "plan/p"}) == "p: no such plan");
}

TEST_CASE("to recover a plan that has not migrated restores the desired version from before it") {
  Bench bench;
  const Desired before{.version = "1.0", .digest = "d", .who = "bert"};
  bench.store.put(root + "desired/web", write_record(before));
  const auto wish = [&bench] {
    return read_record<Desired>(bench.store.find(root + "desired/web")->value).value();
  };
  bench.give({.subject = "plan/p", .body = R"({"version":"2.0","component":"web","steps":[
                  {"name":"s","class":"together","hook":"h","migrate":true}]})"});
  REQUIRE(wish().pending);
  auto plan = read_record<Plan>(bench.store.find(root + "plan/p")->value).value();
  plan.state = PlanState::halted;
  bench.store.put(root + "plan/p", write_record(plan));

  SECTION("unless somebody has written another one since") {
    bench.store.put(root + "desired/web", write_record(Desired{.version = "2.0"}));
    bench.give({.deed = Deed::erase, .subject = "plan/p"});
    CHECK(wish().version == "2.0");
  }
  SECTION("and erases the plan") {
    bench.give({.deed = Deed::erase, .subject = "plan/p"});
    CHECK(wish() == before);
    CHECK(bench.store.find(root + "plan/p") == nullptr);
  }
}

TEST_CASE("a completed plan is replaced by the next plan of its name") {
  Bench bench;
  bench.give({.subject = "plan/p", .body = plan_text});
  CHECK(bench.refusal({.subject = "plan/p", .body = plan_text}) ==
        "there is a plan p already (fleetctl plan recover p)");
  auto plan = read_record<Plan>(bench.store.find(root + "plan/p")->value).value();
  plan.state = PlanState::completed;
  bench.store.put(root + "plan/p", write_record(plan));

  bench.give({.subject = "plan/p", .body = plan_text});
  plan = read_record<Plan>(bench.store.find(root + "plan/p")->value).value();
  CHECK(plan.state == PlanState::running);
}

TEST_CASE("a plan that cannot be run is refused with the reason") {
  Bench bench;
  const auto why = [&](const std::string& body, const std::string& name = "p") {
    return bench.refusal({.subject = "plan/" + name, .body = body});
  };
  CHECK(why("[") != "");
  CHECK(why(R"({"version":"3","stepps":[]})") ==
        "there is no member stepps; the members are version, component, agent, soak_ms, steps, "
        "ignore_window, over_budget, target");
  CHECK(why(R"({"version":"3"})") == "it has no steps");
  CHECK(why(R"({"version":"3","steps":[{"name":"a","class":"any","hook":"h","timeout":5000}]})") ==
        "step a: there is no member timeout; the members are name, class, hook, timeout_ms, migrate");
  CHECK(why(plan_text, "events") ==
        "no plan is called events: events is the name of the driver that writes the history");
  const std::string target = plan_text.substr(0, plan_text.size() - 1) + R"(,"target":"x*"})";
  CHECK(why(target) == "no node is meant");
  CHECK(why(R"({"version":"1.0","component":"web",
    "steps":[{"name":"a","class":"together","hook":"h","migrate":true}]})") ==
        "web 1.0 is older than what runs on n1 (2.0): no plan goes back");
}

TEST_CASE("a time zone that tzdata does not have is refused in a window") {
  Bench bench;
  const Order order{.subject = "window/night",
                    .body = R"({"start":"01:00","duration_s":60,"time_zone":"Mars/North"})"};
  const Orderer orderer{.who = "anna", .zones = [](const std::string&) {
                          return Result<TimeZone>(agent_protocol::Refusal{"there is no such zone"});
                        }};
  const auto decision = decide_order(order, bench.store.read(order_reads(order)), orderer);
  REQUIRE(std::holds_alternative<OrderRefused>(decision));
  CHECK(std::get<OrderRefused>(decision).reason == "time zone Mars/North: there is no such zone");
}

TEST_CASE("orders are refused for records that nobody may order, and changes of absent records") {
  Bench bench;
  CHECK(bench.refusal({.subject = "node/n1/claim/agent", .body = "{}"}) ==
        "there is no node/n1/claim/agent that could be set");
  CHECK(bench.refusal({.subject = "event/1", .body = "{}"}) ==
        "there is no event/1 that could be set");
  CHECK(bench.refusal({.deed = Deed::erase, .subject = "window/x"}) == "window/x is not set");
}

// ---- a command to one node

Order upgrade_of(const std::string& node, const std::string& members = R"("version":"2.0")") {
  return {.subject = "node/" + node + "/command/agent",
          .body = R"({"action":"upgrade",)" + members + "}"};
}

TEST_CASE("a command is written with a claim, and both have the lease") {
  Bench bench;
  auto decision = bench.decide(upgrade_of("n1", R"("version":"2.0","not_after_ms":5000)"));
  REQUIRE(std::holds_alternative<OrderTaken>(decision));
  auto& taken = std::get<OrderTaken>(decision);
  CHECK(taken.lease_s == 5);
  CHECK(taken.shown == R"({"id":"c-t1.upgrade.1"})");
  CHECK(taken.event.subject == "node/n1/command/agent");
  CHECK(taken.event.text == "upgrade 2.0");
  CHECK(taken.event.trace == "c-t1");
  add_lease(taken, 77);
  REQUIRE(taken.parts.size() == 1);
  REQUIRE(taken.parts[0].puts.size() == 2);
  CHECK(taken.parts[0].puts[0].lease == 77);
  CHECK(taken.parts[0].puts[1].lease == 77);
  const auto command = read_record<fleet::Command>(taken.parts[0].puts[0].value).value();
  CHECK(command.digest == "d");
  CHECK(command.not_after_ms == 5'000);
  CHECK(read_record<Claim>(taken.parts[0].puts[1].value).value().by == "command/anna");
}

TEST_CASE("a command that is wrong in itself is refused") {
  Bench bench;
  CHECK(bench.refusal(upgrade_of("n9")) == "n9: no such node");
  CHECK(bench.refusal(upgrade_of("n1", R"("version":"7.0")")) == "agent 7.0 is not published");
  CHECK(bench.refusal(upgrade_of("n1", R"("version":"1.0")")).find("--downgrade") !=
        std::string::npos);
  CHECK(bench.refusal(upgrade_of("n1", R"("version":"1.0","downgrade":true)")).empty());
  CHECK(bench.refusal(upgrade_of("n1", R"("reason":"x")")) == "a version is needed");
  CHECK(bench.refusal(upgrade_of("n1", R"("version":"2.0","digest":"x")")) ==
        "there is no member digest; the members are action, version, reason, downgrade, "
        "not_after_ms");
  CHECK(bench.refusal(upgrade_of("n1", R"("version":"2.0","not_after_ms":999)")) ==
        "not_after_ms is at least 1000");
  Order other = upgrade_of("n1");
  other.body = R"({"action":"stop"})";
  CHECK(bench.refusal(other) == "action may be prepare, upgrade or reboot");
  other.body = R"({"action":"reboot","version":"2.0"})";
  CHECK(bench.refusal(other) == "reboot needs no version");
  other.body = R"({"action":"reboot"})";
  CHECK(bench.refusal(other).empty());
  other.deed = Deed::erase;
  CHECK(bench.refusal(other) == "a command is neither changed nor taken away");
}

TEST_CASE("a command is refused while something else moves the node, or everything stands still") {
  Bench bench;
  SECTION("a claim") {
    bench.store.put(root + "node/n1/claim/agent", write_record(Claim{.by = "rollout/r1"}));
    CHECK(bench.refusal(upgrade_of("n1")) == "n1: rollout/r1 moves it already");
  }
  SECTION("another command") {
    bench.give(upgrade_of("n1"));
    bench.store.erase(root + "node/n1/claim/agent");
    CHECK(bench.refusal(upgrade_of("n1")) == "n1: another command is there already");
  }
  SECTION("a stop") {
    bench.give({.subject = "stop", .body = R"({"why":"repair"})"});
    const std::string words = bench.refusal(upgrade_of("n1"));
    CHECK(words.starts_with("nothing may begin now, since "));
    CHECK(words.ends_with(": repair; fleetctl stop off ends the stop"));
  }
}

TEST_CASE("the history says which settings a person has changed, but not the secret one") {
  Bench bench;
  const auto words = [&bench](const std::string& body) {
    return bench.give({.subject = "settings", .body = body}).text;
  };
  CHECK(words(R"({"keep":"30d","webhook":"https://h.example/secret"})") ==
        "are set: keep is 30d, webhook is another one");
  CHECK(words(R"({"keep":"60d"})") == "are set: keep is 60d, webhook is not set any longer");
  CHECK(words(R"({"keep":"60d"})") == "are set");
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

TEST_CASE("a person who desires a refused version again lifts the refusal") {
  Bench bench;
  bench.store.put(
      root + "desired/agent",
      write_record(Desired{.version = "2.0", .digest = "d", .refused = "rollout/r is undone"}));
  bench.give({.subject = "desired/agent", .body = R"({"version":"2.0"})"});
  const KeyValue* found = bench.store.find(root + "desired/agent");
  CHECK(read_record<Desired>(found->value).value().refused.empty());
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

}  // namespace orders_test

// Tests which orders a person may give, and which person the records name as the author of an
// order. fleetctl and HTTP share the tested code. config_test.cc has more tests of settings,
// config_rollout_test.cc more tests of rollouts, and document_test.cc the tests of documents.
#include <catch2/catch.hpp>

#include "fleet/model/records/plan_records.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/rollout_records.h"
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
  CHECK(
      why(R"({"version":"3","steps":[{"name":"a","class":"any","hook":"h","timeout":5000}]})") ==
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

TEST_CASE("a person who desires a refused version again lifts the refusal") {
  Bench bench;
  bench.store.put(
      root + "desired/agent",
      write_record(Desired{.version = "2.0", .digest = "d", .refused = "rollout/r is undone"}));
  bench.give({.subject = "desired/agent", .body = R"({"version":"2.0"})"});
  const KeyValue* found = bench.store.find(root + "desired/agent");
  CHECK(read_record<Desired>(found->value).value().refused.empty());
}

}  // namespace

}  // namespace orders_test

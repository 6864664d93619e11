// Tests how a person begins a rollout by HTTP, how a person gives an order to a rollout, and which
// transactions write a new rollout.
#include <catch2/catch.hpp>

#include "fleet/http/config.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"
#include "fleet/model/rollouts/rollout_draft.h"
#include "fleet/model/rollouts/rollout_wish.h"

namespace config_rollout_test {

namespace {

using namespace fleet;

const std::string root(key_root);
const ConfigMoment moment{.time = "now", .trace = "t1", .next_event = 12};
const std::string terms =
    R"({"terms":{"component":"agent","version":"2.0","target":"*","batch":1,"order":"name"}})";

Request request(Method method, const std::string& body) {
  return {.method = method, .body = body, .visitor = Visitor{"operator:olga"}};
}

// Returns the records of a release and of two registered nodes, and the records in `more`.
Reading cell(std::vector<KeyValue> more = {}) {
  std::vector<KeyValue> found;
  for (const std::string node : {"n1", "n2"}) {
    const std::string below = root + "node/" + node + "/";
    found.push_back({.key = below + "active", .value = R"({"instance":"i"})", .modified = 2});
    found.push_back({.key = below + "info", .value = R"({"facts":{}})", .modified = 2});
    found.push_back({.key = below + "instance/i", .value = R"({"version":"1.0"})", .modified = 2});
    found.push_back({.key = below + "versions", .value = R"({"agent":"1.0"})", .modified = 2});
  }
  found.push_back({.key = root + "release/agent/2.0",
                   .value = write_record(Release{.digest = "d"}),
                   .modified = 3});
  found.insert(found.end(), more.begin(), more.end());
  return {.revision = 9, .found = std::move(found)};
}

const RolloutTerms good{
    .component = "agent", .version = "2.0", .digest = "d", .target = "*", .batch = 1};

KeyValue rollout(RolloutState state, RolloutOrder order = RolloutOrder::none) {
  return {
      .key = root + "rollout/r1",
      .value = write_record(Rollout{.terms = good, .state = state, .order = order, .trace = "t0"}),
      .modified = 7};
}

ConfigDecision patched(const std::string& body, const KeyValue& found) {
  return decide_config(request(Method::patch, body), "rollout/r1", {.found = {found}}, moment);
}

std::string reason_of(const ConfigDecision& decision) {
  return std::to_string(decision.response.status) + " " +
         parse_tree(decision.response.body).value().text_of("reason");
}

TEST_CASE("the records that a rollout needs are read with it: the nodes and the release") {
  CHECK(config_reads(request(Method::put, terms), "rollout/r1") ==
        std::vector<std::string>{root + "rollout/r1", root + "stop", root + "node/",
                                 root + "identity/node/", root + "settings", root + "history/",
                                 root + "plan/r1", root + "release/agent/2.0"});
  CHECK(config_reads(request(Method::patch, R"({"order":"pause"})"), "rollout/r1") ==
        std::vector<std::string>{root + "rollout/r1", root + "stop"});
}

TEST_CASE("while nothing may begin, an order that begins something is refused, also in a trial") {
  const KeyValue stop{.key = root + "stop", .value = "{}", .modified = 4};
  const std::string refused = "412 nothing may begin now; fleetctl stop off ends the stop";
  Request begins = request(Method::put, terms);
  CHECK(reason_of(decide_config(begins, "rollout/r1", cell({stop}), moment)) == refused);
  begins.query["validate"] = "true";
  CHECK(reason_of(decide_config(begins, "rollout/r1", cell({stop}), moment)) == refused);

  const auto told = [&stop](const std::string& order) {
    const Reading all{.found = {rollout(RolloutState::paused), stop}};
    return decide_config(request(Method::patch, R"({"order":")" + order + "\"}"), "rollout/r1", all,
                         moment);
  };
  CHECK(reason_of(told("none")) == refused);
  CHECK(told("abort").response.status == 204);
}

TEST_CASE("a rollout does not get the name of a plan, whose driver would have the same key") {
  const KeyValue plan{.key = root + "plan/r1", .value = "{}", .modified = 4};
  CHECK(reason_of(decide_config(request(Method::put, terms), "rollout/r1", cell({plan}), moment)) ==
        "412 there is a plan r1: choose another name");
}

TEST_CASE(
    "a rollout that is put is drafted as fleetctl drafts it, and who has put it is recorded") {
  const auto decision = decide_config(request(Method::put, terms), "rollout/r1", cell(), moment);

  CHECK(decision.response.status == 201);
  CHECK(decision.response.body == R"({"batches":[["n1"],["n2"]],"excluded":[],"not_covered":[]})");
  CHECK_FALSE(decision.transaction.has_value());
  REQUIRE(decision.creation != nullptr);
  const auto next = decision.creation->next(nullptr, nullptr);
  const auto* first = std::get_if<Transaction>(&next);
  REQUIRE(first != nullptr);
  const auto record = read_record<Rollout>(first->puts.front().value).value();
  CHECK(record.who == "operator:olga");
  CHECK(record.trace == "t1");
  CHECK(record.terms.digest == "d");
  CHECK(record.state == RolloutState::created);
}

TEST_CASE(
    "terms that are left open by HTTP are those that fleetctl fills in, and a seed is shown") {
  const std::string open = R"({"terms":{"component":"agent","version":"2.0","target":"*"}})";
  const auto decision = decide_config(request(Method::put, open), "rollout/r1", cell(), moment);

  CHECK(decision.response.status == 201);
  CHECK(parse_tree(decision.response.body).value().text_of("seed") == "t1");
  const auto next = decision.creation->next(nullptr, nullptr);
  const RolloutTerms written =
      read_record<Rollout>(std::get<Transaction>(next).puts.front().value).value().terms;
  CHECK(written.batches == "1,0.5%,4%,10%");
  CHECK(written.order == NodeOrder::random);
  CHECK(written.seed == "t1");
  CHECK(written.soak_ms == 60'000);
  CHECK(written.spread_ms == -1);
  CHECK(written.max_failed_unsaid);
}

TEST_CASE("by HTTP, too, batches replace batch, and order has one of two values") {
  const auto reason = [](const std::string& more) {
    const std::string body =
        R"({"terms":{"component":"agent","version":"2.0","target":"*",)" + more + "}}";
    return reason_of(decide_config(request(Method::put, body), "rollout/r1", cell(), moment));
  };
  CHECK(reason(R"("batches":"1","batch":2)") ==
        "400 terms: batches stands in place of batch, batch_percent and canary");
  CHECK(reason(R"("order":"fast")") == "400 terms: order is random or name");
  CHECK(reason(R"("batches":"x")") ==
        "400 batches: \"x\" is neither 1 to 1000 nodes nor 0.001% to 100%");
}

TEST_CASE("a rollout does not get the name of one that has ended and whose records are gone") {
  const auto line = [](const std::string& subject) {
    return KeyValue{.key = root + "history/000000000001",
                    .value = write_record(PastRun{.subject = subject, .state = "completed"}),
                    .modified = 4};
  };
  const auto put = [](const KeyValue& past) {
    return decide_config(request(Method::put, terms), "rollout/r1", cell({past}), moment);
  };
  const auto decision = put(line("rollout/r1"));
  CHECK(decision.creation == nullptr);
  CHECK(reason_of(decision) ==
        "412 a rollout r1 has ended, and nodes may still know its orders: choose another name");
  CHECK(put(line("rollout/r10")).creation != nullptr);
  CHECK(put(line("plan/r1")).creation != nullptr);
}

TEST_CASE("a rollout that is only validated shows its batches and is not begun") {
  Request tried = request(Method::put, terms);
  tried.query["validate"] = "true";

  const auto decision = decide_config(tried, "rollout/r1", cell(), moment);

  CHECK(decision.response.status == 201);
  CHECK(decision.response.body.starts_with(R"({"batches":[["n1"],["n2"]])"));
  CHECK(decision.creation == nullptr);
}

TEST_CASE("yes accepts many batches only if it is true, like validate") {
  for (const char* name : {"yes", "validate"}) {
    Request one = request(Method::put, terms);
    one.query[name] = "false";
    CHECK(reason_of(decide_config(one, "rollout/r1", cell(), moment)) ==
          "400 " + std::string(name) + " may be true, and nothing else");
  }
}

TEST_CASE("an impossible rollout is refused with the reason") {
  const auto put = [](const std::string& body, const std::string& rest = "rollout/r1") {
    return reason_of(decide_config(request(Method::put, body), rest, cell(), moment));
  };

  CHECK(put("{}") == "400 terms is missing");
  CHECK(put(R"({"terms":{},"state":"rolling"})") == "400 of a rollout terms alone is given");
  CHECK(put(R"({"terms":{"component":"agent","batsh":1}})")
            .starts_with("400 terms: there is no member batsh; the members are "));
  CHECK(put(R"({"terms":{"component":"agent","version":"3.0","target":"*"}})") ==
        "400 agent 3.0 is not published");
  CHECK(put(R"({"terms":{"component":"agent","version":"2.0","target":"x*"}})") ==
        "400 no nodes: the target means none that reports the component agent");
  CHECK(put(terms, "rollout/desired") ==
        "400 no rollout is called desired: desired is the name of the driver of desired versions");
  CHECK(
      put(terms, "rollout/events") ==
      "400 no rollout is called events: events is the name of the driver that writes the history");
  CHECK(reason_of(decide_config(request(Method::put, terms), "rollout/r1",
                                cell({rollout(RolloutState::rolling)}), moment)) ==
        "412 rollout r1 is there already, and its terms never change");
}

TEST_CASE("an order compares the records that were read, and names its author") {
  const auto pause = patched(R"({"order":"pause"})", rollout(RolloutState::rolling));

  CHECK(pause.response.status == 204);
  REQUIRE(pause.transaction.has_value());
  CHECK(pause.transaction->compares.front() == Compare{.key = root + "rollout/r1", .revision = 7});
  const auto paused = read_record<Rollout>(pause.transaction->puts[0].value).value();
  CHECK(paused.order == RolloutOrder::pause);
  CHECK(asked_for(paused) == "asked for by operator:olga");
  const auto event = read_record<FleetEvent>(pause.transaction->puts[1].value).value();
  CHECK(event.text == "begins no other batch");
  CHECK(event.who == "operator:olga");

  const auto resume =
      patched(R"({"order":"none"})", rollout(RolloutState::paused, RolloutOrder::none));
  REQUIRE(resume.transaction.has_value());
  const Compare not_stopped{.key = root + "stop"};
  CHECK(std::count(resume.transaction->compares.begin(), resume.transaction->compares.end(),
                   not_stopped) == 1);
  const auto again = patched(R"({"order":"abort"})", rollout(RolloutState::aborted));
  CHECK(again.response.status == 204);
  CHECK_FALSE(again.transaction.has_value());
}

TEST_CASE("the reason of an abort before the beginning names the person") {
  const auto abort = patched(R"({"order":"abort"})", rollout(RolloutState::created));

  REQUIRE(abort.transaction.has_value());
  const auto aborted = read_record<Rollout>(abort.transaction->puts[0].value).value();
  CHECK(aborted.state == RolloutState::aborted);
  CHECK(aborted.reason == "asked for by operator:olga, before it began");
}

TEST_CASE("an event after a rollout's creation tells which person has begun it") {
  const auto decision = decide_config(request(Method::put, terms), "rollout/r1", cell(), moment);

  CHECK_FALSE(decision.transaction.has_value());
  const FleetEvent& read = decision.event;
  CHECK(read.kind == "ordered");
  CHECK(read.subject == "rollout/r1");
  CHECK(read.text == "begins: agent 2.0");
  CHECK(read.who == "operator:olga");
  CHECK(read.trace == "t1");
}

TEST_CASE("an order that comes too late, or is unknown, is refused") {
  const KeyValue over = rollout(RolloutState::completed);
  CHECK(reason_of(patched(R"({"order":"abort"})", over)) == "412 r1: it is completed");
  for (const auto state : {RolloutState::undoing, RolloutState::undone, RolloutState::unknown}) {
    CHECK(reason_of(patched(R"({"order":"abort"})", rollout(state))) ==
          "412 r1: it is " + std::string(text_of(state)));
  }
  CHECK(reason_of(patched(R"({"order":"faster"})", over)) ==
        "400 an order is pause, none (it goes on), abort, abort-and-leave, undo or undo-now");
  CHECK(reason_of(patched(R"({"terms":{}})", over)) == "400 of a rollout order alone is given");
  CHECK(reason_of(
            decide_config(request(Method::erase, ""), "rollout/r1", {.found = {over}}, moment)) ==
        "400 a rollout is not taken away: PATCH its order to abort");
}

TEST_CASE("a number that stands for `not said` in a record is refused from a person") {
  for (const std::string wrong : {R"("batch":-1)", R"("max_failed":-1)"}) {
    const std::string body =
        R"({"terms":{"component":"agent","version":"2.0","target":"*",)" + wrong + "}}";
    CHECK(reason_of(decide_config(request(Method::put, body), "rollout/r1", cell(), moment)) ==
          "400 terms: batch and max_failed are at least 1");
  }
}

// ---- the transactions that write a new rollout (RolloutCreation)

struct Bench {
  RolloutCreation creation{"r1", Rollout{.terms = good, .trace = "t1"},
                           RolloutDraft{.batches = {{"n1"}}}, 3};

  static KeyValue written(RolloutState state, Revision modified, const std::string& trace = "t1") {
    return {
        .key = root + "rollout/r1",
        .value = write_record(Rollout{.terms = good, .state = state, .batches = 1, .trace = trace}),
        .modified = modified};
  }
  std::string next(const KeyValue* found, const Outcome* last) {
    const auto next = creation.next(found, last);
    if (std::holds_alternative<Transaction>(next)) return "writes";
    if (std::holds_alternative<Creation::Begun>(next)) return "begun";
    const auto& not_begun = std::get<Creation::NotBegun>(next);
    return (not_begun.is_known ? "known: " : "unknown: ") + not_begun.reason;
  }
};

TEST_CASE("a rollout whose first answer was lost is written on from the records in the store") {
  Bench bench;
  const KeyValue created = Bench::written(RolloutState::created, 4);
  const KeyValue rolling = Bench::written(RolloutState::rolling, 5);
  const Outcome lost = Unknown{"no answer"};

  CHECK(bench.next(nullptr, nullptr) == "writes");
  CHECK(bench.next(&created, &lost) == "writes");
  CHECK(bench.next(&rolling, &lost) == "begun");
}

TEST_CASE("the answer for a rollout that was not written says whether that is certain") {
  const Outcome lost = Unknown{"no answer"};
  const Outcome refused = Refused{};
  const Outcome denied = Denied{"no permission"};
  const KeyValue others = Bench::written(RolloutState::rolling, 4, "t2");
  const auto after = [](const Outcome& last) {
    Bench bench;
    CHECK(bench.next(nullptr, nullptr) == "writes");
    return bench.next(nullptr, &last);
  };

  CHECK(after(lost) == "unknown: it cannot be known whether it will begin: no answer");
  CHECK(after(refused).starts_with("known: nothing may begin now"));
  CHECK(after(denied) == "known: no permission");
  CHECK(Bench().next(&others, nullptr) == "known: there is a rollout r1 already");
}

}  // namespace

}  // namespace config_rollout_test

// Tests how a new rollout is checked before any node moves, and which records are written for it.
#include "fleet/model/rollout_draft.h"

#include <catch2/catch.hpp>

#include "fleet/model/ids.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"
#include "fleet/model/rollout_decision.h"

namespace rollout_draft_test {

namespace {

using namespace fleet;
using Ids = std::vector<std::string>;
using Batches = std::vector<Ids>;

std::vector<RolloutCandidate> candidates(const Ids& ids, std::int64_t protocol = 1) {
  std::vector<RolloutCandidate> made;
  for (const std::string& id : ids) {
    made.push_back({.node = {.id = id, .info = {.protocol = protocol}, .reports = true}});
  }
  return made;
}

RolloutTerms terms() {
  return {.component = "agent", .version = "1.1.0", .digest = "d", .target = "*", .batch = 2};
}

Batches batches(const RolloutTerms& wanted, const std::vector<RolloutCandidate>& nodes) {
  const auto draft = draft_rollout(wanted, nodes);
  REQUIRE(draft);
  return draft.value().batches;
}

// Rows: Z-50
TEST_CASE("batches are sorted and fixed, and the canaries come first") {
  RolloutTerms wanted = terms();
  const auto nodes = candidates({"e", "c", "a", "d", "b"});

  CHECK(batches(wanted, nodes) == Batches{{"a", "b"}, {"c", "d"}, {"e"}});
  wanted.canary = 1;
  CHECK(batches(wanted, nodes) == Batches{{"a"}, {"b", "c"}, {"d", "e"}});
  wanted.canary = 9;
  CHECK(batches(wanted, nodes) == Batches{{"a", "b", "c", "d", "e"}});
}

TEST_CASE("a batch of P per cent counts the eligible nodes, and has at least one") {
  RolloutTerms wanted = terms();
  wanted.batch_percent = 50;
  CHECK(batches(wanted, candidates({"a", "b", "c", "d", "e"})) ==
        Batches{{"a", "b"}, {"c", "d"}, {"e"}});
  wanted.batch_percent = 1;
  CHECK(batches(wanted, candidates({"a", "b"})) == Batches{{"a"}, {"b"}});
}

// Rows: Z-18, Z-19
TEST_CASE("degraded nodes are left out and named; if none is left the rollout is refused") {
  auto nodes = candidates({"a", "b"});
  nodes[1].degraded = "disk full";
  const auto draft = draft_rollout(terms(), nodes);
  REQUIRE(draft);
  CHECK(draft.value().batches == Batches{{"a"}});
  CHECK(draft.value().excluded == Ids{"b"});

  nodes[0].degraded = "too";
  CHECK(draft_rollout(terms(), nodes).reason() == "no eligible nodes (2 degraded excluded)");
}

// Rows: Z-20, Z-21, Z-22
TEST_CASE("min-protocol refuses the whole rollout and names each node that is too old") {
  auto nodes = candidates({"a", "b", "c"}, 2);
  nodes[0].node.info.protocol = 1;
  nodes[2].node.info.protocol = 0;
  RolloutTerms wanted = terms();
  CHECK(draft_rollout(wanted, nodes));

  wanted.min_protocol = 2;
  CHECK(draft_rollout(wanted, nodes).reason() == "a (protocol 1 < 2), c (protocol 0 < 2)");

  nodes[0].degraded = "excluded nodes are not asked";
  CHECK(draft_rollout(wanted, nodes).reason() == "c (protocol 0 < 2)");
}

// Rows: Z-59
// Rows: Z-12
TEST_CASE("nodes that do not report are listed, and are in no batch") {
  auto nodes = candidates({"a", "b"});
  nodes[0].node.reports = false;

  const auto draft = draft_rollout(terms(), nodes);

  REQUIRE(draft);
  CHECK(draft.value().batches == Batches{{"b"}});
  CHECK(draft.value().not_covered == Ids{"a"});
}

// Rows: Z-14
TEST_CASE("a node that does not run the component is not in its rollout, whatever the target") {
  NodeView with_web{.id = "a", .instances = {{"i1", {}}}};
  with_web.versions.running = {{"agent", "1.0.0"}, {"web", "1.0.0"}};
  NodeView without{.id = "b", .instances = {{"i2", {}}}};
  without.versions.running = {{"agent", "1.0.0"}};
  RolloutTerms wanted = terms();

  CHECK(batches(wanted, candidates_in({with_web, without}, "agent")) == Batches{{"a", "b"}});
  wanted.component = "web";
  const auto draft = draft_rollout(wanted, candidates_in({with_web, without}, "web"));
  REQUIRE(draft);
  CHECK(draft.value().batches == Batches{{"a"}});
  CHECK(draft.value().not_covered.empty());
  CHECK(draft_rollout(wanted, candidates_in({without}, "web")).reason() ==
        "no nodes: the target means none that reports the component web");
}

// Rows: N-08
TEST_CASE("nodes with a newer version than the wanted one are named") {
  NodeView a{.id = "a"};
  a.versions.running = {{"web", "2.1.0"}};
  NodeView b{.id = "b"};
  b.versions.running = {{"web", "2.0.0"}, {"agent", "9.0.0"}};
  const NodeView c{.id = "c"};

  CHECK(who_runs_newer({a, b, c}, "web", "2.1.0").empty());
  CHECK(who_runs_newer({a, b, c}, "web", "2.0.0") == "a (2.1.0)");
  CHECK(who_runs_newer({a, b, c}, "web", "1.9.0") == "a (2.1.0), b (2.0.0)");
}

TEST_CASE("a target that does not parse, or selects no node, refuses the rollout in words") {
  RolloutTerms wanted = terms();
  wanted.target = "web* and";
  CHECK(draft_rollout(wanted, {}).reason() == "target: at byte 9: a target was expected");
  wanted.target = "web*";
  CHECK(draft_rollout(wanted, candidates({"a"})).reason() ==
        "no nodes: the target means none that reports the component agent");
}

TEST_CASE("impossible terms are refused in words") {
  const auto reason = [](auto change) {
    RolloutTerms wanted = terms();
    change(wanted);
    return draft_rollout(wanted, candidates({"a"})).reason();
  };
  CHECK(reason([](auto& t) { t.batch = 0; }) == "a batch has 1 to 1000 nodes");
  CHECK(reason([](auto& t) { t.batch = 1'001; }) == "a batch has 1 to 1000 nodes");
  CHECK(reason([](auto& t) { t.batch_percent = 101; }) == "a batch has 1% to 100%");
  CHECK(reason([](auto& t) { t.max_failed = 0; }) ==
        "max-failed is at least 1: the failure that aborts");
  CHECK(reason([](auto& t) { t.confirm_ms = 119'999; }) ==
        "confirm is at least the soak and 60 s, so that a confirmation can arrive");
  CHECK(reason([](auto& t) { t.confirm_ms = 86'400'001; }) == "confirm is at most 24 h");
  CHECK(reason([](auto& t) { t.soak_ms = 28'800'001; }) == "confirm is at most 24 h");
  CHECK(reason([](auto& t) { t.component = "A"; }) == "\"A\" is no component");
}

TEST_CASE("alpha and tolerate have bounds, and words that say when they have no effect") {
  const auto refused = [](std::int64_t alpha, std::int64_t tolerate) {
    RolloutTerms wanted = terms();
    wanted.alpha_millionths = alpha;
    wanted.tolerate_millionths = tolerate;
    const std::string reason = wrong_judging(wanted).value_or("");
    if (!reason.empty()) CHECK(draft_rollout(wanted, candidates({"a"})).reason() == reason);
    return reason.substr(0, reason.find(' '));
  };
  CHECK(refused(1'000, tolerate_default) == "alpha");
  CHECK(refused(1'001, tolerate_min).empty());
  CHECK(refused(500'000, tolerate_max).empty());
  CHECK(refused(500'001, tolerate_default) == "alpha");
  CHECK(refused(alpha_default, 999'999) == "tolerate");
  CHECK(refused(alpha_default, 100'000'001) == "tolerate");

  RolloutTerms own{.order = NodeOrder::random, .alpha_millionths = 50'000};
  own.tolerate_millionths = 1'500'000;
  const std::string words =
      "the judge stops a good version with a chance of at most 0.05, and tolerates 1.5 times the "
      "failures of the control";
  CHECK(judging_words(own, 200) == words);
  CHECK(judging_words(own, 199) == words + "; no effect: fewer than 200 nodes are not compared");
  own.order = NodeOrder::name;
  CHECK(judging_words(own, 200) ==
        words + "; no effect: in the order of names the judge aborts nothing");
  CHECK(judging_words({}, 3).empty());
}

TEST_CASE("a decimal number is read in millionths") {
  CHECK(millionths_in("0.05") == 50'000);
  CHECK(millionths_in("2") == 2'000'000);
  CHECK(millionths_in("0.0010006") == 1'001);
  for (const char* bad : {"", "x", "5%", "-1", "nan", "inf", "1e300", "0.05 "}) {
    CAPTURE(bad);
    CHECK_FALSE(millionths_in(bad));
  }
}

TEST_CASE("a node waits for its confirmation three soaks, at least five minutes, or as ordered") {
  CHECK(confirm_ms({.soak_ms = 60'000}) == 300'000);
  CHECK(confirm_ms({.soak_ms = 200'000}) == 600'000);
  CHECK(confirm_ms({.soak_ms = 60'000, .confirm_ms = 120'000}) == 120'000);
}

// Makes a rollout with the transactions of next_creation(). After each transaction, continues with
// the rollout's record that the transaction has written.
struct Writer {
  std::optional<WrittenRollout> written;
  std::vector<Transaction> all;
  Revision revision = 10;

  void write(const Rollout& wanted, const RolloutDraft& draft) {
    while (auto next = next_creation("r1", wanted, draft, 7, written)) {
      CHECK_FALSE(why_not_taken(*next));
      CHECK(next->compares[0] == Compare{.key = key_of(KeyKind::rollout, {"r1"}),
                                         .revision = written ? written->revision : 0});
      const auto rollout = read_record<Rollout>(next->puts.back().value);
      REQUIRE(rollout);
      written = WrittenRollout{rollout.value(), ++revision};
      all.push_back(std::move(*next));
    }
  }
};

TEST_CASE("a rollout is created until all of it is written; its last write makes it rolling") {
  const Rollout wanted{.terms = terms()};
  const RolloutDraft draft{.batches = {{"a", "b"}, {"c"}}, .excluded = {"x"}};
  Writer writer;

  writer.write(wanted, draft);

  REQUIRE(writer.all.size() == 3);
  CHECK(writer.all[0].compares[1] ==
        Compare{.key = key_of(KeyKind::release, {"agent", "1.1.0"}), .revision = 7});
  // The first transaction already requires that the record `stop` is absent. If only the last one
  // did, a stop would leave a half-made rollout in the store.
  CHECK(writer.all[0].compares.back() == Compare{.key = key_of(KeyKind::stop)});
  CHECK(writer.all[1].puts[1].key == key_of(KeyKind::rollout_batch, {"r1"}, 1));
  CHECK(writer.all[2].compares[1] == Compare{.key = key_of(KeyKind::stop)});
  CHECK(writer.written->record.state == RolloutState::rolling);
  CHECK(writer.written->record.batch == 0);
  CHECK(writer.written->record.batches == 2);
  CHECK(writer.written->record.excluded == Ids{"x"});
}

TEST_CASE(
    "a rollout's name leaves room for its commands, and is not that of a driver of the cell") {
  CHECK(is_rollout_id(std::string(rollout_id_bytes_max, 'r')));
  CHECK_FALSE(is_rollout_id(std::string(rollout_id_bytes_max + 1, 'r')));
  CHECK_FALSE(is_rollout_id("desired"));
  CHECK_FALSE(is_rollout_id("events"));
  CHECK_FALSE(is_rollout_id("A rollout"));
  CHECK(is_command_id(std::string(rollout_id_bytes_max, 'r') + ".rollback.9999999"));
}

TEST_CASE("a rollout of 10,000 nodes one by one, or with the longest names, is written in parts") {
  Ids ids;
  for (int i = 0; i < 10'000; ++i)
    ids.push_back("n" + std::to_string(10'000 + i));
  RolloutTerms wanted = terms();
  wanted.batch = 1;
  const auto draft = draft_rollout(wanted, candidates(ids));
  REQUIRE(draft);
  Writer writer;
  writer.write({.terms = wanted}, draft.value());
  CHECK(writer.all.size() == 2 + (10'000 + 126) / 127);

  for (std::string& id : ids)
    id += std::string(57, 'x');
  wanted.batch = 900;
  const auto wide = draft_rollout(wanted, candidates(ids));
  REQUIRE(wide);
  Writer another;
  another.write({.terms = wanted}, wide.value());
  CHECK(another.written->record.batches == 12);

  wanted.batch = 1'000;
  CHECK(draft_rollout(wanted, candidates(ids)).reason() ==
        "a batch of 1000 nodes with such long names is longer than a record");
}

TEST_CASE("a release may be undone unless one of its manifests says that it may not") {
  const auto says = [](const std::string& manifest) {
    return may_be_undone({.manifests = {{.manifest = "{}"}, {.manifest = manifest}}});
  };
  CHECK(says("{}"));
  CHECK(says(R"({"undo":true})"));
  CHECK_FALSE(says(R"({"undo":false})"));
}

}  // namespace

}  // namespace rollout_draft_test

// Tests how nodes are divided into batches: the sizes and the order of batches, the limits per
// budget, and the defaults of options that a person leaves out.
#include "fleet/model/batch_draft.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "fleet/model/record_text.h"
#include "fleet/model/rollout_draft.h"
#include "fleet/model/windows.h"

namespace batch_draft_test {
namespace {

using namespace fleet;
using Ids = std::vector<std::string>;

RolloutTerms terms(const std::string& batches, const std::string& seed = "s") {
  return {.component = "agent",
          .version = "1",
          .target = "*",
          .batches = batches,
          .order = NodeOrder::random,
          .seed = seed};
}

// Returns the nodes n10000, n10001, and so on. Node k has the label site=(k modulo `sites`), or no
// label if `sites` is 0.
std::vector<PlacedNode> nodes(std::size_t count, std::size_t sites = 0) {
  std::vector<PlacedNode> made;
  for (std::size_t i = 0; i < count; ++i) {
    made.push_back({.id = "n" + std::to_string(10'000 + i)});
    if (sites > 0) made.back().labels["site"] = std::to_string(i % sites);
  }
  return made;
}

std::vector<std::size_t> sizes(const BatchDraft& draft) {
  std::vector<std::size_t> all;
  for (const Ids& batch : draft.batches)
    all.push_back(batch.size());
  return all;
}

std::size_t distinct(const BatchDraft& draft) {
  std::set<std::string> all;
  for (const Ids& batch : draft.batches)
    all.insert(batch.begin(), batch.end());
  return all.size();
}

TEST_CASE("of 10,000 nodes 1, then 51, then 451 are touched before the tenth parts begin") {
  const BatchDraft draft = draft_batches(terms(std::string(batches_default)), nodes(10'000));

  CHECK(sizes(draft) == std::vector<std::size_t>{1, 50, 400, 1'000, 1'000, 1'000, 1'000, 1'000,
                                                 1'000, 1'000, 1'000, 1'000, 549});
  CHECK(distinct(draft) == 10'000);
}

TEST_CASE("shares are rounded up, and a few nodes go one by one") {
  CHECK(sizes(draft_batches(terms(std::string(batches_default)), nodes(6))) ==
        std::vector<std::size_t>{1, 1, 1, 1, 1, 1});
  CHECK(sizes(draft_batches(terms("1,0.5%,4%,10%"), nodes(25))) ==
        std::vector<std::size_t>{1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 1});
  CHECK(parse_share("0.001%").value().of(1) == 1);
  CHECK(parse_share("100%").value().of(5'000) == batch_nodes_max);
  CHECK(parse_share("0.5%").value().of(1'001) == 6);
}

TEST_CASE("impossible sizes are refused in words") {
  for (const char* text : {"", "0", "1001", "0%", "101%", "0.0001%", "1.%", "%", "-1", "1e3", "1%%",
                           " 1", "12345678901234567890"}) {
    CAPTURE(text);
    CHECK(parse_share(text).reason().ends_with("is neither 1 to 1000 nodes nor 0.001% to 100%"));
  }
  CHECK(parse_batches("1,,2").reason() == "\"\" is neither 1 to 1000 nodes nor 0.001% to 100%");
  CHECK(parse_batches("1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1").reason() ==
        "more than 20 sizes of batches; the last is repeated");
  CHECK(parse_apart(":2").reason() == "\":2\" names no label");
  CHECK(parse_apart("site:0").reason() == "\"0\" is neither 1 to 1000 nodes nor 0.001% to 100%");
  CHECK(parse_apart("site").value() == Apart{.label = "site", .most = {.nodes = 1}});
  CHECK(parse_apart("site:10%").value() == Apart{.label = "site", .most = {.thousandths = 10'000}});
}

TEST_CASE("the same seed makes the same batches, and another seed another canary") {
  auto backwards = nodes(500);
  std::reverse(backwards.begin(), backwards.end());

  const BatchDraft draft = draft_batches(terms("1,10%", "a"), nodes(500));

  CHECK(draft.batches == draft_batches(terms("1,10%", "a"), backwards).batches);
  std::set<Ids> canaries;
  for (int seed = 0; seed < 200; ++seed) {
    canaries.insert(draft_batches(terms("1,10%", std::to_string(seed)), nodes(500)).batches[0]);
  }
  // The canary batch has one node, chosen by a seed. If all 500 nodes are equally likely, 200 seeds
  // choose about 165 different nodes. A much lower number means that the choice prefers some nodes.
  CHECK(canaries.size() > 140);
}

TEST_CASE("in the order of names the first nodes go first, as without sizes") {
  RolloutTerms by_name = terms("2,50%");
  by_name.order = NodeOrder::name;
  CHECK(draft_batches(by_name, nodes(5)).batches ==
        std::vector<Ids>{{"n10000", "n10001"}, {"n10002", "n10003", "n10004"}});
}

TEST_CASE("a node's place is the value that another program computes from the seed") {
  // The expected numbers combine the hash FNV-1a with the last step of SplitMix64. An independent
  // program has computed them.
  CHECK(place_of("s", "n1") == 2696494435422530569U);
  CHECK(place_of("", "") == 2737183428366584608U);
}

// Rows: S-01
TEST_CASE("a batch has at most the allowed nodes of a place, and every node is in a batch") {
  RolloutTerms apart = terms("1,10%");
  apart.apart = {"site:2"};

  const auto placed = nodes(1'000, 20);
  const BatchDraft draft = draft_batches(apart, placed);

  CHECK(distinct(draft) == 1'000);
  for (const Ids& batch : draft.batches) {
    CHECK(batch.size() <= 100);
    std::map<std::string, int> at;
    for (const std::string& id : batch)
      ++at[placed[static_cast<std::size_t>(std::stoi(id.substr(1)) - 10'000)].labels.at("site")];
    for (const auto& [site, count] : at)
      CHECK(count <= 2);
  }
  CHECK(draft.unlabelled.empty());
}

TEST_CASE("a percentage counts the nodes of a place, and two labels both limit a batch") {
  auto placed = nodes(40, 2);
  for (std::size_t i = 0; i < placed.size(); ++i)
    placed[i].labels["rack"] = std::to_string(i / 4);
  RolloutTerms apart = terms("100%");
  apart.apart = {"site:10%", "rack"};

  const BatchDraft draft = draft_batches(apart, placed);

  CHECK(distinct(draft) == 40);
  for (const Ids& batch : draft.batches)
    CHECK(batch.size() <= 4);
}

TEST_CASE("a node without the label counts as a place of its own, and is named") {
  auto placed = nodes(4);
  placed[1].labels["site"] = "x";
  placed[2].labels["site"] = "x";
  RolloutTerms apart = terms("4");
  apart.apart = {"site"};

  const BatchDraft draft = draft_batches(apart, placed);

  CHECK(sizes(draft) == std::vector<std::size_t>{3, 1});
  CHECK(draft.unlabelled == std::map<std::string, Ids>{{"site", {"n10000", "n10003"}}});
}

TEST_CASE("terms that a person leaves open are filled in by the number of nodes") {
  RolloutTerms few = open_terms();
  settle(few, 100, "x");
  CHECK(few.batches == batches_default);
  CHECK(few.order == NodeOrder::random);
  CHECK(few.seed == "x");
  CHECK(few.soak_ms == 60'000);
  CHECK(few.max_failed_unsaid);

  RolloutTerms many = open_terms();
  settle(many, 101, "x");
  CHECK(many.soak_ms == 70 * 60'000);

  RolloutTerms plain = open_terms();
  plain.canary = 1;
  plain.order = NodeOrder::name;
  plain.soak_ms = 5;
  settle(plain, 1'000, "x");
  CHECK(plain.batches.empty());
  CHECK(plain.batch == 1);
  CHECK(plain.max_failed == 1);
  CHECK_FALSE(plain.max_failed_unsaid);
  CHECK(plain.seed.empty());
  CHECK(plain.soak_ms == 5);

  const RolloutTerms before = many;
  settle(many, 3, "y");
  CHECK(many == before);
}

TEST_CASE("a rollout of 10,000 nodes takes fifteen hours, and one of three takes minutes") {
  RolloutTerms wanted = open_terms();
  settle(wanted, 10'000, "x");
  const auto draft = draft_batches(wanted, nodes(10'000));
  CHECK(countdown(least_ms(wanted, draft.batches) / 1'000) == "15h43m19s");

  RolloutTerms three = open_terms();
  settle(three, 3, "x");
  CHECK(countdown(least_ms(three, draft_batches(three, nodes(3)).batches) / 1'000) == "3m");
}

TEST_CASE("a batch of n nodes begins within n/10 s, at most five minutes, and ten nodes at once") {
  RolloutTerms wanted = open_terms();
  CHECK(spread_ms(wanted, 10) == 0);
  CHECK(spread_ms(wanted, 11) == 1'100);
  CHECK(spread_ms(wanted, 1'000) == 100'000);
  CHECK(spread_ms(wanted, 5'000) == 300'000);
  wanted.spread_ms = 7;
  CHECK(spread_ms(wanted, 2) == 7);
}

TEST_CASE("the last node of a batch soaks, and is confirmed, before the first goes back") {
  RolloutTerms wanted = open_terms();
  wanted.soak_ms = 60'000;
  wanted.spread_ms = 300'000;
  settle(wanted, 1'000, "x");
  CHECK(wanted.confirm_ms == 300'000 + 60'000 + 300'000 + 60'000);

  wanted.component = "agent";
  wanted.version = "1";
  wanted.confirm_ms = 300'000 + 60'000 + 59'999;
  CHECK(wrong_terms(wanted) ==
        "confirm is at least the spread, the soak and 60 s: the last node of a batch soaks while "
        "the first waits");
}

TEST_CASE("without --max-failed, three failures abort, or one of a hundred nodes that have begun") {
  RolloutTerms wanted = open_terms();
  settle(wanted, 10'000, "x");
  CHECK(failures_allowed(wanted, 1) == 3);
  CHECK(failures_allowed(wanted, 300) == 3);
  CHECK(failures_allowed(wanted, 451) == 5);
  CHECK(failures_allowed(wanted, 10'000) == 100);
  RolloutTerms said = open_terms();
  said.max_failed = 2;
  settle(said, 10'000, "x");
  CHECK(failures_allowed(said, 10'000) == 2);
}

TEST_CASE("more than a hundred batches are refused without permission") {
  std::vector<RolloutCandidate> candidates;
  for (const PlacedNode& node : nodes(101))
    candidates.push_back({.node = {.id = node.id, .reports = true}});

  CHECK(draft_rollout(terms("1"), candidates).reason() ==
        "101 batches, more than 100: say yes to that many, or make them larger");
  const auto meant = draft_rollout(terms("1"), candidates, "", {.many_batches = true});
  REQUIRE(meant);
  CHECK(meant.value().batches.size() == 101);
}

TEST_CASE("impossible terms for the order or the places are refused in words") {
  const auto reason = [](auto change) {
    RolloutTerms wanted = terms("1");
    change(wanted);
    return wrong_terms(wanted).value_or("");
  };
  CHECK(reason([](auto& t) { t.batches = "x"; }) ==
        "batches: \"x\" is neither 1 to 1000 nodes nor 0.001% to 100%");
  CHECK(reason([](auto& t) { t.order = NodeOrder::unknown; }) ==
        "the order of nodes is random or name");
  CHECK(reason([](auto& t) { t.seed.clear(); }) == "a random order has a seed");
  CHECK(reason([](auto& t) { t.seed = std::string(65, 'x'); }) == "a seed has at most 64 bytes");
  CHECK(reason([](auto& t) { t.apart = {"a:b"}; }) ==
        "apart: \"b\" is neither 1 to 1000 nodes nor 0.001% to 100%");
  CHECK(reason([](auto& t) { t.apart = Ids(9, "a"); }) == "at most 8 labels are kept apart");
  CHECK(reason([](auto& t) { t.spread_ms = -2; }) == "times are not negative");
}

TEST_CASE("an older record has one size, the order of names, no spread and its own max-failed") {
  const auto old = read_record<Rollout>(
      R"({"v":1,"terms":{"component":"agent","version":"1","digest":"d","target":"*","batch":3,)"
      R"("batch_percent":0,"canary":1,"soak_ms":60000,"pause_ms":0,"max_failed":1,)"
      R"("confirm_ms":0,"min_protocol":0},"state":"rolling"})");
  REQUIRE(old);
  const RolloutTerms& read = old.value().terms;
  CHECK(read.batches.empty());
  CHECK(read.order == NodeOrder::name);
  CHECK(spread_ms(read, 1'000) == 0);
  CHECK(failures_allowed(read, 1'000) == 1);
  RolloutTerms settled = read;
  // settle() adds time for the judge only if a rollout has at least judge_nodes_min nodes.
  settle(settled, 100, "x");
  CHECK(settled == read);
}

}  // namespace
}  // namespace batch_draft_test

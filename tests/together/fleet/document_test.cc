// Tests that the work for a document (a JSON text with the orders for a whole cell) does not grow
// with the number of orders times the number of nodes. orders_test.cc tests what documents do.
#include "fleet/orders/document.h"

#include <catch2/catch.hpp>

#include "fleet/model/records/effort.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "tests/together/fleet/test_store.h"

namespace document_test {
namespace {

using namespace fleet;

constexpr std::uint64_t nodes = 30;

// Returns how many records are parsed for a decision about this document, in a cell with the
// release 2.0 and with nodes that run version 1.0.
std::uint64_t parsed_for(const std::string& document) {
  fleet_test::TestStore store;
  const std::string root(key_root);
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

}  // namespace
}  // namespace document_test

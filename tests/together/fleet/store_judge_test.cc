// Tests when a node stops trusting the store because the store may have been restored from an older
// snapshot.
#include "fleet/model/store_judge.h"

#include <catch2/catch.hpp>

namespace store_judge_test {

namespace {

using namespace fleet;

TEST_CASE("a node that knows no store takes the first, and follows its revisions") {
  StoreVerdict now = judge_store({}, {.number = 3}, 100);
  CHECK(now.doubt == "");
  CHECK(now.known == KnownStore{3, 100});
  now = judge_store(now.known, {.number = 3}, 120);
  CHECK(now.doubt == "");
  CHECK(now.known == KnownStore{3, 120});
}

TEST_CASE("a store at a lower revision is an older copy, and nothing is done") {
  const StoreVerdict now = judge_store({3, 120}, {.number = 3}, 119);
  CHECK(now.doubt == "the store is at revision 119, and was at 120");
  CHECK(now.known == KnownStore{3, 120});
}

TEST_CASE("a node goes on with another epoch only when it is accepted") {
  const KnownStore known{3, 120};
  CHECK(judge_store(known, {.number = 4}, 500).doubt == "epoch 4 is not accepted (known: 3)");
  const StoreVerdict now = judge_store(known, {.number = 4, .accepted = true}, 80);
  CHECK(now.doubt == "");
  CHECK(now.known == KnownStore{4, 80});
  // A person has accepted epoch 4, and in this epoch the node has seen revision 90. Now the store
  // is at revision 80: it was restored once more, and no person has accepted that.
  CHECK(judge_store({4, 90}, {.number = 4, .accepted = true}, 80).doubt != "");
}

}  // namespace

}  // namespace store_judge_test

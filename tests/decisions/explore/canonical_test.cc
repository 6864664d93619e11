// Tests which facts of a watcher the exploration treats as equal.
#include "tests/decisions/explore/canonical.h"

#include <catch2/catch.hpp>

namespace canonical_test {

using namespace upgrader::test;

TEST_CASE("the numbers in the ids of upgrades make no difference, wherever an id ends") {
  CHECK(with_equal_upgrade_ids("1:0101!sigusr2-12+sigusr2-3@4000 sigusr2-15/sigusr2-9 open") ==
        "1:0101!sigusr2-1+sigusr2-1@4000 sigusr2-1/sigusr2-1 open");
  CHECK(with_equal_upgrade_ids("2:01uAB- uZ/ unclean quit") == "2:01u1- u1/ unclean quit");
  CHECK(with_equal_upgrade_ids("/") == "/");
}

}  // namespace canonical_test

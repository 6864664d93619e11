// Runs the second table beside the supervisor, as a companion of the walk. Reports where they
// differ: in the actions, the running deadlines, the phase, and whether an active agent is silent.
// Only the words for people may differ.
#pragma once

#include <memory>

#include "tests/decisions/explore/explorer.h"
#include "tests/decisions/explore/second_table.h"

namespace upgrader::test {

[[nodiscard]] std::unique_ptr<Companion> second_opinion(std::shared_ptr<const SecondTable> table,
                                                        const Policy& policy);

}  // namespace upgrader::test

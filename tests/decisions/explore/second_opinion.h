// Runs the second table (second.table) beside the supervisor during an exploration, as the second
// opinion about each step (Companion in explorer.h). Reports each difference in the actions, the
// running deadlines, the phase, and whether an active agent has missed a heartbeat. Texts for
// people are not compared.
#pragma once

#include <memory>

#include "tests/decisions/explore/explorer.h"
#include "tests/decisions/explore/second_table.h"

namespace upgrader::test {

[[nodiscard]] std::unique_ptr<Companion> second_opinion(std::shared_ptr<const SecondTable> table,
                                                        const Policy& policy);

}  // namespace upgrader::test

// Walks through the supervisor's states once for each policy, in two threads at a time, and checks
// what must hold of all these walks together.
#pragma once

#include <vector>

#include "tests/decisions/explore/explorer.h"
#include "tests/decisions/explore/second_table.h"

namespace upgrader::test {

// One walk. If the second table was compared with it, `unused_rows` has the lines of the table's
// rows that no step of this walk used.
struct Walked {
  int policy = 0;
  Exploration seen;
  std::vector<int> unused_rows{};
};

// Explores under every policy that this run covers (explored_policy() in canonical.h) until no new
// state is found, two policies at a time. `rows` is the second table: if it is given, each walk
// compares the supervisor with it at every step, and its first 20 differences are violations.
[[nodiscard]] std::vector<Walked> walk_all(const Rows* rows = nullptr);

// Fails the running test for each violation, and for each pair of phase and event that can happen
// and that no walk has met. Prints the numbers of states and steps, and a result line that begins
// with `who`.
void check_walks(const std::vector<Walked>& walks, const char* who);

// Fails the running test for each difference from the table at the head of supervisor.h, whose text
// is `header`: the table must list every step from phase to phase that a walk took, and no other.
void check_phase_table(const std::vector<Walked>& walks, const std::string& header);

}  // namespace upgrader::test

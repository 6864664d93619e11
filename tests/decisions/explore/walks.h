// The walks under all policies, side by side, and what must hold of them together.
#pragma once

#include <vector>

#include "tests/decisions/explore/explorer.h"
#include "tests/decisions/explore/second_table.h"

namespace upgrader::test {

// One walk. With the second table beside it: the lines of its rows that this walk did not use.
struct Walked {
  int policy = 0;
  Exploration seen;
  std::vector<int> unused_rows{};
};

// Every policy that is wanted (canonical.h), to a fixpoint, two at a time. With `rows` the second
// table goes along where it knows the policy, and each of the first 20 differences is a violation.
[[nodiscard]] std::vector<Walked> walk_all(const Rows* rows = nullptr);

// Fails the running test for each violation, and for each cell of phase and event that no walk has
// met. Prints what was explored, and a result line that begins with `who`.
void check_walks(const std::vector<Walked>& walks, const char* who);

// Fails it for each difference from the table at the head of supervisor.h: it has every step from
// phase to phase, and no other.
void check_phase_table(const std::vector<Walked>& walks, const std::string& header);

}  // namespace upgrader::test

// Explores the supervisor's states once for each policy, in two threads at a time, and checks the
// results of all these explorations together.
#pragma once

#include <vector>

#include "tests/decisions/explore/explorer.h"
#include "tests/decisions/explore/second_table.h"

namespace upgrader::test {

// The result of exploring the supervisor under one policy. If the supervisor was compared with the
// second table (an independent second description of the supervisor, in
// tests/decisions/explore/second_*), `unused_rows` has the line numbers of the rows that no step
// has used.
struct Walked {
  int policy = 0;
  Exploration seen;
  std::vector<int> unused_rows{};
};

// Explores the supervisor under each policy (set of options) of this run, two policies at a time.
// If `rows` is not null, compares every step with these rows of the second table (an independent
// second description of the supervisor); a difference is a violation. Each exploration ends when it
// finds no new state, or after 5 violations (20 if `rows` is not null).
[[nodiscard]] std::vector<Walked> walk_all(const Rows* rows = nullptr);

// Fails the running test for each violation, and for each event that can happen in a phase but that
// no exploration has met in this phase. Prints the numbers of states and steps, and a result line
// that begins with `who`.
void check_walks(const std::vector<Walked>& walks, const char* who);

// Compares the observed changes of the supervisor's phase with the table of phases in `header`, the
// text of upgrader/core/supervisor.h. The table must list every observed change, and no other. The
// changes that SIGTERM, SIGQUIT or `shutdown` caused must instead follow the rule below the table.
// Fails the running test for each difference.
void check_phase_table(const std::vector<Walked>& walks, const std::string& header);

}  // namespace upgrader::test

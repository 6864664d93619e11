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

// Explores the supervisor under each policy (set of options) of this run, two at a time, until no
// new state is found. If `rows` has the second table, compares every step with that table, and
// reports the first 20 differences under each policy as violations.
[[nodiscard]] std::vector<Walked> walk_all(const Rows* rows = nullptr);

// Fails the running test for each violation. Also fails it for each pair of a phase and an event if
// the event can happen in the phase, but no exploration has met the pair. Prints the numbers of
// states and steps, and a result line that begins with `who`.
void check_walks(const std::vector<Walked>& walks, const char* who);

// Compares the observed changes of the supervisor's phase with the table at the head of
// supervisor.h, whose text is `header`. The table must list every observed change, and no other.
// Fails the running test for each difference.
void check_phase_table(const std::vector<Walked>& walks, const std::string& header);

}  // namespace upgrader::test

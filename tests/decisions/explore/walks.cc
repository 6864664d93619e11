#include "tests/decisions/explore/walks.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <iostream>
#include <thread>

#include "tests/decisions/explore/canonical.h"
#include "tests/support/figures.h"
#include "tests/support/scenario.h"

namespace upgrader::test {
namespace {

template <class Kind>
std::size_t kind() {
  return Event(Kind{}).index();
}

// Returns whether an event of this kind can happen in this phase.
bool may_happen(Phase phase, std::size_t event) {
  if (event == kind<DeadlinePassed>()) return phase != Phase::ended;
  if (event == kind<StartRequested>() || event == kind<StartRefused>()) {
    return phase == Phase::starting;
  }
  return event != kind<Outcome>();
}

std::vector<std::pair<Phase, std::size_t>> possible_cells() {
  std::vector<std::pair<Phase, std::size_t>> cells;
  for (int phase = 0; phase <= static_cast<int>(Phase::ended); ++phase) {
    for (std::size_t event = 0; event < std::variant_size_v<Event>; ++event) {
      if (may_happen(static_cast<Phase>(phase), event)) {
        cells.emplace_back(static_cast<Phase>(phase), event);
      }
    }
  }
  return cells;
}

Walked walk(int policy, const std::shared_ptr<const SecondTable>& table) {
  const Policy under = explored_policy(policy);
  if (table == nullptr) return {policy, explore(under)};
  const std::unique_ptr<Companion> opinion = second_opinion(table, under);
  Walked walked{policy, explore(under, plain_step, 20, opinion.get())};
  walked.unused_rows = table->unused();
  return walked;
}

}  // namespace

std::vector<Walked> walk_all(const Rows* rows) {
  std::vector<Walked> walks;
  // Each exploration has its own copy of the table, because a copy counts the uses of its rows. All
  // copies are made before the threads begin: making a copy uses assertions of the test framework,
  // which are allowed in one thread only.
  std::vector<std::shared_ptr<const SecondTable>> tables;
  for (int which = 0; which < explored_policies; ++which) {
    // A short run leaves out the policy (set of options) with --relink and no time limits, because
    // the one with --relink and time limits leads to the same decisions.
    if (!wants_the_whole() && which == relink_policy - 1) continue;
    walks.push_back({which, {}});
    tables.push_back(rows != nullptr ? std::make_shared<const SecondTable>(*rows) : nullptr);
  }
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t at = next++; at < walks.size(); at = next++)
      walks[at] = walk(walks[at].policy, tables[at]);
  };
  std::thread other(work);
  work();
  other.join();
  return walks;
}

void check_walks(const std::vector<Walked>& walks, const char* who) {
  std::size_t states = 0, edges = 0, violations = 0;
  std::set<std::pair<Phase, std::size_t>> cells;
  for (const Walked& walked : walks) {
    const Exploration& seen = walked.seen;
    for (const std::string& violation : seen.violations)
      FAIL_CHECK(violation);
    CHECK(seen.running_states > 0);
    states += seen.states;
    edges += seen.edges;
    violations += seen.violations.size();
    cells.insert(seen.cells.begin(), seen.cells.end());
    std::cout << "report: explored " << seen.states << " states, " << seen.edges << " edges, "
              << seen.cells.size() << " cells of phase and event" << name_of_policy(walked.policy)
              << "\n";
  }

  const auto possible = possible_cells();
  std::size_t visited = 0;
  for (const auto& [phase, event] : possible) {
    INFO("phase " << name_of(phase) << ", event kind " << event);
    CHECK(cells.contains({phase, event}));
    visited += cells.contains({phase, event}) ? 1 : 0;
  }
  std::cout << "result: " << who << " | make explore | " << with_commas(states) << " states, "
            << with_commas(edges) << " edges under " << walks.size() << " policies, to a fixpoint; "
            << visited << " of " << possible.size() << " cells of phase and event (and "
            << cells.size() - visited << " of outcomes), " << violations
            << " violations | fixpoint, every cell, 0 violations | "
            << (violations == 0 && visited == possible.size() ? "met" : "not met: see above")
            << "\n";
}

void check_phase_table(const std::vector<Walked>& walks, const std::string& header) {
  std::set<PhaseStep> taken, by_signals;
  for (const Walked& walked : walks) {
    taken.insert(walked.seen.phase_steps.begin(), walked.seen.phase_steps.end());
    by_signals.insert(walked.seen.signalled_steps.begin(), walked.seen.signalled_steps.end());
  }
  for (const std::string& difference : differences(steps_of_table(header), taken))
    FAIL_CHECK(difference);

  // Checks the rule below the table of phases in supervisor.h: SIGTERM and SIGQUIT lead to
  // `shutting_down`. From `starting` they may also lead to `ended` directly.
  for (int number = 0; number < static_cast<int>(Phase::shutting_down); ++number) {
    const std::string phase(name_of(static_cast<Phase>(number)));
    CHECK(by_signals.erase({phase, "shutting_down"}) == 1);
  }
  CHECK(by_signals == std::set<PhaseStep>{{"starting", "ended"}});
}

}  // namespace upgrader::test

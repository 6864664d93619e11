// make simulate: runs seeds, and prints for the first one that fails the line that replays it.
#include <cstdlib>
#include <iostream>

#include "tests/simulation/run.h"

using namespace upgrader::simulation;

int main(int argc, char** argv) {
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;
  const bool traced = std::getenv("TRACE") != nullptr;
  const bool counted = std::getenv("COUNT") != nullptr;
  std::unique_ptr<Atlas> atlas = counted ? std::make_unique<Atlas>() : nullptr;
  std::unique_ptr<Visits> visits = counted ? std::make_unique<Visits>(*atlas) : nullptr;
  std::unique_ptr<Goals> goals = counted ? std::make_unique<Goals>(*atlas) : nullptr;
  if (goals) std::cout << goals->count() << " goals\n";
  Tally tally;
  int bad = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    std::string trace;
    const Outcome outcome = run_seed(seed, {.atlas = atlas.get(),
                                            .goals = goals.get(),
                                            .visits = visits.get(),
                                            .trace = traced ? &trace : nullptr});
    tally.add(outcome.tally);
    if (traced) std::cout << trace;
    if (!outcome.verdict.empty()) {
      std::cout << "seed " << seed << ": " << outcome.verdict << "\n";
      if (++bad > 20) break;
    }
  }
  std::cout << tally.runs << " runs, " << tally.events << " events, " << tally.accepted
            << " accepted, " << tally.committed << " committed, " << tally.failed << " failed, "
            << tally.rolled_back << " rolled back, " << tally.cut_short << " cut short, "
            << tally.useful << " useful\n";
  if (counted) {
    for (const auto& share : {visits->states(), visits->edges(), visits->cells()})
      std::cout << share.all_visited << "/" << share.all << "  allowed " << share.allowed_visited
                << "/" << share.allowed << "\n";
    std::cout << visits->missed();
  }
  return bad ? 1 : 0;
}

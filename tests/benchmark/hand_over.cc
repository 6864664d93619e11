#include "tests/benchmark/hand_over.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tests/benchmark/figures.h"
#include "tests/benchmark/sections.h"

namespace benchmark {
namespace {

constexpr int handovers_a_run = 40;

// A function that computes one kind of time from the stamps of a run's agents.
using Measure = std::vector<Milliseconds> (StampFile::*)() const;

std::vector<Milliseconds> gaps_of(const Place& place, const Contender& contender, const Task& task,
                                  Measure measure) {
  Run run(place, contender, task);
  run.finish();
  std::vector<Milliseconds> gaps = (run.stamps().*measure)();
  if (gaps.size() != static_cast<std::size_t>(task.handovers)) {
    give_up(contender.name + " lost a hand-over");
  }
  return gaps;
}

void append(std::vector<Milliseconds>& all, const std::vector<Milliseconds>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Measures pairs of runs: one under the upgrader, one under the minimal program. Which of the two
// runs first changes from pair to pair.
HandOvers in_pairs(const Place& place, const Contender& upgrader, const Task& task, Measure measure,
                   int pairs) {
  const std::array<Contender, 2> contenders = {upgrader, the_minimal(place)};
  HandOvers found;
  const std::array<std::vector<Milliseconds>*, 2> gaps = {&found.upgrader, &found.minimal};
  for (int pair = 0; pair < pairs; ++pair) {
    std::array<double, 2> medians{};
    for (std::size_t turn = 0; turn < 2; ++turn) {
      const std::size_t which = pair % 2 == 0 ? turn : 1 - turn;
      const std::vector<Milliseconds> fresh = gaps_of(place, contenders[which], task, measure);
      medians[which] = median(fresh);
      append(*gaps[which], fresh);
    }
    found.ratios.push_back(medians[0] / medians[1]);
  }
  return found;
}

void print(const std::string& name, const std::vector<Milliseconds>& gaps,
           const std::string& ratio) {
  print_row(name, {fixed(median(gaps), 3), fixed(percentile(gaps, 95), 3), ratio});
}

}  // namespace

HandOvers shares_in_pairs(const Place& place, int pairs) {
  return in_pairs(place, the_upgrader(place), {.handovers = handovers_a_run}, &StampFile::gaps,
                  pairs);
}

HandOvers gaps_in_pairs(const Place& place, const Gap& gap, int pairs) {
  const Task task{.handovers = gap.handovers, .start_ms = gap.start_ms, .ticks = true};
  const Contender upgrader = gap.as_service ? the_service_upgrader(place) : the_upgrader(place);
  return in_pairs(place, upgrader, task, &StampFile::gaps_in_work, pairs);
}

std::string measure_hand_over(const Place& place) {
  constexpr int pairs = 15;
  const HandOvers found = shares_in_pairs(place, pairs);

  const double ratio = median(found.upgrader) / median(found.minimal);
  print_heading("1. The upgrader's share of a hand-over",
                "From the exit of the old agent until the next one has read `activate`, in "
                "milliseconds:\n" +
                    std::to_string(found.upgrader.size()) + " each, in " + std::to_string(pairs) +
                    " pairs of alternating runs. The minimal program does only fork, pipe, wait "
                    "and write.");
  print_row("", {"median", "p95", "ratio"});
  print(the_minimal(place).name, found.minimal, "1");
  print(the_upgrader(place).name, found.upgrader, fixed(ratio, 2));
  print_row("from pair to pair", {"", "",
                                  fixed(percentile(found.ratios, 10), 2) + " to " +
                                      fixed(percentile(found.ratios, 90), 2)});

  return "A hand-over takes " + fixed(median(found.upgrader), 2) + " ms, " + fixed(ratio, 2) +
         " times what a minimal C program takes.";
}

}  // namespace benchmark

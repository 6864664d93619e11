// Measures fall-backs, cold and warm: how long no agent works when a version dies on its trial,
// compared with the hand-overs to these versions in the same runs.
#include <array>
#include <iterator>
#include <utility>

#include "tests/benchmark/figures.h"
#include "tests/benchmark/sections.h"

namespace benchmark {
namespace {

// How long each version takes to start, and how many upgrades a run has.
struct Load {
  int start_ms = 0;
  int upgrades = 0;
};
constexpr std::array<Load, 3> loads = {{{0, 20}, {100, 10}, {1000, 3}}};
constexpr int pairs = 3;

// The version on trial fails this long after its standby can have become ready.
constexpr int margin_ms = 100;

struct Gaps {
  std::vector<Milliseconds> hand_over;
  std::vector<Milliseconds> cold;
  std::vector<Milliseconds> warm;
};

// Measures one run. Hand-overs and fall-backs alternate, and so do their gaps in the result.
void measure(const Place& place, const Contender& contender, const Load& load,
             std::vector<Milliseconds>& hand_over, std::vector<Milliseconds>& fall_back) {
  const Task task{.handovers = load.upgrades,
                  .start_ms = load.start_ms,
                  .fail_ms = load.start_ms + margin_ms,
                  .ticks = true};
  Run run(place, contender, task);
  run.finish();
  const std::vector<Milliseconds> gaps = run.stamps().gaps_in_work();
  if (gaps.size() != 2 * static_cast<std::size_t>(load.upgrades)) {
    give_up(contender.name + " lost a fall-back");
  }
  for (std::size_t i = 0; i < gaps.size(); ++i)
    (i % 2 == 0 ? hand_over : fall_back).push_back(gaps[i]);
}

Gaps gaps_of(const Place& place, const Load& load) {
  Gaps gaps;
  for (int pair = 0; pair < pairs; ++pair) {
    measure(place, the_upgrader(place), load, gaps.hand_over, gaps.cold);
    measure(place, the_warm_upgrader(place), load, gaps.hand_over, gaps.warm);
  }
  return gaps;
}

void print(const std::string& name, const std::vector<Milliseconds>& gaps, double hand_over) {
  print_row(name, {fixed(median(gaps), 3), fixed(percentile(gaps, 95), 3),
                   fixed(median(gaps) / hand_over, 2)});
}

}  // namespace

std::string measure_fall_back(const Place& place) {
  std::string ratios;
  print_heading("4. The gap of a fall-back",
                "From the last tick of a version that dies on its trial to the first of the one "
                "before it, in\nmilliseconds, by how long a version takes to start; and by the gap "
                "of the hand-overs in the same\nruns, from the old version's last tick to the new "
                "one's first.");
  print_row("", {"median", "p95", "by a hand-over"});
  for (const Load& load : loads) {
    const Gaps gaps = gaps_of(place, load);
    const double hand_over = median(gaps.hand_over);
    const std::string start = ", start-up " + std::to_string(load.start_ms) + " ms";
    print("hand-over" + start, gaps.hand_over, hand_over);
    print("cold fall-back" + start, gaps.cold, hand_over);
    print("warm fall-back" + start, gaps.warm, hand_over);
    ratios += (ratios.empty() ? "" : ", ") + fixed(median(gaps.warm) / hand_over, 2);
  }
  return "A warm fall-back's gap is " + ratios +
         " times a hand-over's, where a version takes 0, 100 and 1,000 ms to start.";
}

}  // namespace benchmark

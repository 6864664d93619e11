// Measures the gap, in which no agent works, when an agent that has worked for a while is replaced:
// by the upgrader, and by supervisors, which start the new agent only after the old one's end.
#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "tests/benchmark/figures.h"
#include "tests/benchmark/sections.h"

namespace benchmark {
namespace {

constexpr std::array<int, 3> start_times_ms = {0, 100, 1000};
constexpr int handovers = 10;

// How long an agent works before it is replaced: long enough that no supervisor pauses. runit
// pauses if two starts lie less than a second apart. s6 pauses if the next start comes too soon
// after the agent's notification that it works.
constexpr int work_ms = 1100;

struct Series {
  Contender contender;
  std::array<std::vector<Milliseconds>, start_times_ms.size()> gaps = {};
};

// Measures all programs at the same time, each with its own agents, and each begun a little later
// than the one before. They do not disturb each other, since they sleep nearly all of the time.
void measure(const Place& place, std::vector<Series>& all, std::size_t column) {
  const int start_ms = start_times_ms[column];
  const auto shift = std::chrono::milliseconds(work_ms + start_ms) / all.size();
  std::vector<std::unique_ptr<Run>> runs;
  for (const Series& series : all) {
    if (!runs.empty()) std::this_thread::sleep_for(shift);
    runs.push_back(std::make_unique<Run>(
        place, series.contender,
        Task{.handovers = handovers, .start_ms = start_ms, .work_ms = work_ms}));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    runs[i]->finish();
    all[i].gaps[column] = runs[i]->stamps().gaps();
    if (all[i].gaps[column].size() != handovers) give_up(all[i].contender.name + " lost one");
  }
}

}  // namespace

std::string measure_replacement(const Place& place) {
  std::vector<Series> all = {{the_minimal(place)}, {the_upgrader(place)}};
  for (Contender& supervisor : installed_supervisors())
    all.push_back({std::move(supervisor)});
  for (std::size_t column = 0; column < start_times_ms.size(); ++column)
    measure(place, all, column);

  print_heading(
      "3. The gap that a replacement leaves",
      "From the exit of the old version until the new one may work, in milliseconds, by how long "
      "the new\none takes to start: median (largest) of " +
          std::to_string(handovers) + ", each after " + std::to_string(work_ms) +
          " ms of work.\nrunit and s6 start the agent itself, without a shell and without the "
          "pause of a "
          "second.");
  print_row("", {"0 ms", "100 ms", "1,000 ms", "1,000 to 0"});
  std::string others;
  const auto& ours = all[1].gaps;
  const auto medians = [](const Series& series, std::size_t column) {
    return median(series.gaps[column]);
  };
  for (const Series& series : all) {
    std::vector<std::string> cells;
    for (const auto& gaps : series.gaps)
      cells.push_back(fixed(median(gaps), 2) + " (" + fixed(percentile(gaps, 100), 2) + ")");
    cells.push_back(fixed(medians(series, 2) / medians(series, 0), 2));
    print_row(series.contender.name, cells);
    if (series.contender.kind != Contender::Kind::service) continue;
    others += (others.empty() ? "" : ", ") + series.contender.name + " " +
              fixed(medians(series, 0) / medians(all[1], 0), 1) + ", " +
              fixed(medians(series, 1) / medians(all[1], 1), 0) + " and " +
              fixed(medians(series, 2) / medians(all[1], 2), 0) + " times as much";
  }
  for (const char* name : {"runsv", "s6-supervise"}) {
    if (!find_installed(name)) print_row(name, {"not installed"});
  }
  return "Nobody works for " + fixed(median(ours[0]), 2) + ", " + fixed(median(ours[1]), 2) +
         " and " + fixed(median(ours[2]), 2) +
         " ms when the new version takes 0, 100 and 1,000 ms to start" +
         (others.empty() ? "" : ": " + others) + ".";
}

}  // namespace benchmark

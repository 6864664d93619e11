// Measures hand-overs, replacements and fall-backs: the time in which no agent works between an old
// agent and the next agent.
#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <memory>
#include <thread>
#include <utility>

#include "tests/benchmark/figures.h"
#include "tests/benchmark/measurements.h"

namespace benchmark {

// ---- hand-overs of the upgrader and of the minimal program, in turn

namespace {

constexpr int handovers_a_run = 40;

// A function that computes one kind of time, such as the gaps between agents, from the times that
// the agents of a run have recorded.
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

// Measures pairs of runs: one run under the upgrader, and one run under the minimal program. The
// two programs swap their order from pair to pair, so that neither program is always measured
// first.
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

// ---- replacements of an agent that has worked for a while: by the upgrader, and by supervisors,
// which start the new agent only after the old one's end

namespace {

constexpr std::array<int, 3> start_times_ms = {0, 100, 1000};
constexpr int handovers = 10;

// How long an agent works before it is replaced: long enough that no supervisor pauses before the
// restart. runit pauses if two starts are less than a second apart. s6 pauses if the next start
// comes too soon after the agent has notified s6 that the agent works.
constexpr int work_ms = 1100;

struct Series {
  Contender contender;
  std::array<std::vector<Milliseconds>, start_times_ms.size()> gaps = {};
};

// Measures replacements under all programs in `all` at the same time. Each program has its own
// agents. The programs start a little after one another, and sleep nearly all of the time, so they
// do not disturb each other's measurements.
void measure_replacements(const Place& place, std::vector<Series>& all, std::size_t column) {
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
    measure_replacements(place, all, column);

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

// ---- fall-backs, cold and warm: how long no agent works when a version dies on its trial,
// compared with the hand-overs to these versions in the same runs

namespace {

// The time that each version takes to start, and the number of upgrades in a run.
struct Load {
  int start_ms = 0;
  int upgrades = 0;
};
constexpr std::array<Load, 3> loads = {{{0, 20}, {100, 10}, {1000, 3}}};

// A bad version fails on its trial after the time that a version takes to start, plus this margin.
// So a standby, a process of the old version that is started with the trial, is ready at the
// fall-back.
constexpr int margin_ms = 100;

struct Gaps {
  std::vector<Milliseconds> hand_over;
  std::vector<Milliseconds> cold;
  std::vector<Milliseconds> warm;
};

// Measures one run, in which hand-overs and fall-backs alternate. Adds the time without a working
// agent in each of them to `hand_over` or `fall_back`.
void measure_fall_backs(const Place& place, const Contender& contender, const Load& load,
                        std::vector<Milliseconds>& hand_over,
                        std::vector<Milliseconds>& fall_back) {
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
  constexpr int pairs = 3;
  Gaps gaps;
  for (int pair = 0; pair < pairs; ++pair) {
    measure_fall_backs(place, the_upgrader(place), load, gaps.hand_over, gaps.cold);
    measure_fall_backs(place, the_warm_upgrader(place), load, gaps.hand_over, gaps.warm);
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

// Measures how long one agent takes to start under each of several programs, which are measured in
// turn.
#include <utility>

#include "tests/benchmark/figures.h"
#include "tests/benchmark/measurements.h"

namespace benchmark {
namespace {

void start_once(const Place& place, StartUps& series) {
  Run run(place, series.contender, {});
  run.finish();
  const auto started = run.stamps().time_of(stamp_started, 1);
  const auto activated = run.stamps().time_of(stamp_activated, 1);
  if (!started || !activated) give_up(series.contender.name + " started no agent");
  const auto since_start = [&run](std::int64_t time) {
    return static_cast<double>(time - run.child().start_ns()) / 1e6;
  };
  series.to_start.push_back(since_start(*started));
  series.to_work.push_back(since_start(*activated));
}

}  // namespace

std::vector<StartUps> start_in_turn(const Place& place, const std::vector<Contender>& contenders,
                                    int rounds) {
  std::vector<StartUps> all;
  for (const Contender& contender : contenders)
    all.push_back({contender});
  for (int round = 0; round < rounds; ++round) {
    for (StartUps& series : all)
      start_once(place, series);
  }
  return all;
}

std::string measure_start_up(const Place& place) {
  std::vector<Contender> contenders = {direct_exec(), the_minimal(place), the_upgrader(place)};
  for (Contender& reaper : installed_reapers())
    contenders.push_back(std::move(reaper));
  constexpr int rounds = 150;
  const std::vector<StartUps> all = start_in_turn(place, contenders, rounds);

  print_heading("2. Start-up of an agent",
                "From the fork until the agent's main, and until it may work, in milliseconds: " +
                    std::to_string(rounds) + " starts each, in turn.");
  print_row("", {"main, median", "p95", "ratio", "work, median", "ratio"});
  const double direct = median(all[0].to_start);
  const double ours = median(all[2].to_start);
  std::string others;
  for (const StartUps& series : all) {
    const double to_start = median(series.to_start);
    print_row(series.contender.name, {fixed(to_start, 3), fixed(percentile(series.to_start, 95), 3),
                                      fixed(to_start / direct, 2), fixed(median(series.to_work), 3),
                                      fixed(median(series.to_work) / median(all[0].to_work), 2)});
    if (series.contender.name.starts_with("tini")) {
      others += ", " + fixed(ours / to_start, 2) + " times " + series.contender.name + "'s";
    }
  }
  for (const char* name : {"tini", "tini-static"}) {
    if (!find_installed(name)) print_row(name, {"not installed"});
  }
  return "An agent is there after " + fixed(ours, 2) + " ms, " + fixed(ours / direct, 2) +
         " times a direct exec's time" + others + ".";
}

}  // namespace benchmark

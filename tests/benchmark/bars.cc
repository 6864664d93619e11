// Measures the statically linked upgrader, and compares each figure with its bar, the value that
// the figure must not exceed.
//
// usage: bars DIRECTORY UPGRADER AGENT
//
// DIRECTORY must be empty; all files are written there. Prints a row of a Markdown table for each
// bar, and exits with 1 if a bar is not met. A figure is the worst of three runs, unless its row
// names another number of runs. Programs that are compared run alternately.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>

#include "tests/benchmark/figures.h"
#include "tests/benchmark/measurements.h"

namespace {

using namespace benchmark;

constexpr int runs_of_each = 3;
constexpr int start_rounds = 200;
constexpr int share_pairs = 15;

// Each gap (the time without a working agent at a hand-over) is measured in ten runs, and may
// exceed its limit in one of them. The limit is only some twenty microseconds above the gap of the
// minimal program (minimal.c), and other work of the machine can delay a hand-over by more.
constexpr std::size_t gap_runs = 10;
constexpr std::size_t gap_runs_within_min = 9;
// The number of pairs of measurements in each run. A pair measures both the upgrader and the
// minimal program (minimal.c). They swap their order from pair to pair.
constexpr int gap_pairs = 2;
constexpr Gap gaps_to_measure[] = {{.start_ms = 0, .handovers = 30},
                                   {.start_ms = 100, .handovers = 8},
                                   {.start_ms = 1000, .handovers = 4},
                                   {.start_ms = 100, .handovers = 8, .as_service = true}};

constexpr double file_bytes_max = 188 * 1024;
constexpr double pss_kb_max = 300;
constexpr double of_tini_max = 0.5;
constexpr double of_tini_static_max = 1;
constexpr double of_minimal_max = 1.1;

bool all_met = true;

void print_figure(const std::string& what, const std::string& figure, const std::string& bar,
                  const std::string& outcome) {
  std::printf("| %s | %s | %s | %s |\n", what.c_str(), figure.c_str(), bar.c_str(),
              outcome.c_str());
  std::fflush(stdout);
}

void print_bar(const std::string& what, const std::string& figure, const std::string& bar,
               bool met) {
  print_figure(what, figure, bar, met ? "met" : "not met");
  all_met = all_met && met;
}

// A measured value with its text for people. Smaller values are better.
struct Figure {
  double value = 0;
  std::string text;
};

bool is_better(const Figure& a, const Figure& b) {
  return a.value < b.value;
}

Figure worst_of(const std::vector<Figure>& figures) {
  return *std::max_element(figures.begin(), figures.end(), is_better);
}

Figure worst_of_runs(const std::function<Figure()>& measure) {
  std::vector<Figure> figures;
  for (int run = 0; run < runs_of_each; ++run)
    figures.push_back(measure());
  return worst_of(figures);
}

void judge_file(const Place& place) {
  const auto bytes = static_cast<double>(std::filesystem::file_size(place.upgrader));
  print_bar("the static program, stripped", fixed(bytes, 0) + " bytes",
            "at most " + fixed(file_bytes_max, 0), bytes <= file_bytes_max);
}

void judge_memory(const Place& place) {
  const auto kib = [](double kb) { return Figure{kb, fixed(kb, 0) + " KiB"}; };
  const Figure one = worst_of_runs(
      [&] { return kib(memory_with_one_agent(place, the_service_upgrader(place)).pss_kb); });
  print_bar("its memory with one agent at rest, with a control directory (PSS)", one.text,
            "at most " + fixed(pss_kb_max, 0), one.value <= pss_kb_max);
  const Figure two = worst_of_runs([&] { return kib(memory_with_two_agents(place).pss_kb); });
  print_figure("at its peak, with two agents in an upgrade (PSS)", two.text, "none", "");
}

double ratio_of(const std::vector<Milliseconds>& ours, const std::vector<Milliseconds>& theirs) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < ours.size(); ++round)
    ratios.push_back(ours[round] / theirs[round]);
  return median(ratios);
}

// Returns the time of an agent's start under the program `ours`, divided by its time under the
// program `other`. Both are indexes into `all`. Each time includes the agent's own exec. For
// comparison, the figure's text also has the time of a direct exec of the agent.
Figure start_up_by(const std::vector<StartUps>& all, std::size_t ours, std::size_t other) {
  const double ratio = ratio_of(all[ours].to_start, all[other].to_start);
  return {ratio, fixed(ratio, 3) + " (" + fixed(median(all[ours].to_start), 2) + " ÷ " +
                     fixed(median(all[other].to_start), 2) + " ms; a direct exec " +
                     fixed(median(all[0].to_start), 2) + ")"};
}

void judge_start_up(const Place& place) {
  std::vector<Contender> contenders = {direct_exec(), the_service_upgrader(place)};
  for (const Contender& reaper : installed_reapers())
    contenders.push_back(reaper);
  if (contenders.size() != 4) give_up("tini and tini-static are not both installed");
  Contender counting = the_service_upgrader(place);
  counting.argv.emplace_back("--attempts=3");
  contenders.push_back(counting);
  std::vector<Figure> by_tini;
  std::vector<Figure> by_tini_static;
  std::vector<Figure> counting_by_tini;
  for (int run = 0; run < runs_of_each; ++run) {
    const std::vector<StartUps> all = start_in_turn(place, contenders, start_rounds);
    by_tini.push_back(start_up_by(all, 1, 2));
    by_tini_static.push_back(start_up_by(all, 1, 3));
    counting_by_tini.push_back(start_up_by(all, 4, 2));
  }
  const auto judge = [&](const std::string& other, const Figure& worst, double bar) {
    print_bar("start-up of an agent with our service files' options ÷ the same under " + other,
              worst.text, "less than " + fixed(bar, 2), worst.value < bar);
  };
  judge(contenders[2].name, worst_of(by_tini), of_tini_max);
  judge(contenders[3].name, worst_of(by_tini_static), of_tini_static_max);
  print_figure("the same with --attempts, which syncs a file ÷ under " + contenders[2].name,
               worst_of(counting_by_tini).text, "none", "");
}

// Divides the median time of the upgrader's hand-overs by that of the minimal program, over all
// pairs of runs. One pair alone may have too few hand-overs for a ratio if its agents are slow.
Figure by_minimal(const HandOvers& found) {
  const double ratio = median(found.upgrader) / median(found.minimal);
  return {ratio, fixed(ratio, 2) + " (" + fixed(median(found.upgrader), 3) + " ÷ " +
                     fixed(median(found.minimal), 3) + " ms)"};
}

void judge_gap(const Place& place, const Gap& gap) {
  std::vector<Figure> figures;
  for (std::size_t run = 0; run < gap_runs; ++run)
    figures.push_back(by_minimal(gaps_in_pairs(place, gap, gap_pairs)));
  const auto within = static_cast<std::size_t>(
      std::count_if(figures.begin(), figures.end(),
                    [](const Figure& figure) { return figure.value <= of_minimal_max; }));
  const std::string of_runs = " of " + std::to_string(gap_runs) + " runs";
  print_bar("the gap with " + std::to_string(gap.start_ms) + " ms of start-up" +
                (gap.as_service ? " and our service files' options" : "") +
                " ÷ a minimal C program's",
            worst_of(figures).text + " in the worst" + of_runs + ", " + std::to_string(within) +
                " within the bar",
            "at most " + fixed(of_minimal_max, 2) + " in " + std::to_string(gap_runs_within_min) +
                of_runs,
            within >= gap_runs_within_min);
}

void show_share(const Place& place) {
  const Figure worst =
      worst_of_runs([&] { return by_minimal(shares_in_pairs(place, share_pairs)); });
  print_figure("the upgrader's share of it, from an exit to `activate` ÷ a minimal C program's",
               worst.text, "none", "");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) give_up("usage: bars DIRECTORY UPGRADER AGENT");
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const Place place{.directory = std::filesystem::absolute(argv[1]),
                    .upgrader = std::filesystem::absolute(argv[2]),
                    .minimal = own / "minimal",
                    .agent = std::filesystem::absolute(argv[3])};
  judge_file(place);
  judge_memory(place);
  judge_start_up(place);
  Place ordinary = place;
  ordinary.agent = own / "ordinary_agent";
  for (const Gap& gap : gaps_to_measure)
    judge_gap(ordinary, gap);
  show_share(place);
  return all_met ? 0 : 1;
}

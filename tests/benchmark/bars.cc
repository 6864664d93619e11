// Measures the static program, and compares each figure with its bar.
//
// usage: bars DIRECTORY UPGRADER AGENT
//
// DIRECTORY is empty, and takes all files that are written. Prints a row of a Markdown table for
// each bar, and exits with 1 if one is not met. A figure is the worst of three runs, or of as many
// as its row says. Programs that are compared run in turn.

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "tests/benchmark/contender.h"
#include "tests/benchmark/figures.h"
#include "tests/benchmark/sections.h"
#include "tests/benchmark/stamp_file.h"

namespace benchmark {
namespace {

// Measures hand-overs of the upgrader and of the minimal program in turn. Under both programs, the
// next agent begins to work only after the old agent's exit.
struct HandOvers {
  std::vector<Milliseconds> upgrader = {};
  std::vector<Milliseconds> minimal = {};
  // For each pair of runs: the upgrader's median, divided by the minimal program's.
  std::vector<double> ratios = {};
};

// Settings for measuring gaps in the work. A gap is the time from the old agent's last tick to the
// next agent's first. The settings are the time that each agent takes to start, and the number of
// hand-overs in a run.
struct Gap {
  int start_ms = 0;
  int handovers = 0;
  // True if the upgrader has the options of a service file, and writes status.json.
  bool as_service = false;
};

constexpr int handovers_a_run = 40;

// A function that takes one kind of measurement from a run.
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

// Measures pairs of runs. The program that runs first changes from pair to pair.
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

// Measures the upgrader's own share of a hand-over: the time from the old agent's exit until the
// next agent has read `activate`. Each hand-over begins as soon as the one before it is over.
[[nodiscard]] HandOvers shares_in_pairs(const Place& place, int pairs) {
  return in_pairs(place, the_upgrader(place), {.handovers = handovers_a_run}, &StampFile::gaps,
                  pairs);
}

[[nodiscard]] HandOvers gaps_in_pairs(const Place& place, const Gap& gap, int pairs) {
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

// Measures the memory of a program with one agent at rest, as the kernel counts it.
struct Memory {
  double pss_kb = 0;
  double private_kb = 0;
};

// Returns the state letter of /proc/PID/stat.
char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= line.size() ? '?' : line[name_end + 2];
}

// Returns the sum of the lines `NAME: N kB` of a file in /proc/PID. Gives up if there is none.
double kb_of(pid_t pid, const std::string& file_name, const std::set<std::string>& names) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + file_name);
  double sum = 0;
  bool found = false;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    double kb = 0;
    if (!(words >> name >> kb) || names.count(name) == 0) continue;
    sum += kb;
    found = true;
  }
  if (!found) give_up("cannot read the memory of a process");
  return sum;
}

// Measures the memory of the run's program while the program rests.
Memory memory_of(const Run& run) {
  const pid_t pid = run.child().pid();
  wait_until([pid] { return state_of(pid) == 'S'; }, "a program at rest");
  return {.pss_kb = kb_of(pid, "smaps_rollup", {"Pss:"}),
          .private_kb = kb_of(pid, "smaps_rollup", {"Private_Clean:", "Private_Dirty:"})};
}

[[nodiscard]] Memory memory_with_one_agent(const Place& place, const Contender& contender) {
  Run run(place, contender, {.stays = true});
  run.wait_for_last_agent();
  const Memory memory = memory_of(run);
  run.end();
  return memory;
}

// Measures the memory while a candidate starts slowly beside the active agent.
[[nodiscard]] Memory memory_with_two_agents(const Place& place) {
  constexpr int longer_than_the_look_ms = 60'000;
  Run run(place, the_upgrader(place),
          {.handovers = 1, .start_ms = longer_than_the_look_ms, .stays = true});
  wait_until([&run] { return run.stamps().count(stamp_started) == 2; }, "a candidate");
  const Memory memory = memory_of(run);
  run.end();
  return memory;
}

std::string measure_memory(const Place& place) {
  std::vector<Contender> all = {the_minimal(place), the_upgrader(place)};
  for (auto&& group : {installed_reapers(), installed_supervisors()})
    all.insert(all.end(), group.begin(), group.end());

  print_heading("5. Memory with one agent at rest",
                "Of the program alone, in KiB. PSS counts a page that n processes share as 1/n of "
                "it, so\nit depends on what else runs; what is private would be free without it.");
  print_row("", {"PSS", "ratio", "private", "ratio"});
  std::vector<Memory> found;
  for (const Contender& contender : all) {
    found.push_back(memory_with_one_agent(place, contender));
    const Memory& memory = found.back();
    print_row(contender.name,
              {fixed(memory.pss_kb, 0), fixed(memory.pss_kb / found[0].pss_kb, 2),
               fixed(memory.private_kb, 0), fixed(memory.private_kb / found[0].private_kb, 2)});
  }
  return "It takes " + fixed(found[1].pss_kb, 0) + " KiB (PSS), " + fixed(found[1].private_kb, 0) +
         " KiB of them private.";
}

// Measures starts of one agent under several programs in turn.

// The time from the fork to the agent's main(), and the time from the fork until the agent may
// work.
struct StartUps {
  Contender contender;
  std::vector<Milliseconds> to_start = {};
  std::vector<Milliseconds> to_work = {};
};

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

// Starts the agent once under each contender in every round.
[[nodiscard]] std::vector<StartUps> start_in_turn(const Place& place,
                                                  const std::vector<Contender>& contenders,
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

}  // namespace

}  // namespace benchmark

namespace {

using namespace benchmark;

constexpr int runs_of_each = 3;
constexpr int start_rounds = 200;
constexpr int share_pairs = 15;

// Each gap is measured in ten runs, and one of them may exceed the bar. The bar is only some twenty
// microseconds above the minimal program's gap, and other work of the machine may take longer than
// that.
constexpr std::size_t gap_runs = 10;
constexpr std::size_t gap_runs_within_min = 9;
// The number of pairs of programs in each run. The order alternates: in one pair the upgrader is
// measured first, in the next the minimal program.
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

// One measurement, and its text for people. A greater value is worse.
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

// Compares the start-ups under two programs. Both start-up times contain the time that a direct
// exec of the agent takes. The text shows that time, too.
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

// Compares the medians of all hand-overs of the run. If the start-up is slow, one pair has too few
// hand-overs for a ratio of its own.
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

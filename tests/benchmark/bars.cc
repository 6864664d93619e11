// Measures what the static program is held to, each against its bar: bars DIRECTORY UPGRADER AGENT
// DIRECTORY is empty, and takes all that is written. Prints a row of a Markdown table each, and
// exits with 1 if a bar is not met. Ratios are of pairs: both sides right after one another.
#include <cstdio>
#include <filesystem>

#include "tests/benchmark/figures.h"
#include "tests/benchmark/hand_over.h"
#include "tests/benchmark/memory.h"
#include "tests/benchmark/start_up.h"

namespace {

using namespace benchmark;

constexpr int start_rounds = 200;
constexpr int hand_over_pairs = 15;
constexpr int memory_looks = 3;

constexpr double file_bytes_max = 160 * 1024;
constexpr double pss_kb_max = 350;
constexpr double of_tini_max = 0.5;
constexpr double of_tini_static_max = 1;
constexpr double of_minimal_max = 1.25;

bool all_met = true;

void print_bar(const std::string& what, const std::string& figure, const std::string& bar,
               bool met) {
  std::printf("| %s | %s | %s | %s |\n", what.c_str(), figure.c_str(), bar.c_str(),
              met ? "met" : "not met");
  std::fflush(stdout);
  all_met = all_met && met;
}

void judge_file(const Place& place) {
  const auto bytes = static_cast<double>(std::filesystem::file_size(place.upgrader));
  print_bar("the static program, stripped", fixed(bytes, 0) + " bytes",
            "at most " + fixed(file_bytes_max, 0), bytes <= file_bytes_max);
}

// Some looks: pages that another program shares count in part.
void judge_memory(const Place& place) {
  std::vector<double> looks;
  for (int look = 0; look < memory_looks; ++look)
    looks.push_back(memory_with_one_agent(place, the_upgrader(place)).pss_kb);
  const double pss_kb = median(looks);
  print_bar("its memory with one agent at rest (PSS)", fixed(pss_kb, 0) + " KiB",
            "at most " + fixed(pss_kb_max, 0), pss_kb <= pss_kb_max);
}

double ratio_of(const std::vector<Milliseconds>& ours, const std::vector<Milliseconds>& theirs) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < ours.size(); ++round)
    ratios.push_back(ours[round] / theirs[round]);
  return median(ratios);
}

// What a direct exec of the agent takes is part of every figure, and shown beside them.
void judge_start_up(const Place& place) {
  std::vector<Contender> contenders = {direct_exec(), the_upgrader(place)};
  for (const Contender& reaper : installed_reapers())
    contenders.push_back(reaper);
  const std::vector<StartUps> all = start_in_turn(place, contenders, start_rounds);
  if (all.size() != 4) give_up("tini and tini-static are not both installed");
  const auto judge = [&](const StartUps& other, double bar) {
    const double ratio = ratio_of(all[1].to_start, other.to_start);
    print_bar("start-up of an agent under it, by " + other.contender.name + "'s",
              fixed(ratio, 3) + " (" + fixed(median(all[1].to_start), 2) + " by " +
                  fixed(median(other.to_start), 2) + " ms; a direct exec " +
                  fixed(median(all[0].to_start), 2) + ")",
              "less than " + fixed(bar, 2), ratio < bar);
  };
  judge(all[2], of_tini_max);
  judge(all[3], of_tini_static_max);
}

void judge_hand_over(const Place& place) {
  const HandOvers found = hand_over_in_pairs(place, hand_over_pairs);
  const double ratio = median(found.ratios);
  print_bar("a hand-over, by the minimal C program's",
            fixed(ratio, 2) + " (" + fixed(median(found.upgrader), 3) + " by " +
                fixed(median(found.minimal), 3) + " ms)",
            "at most " + fixed(of_minimal_max, 2), ratio <= of_minimal_max);
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
  judge_hand_over(place);
  return all_met ? 0 : 1;
}

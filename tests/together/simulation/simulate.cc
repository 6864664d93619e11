// `make simulate` runs seeds in two processes. If a seed fails, it prints the command line that
// repeats this seed. At the end, it prints how many of the upgrader's states, and of the moves
// between them, the runs have visited. The exploration's maps have all these states and moves.
//
//   simulate SEEDS [N]     runs the seeds from 1 to SEEDS. Then, N times, looks for further seeds
//                          that can lead to moves that no run has made, and runs these seeds.
//                          Prints figures and a result line
//   simulate -s SEED       runs one seed; with -t prints its whole trace
//   simulate -c SEEDS      for a program with an injected bug: runs the seeds from 1 to SEEDS;
//                          succeeds if one of them fails, and says which
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/figures.h"
#include "tests/together/simulation/run.h"

namespace {

using namespace upgrader::simulation;
using upgrader::test::with_commas;

// ---- figures, for people and for `make verify`

// A run of at least `seeds_bar` seeds must visit at least `edges_bar` percent of the edges that the
// code in upgrader/shell allows. Edges are the moves between the states that the exploration has
// found.
constexpr double edges_bar = 99.0;
constexpr std::uint64_t seeds_bar = 1'000'000;

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string in_percent(std::uint64_t part, std::uint64_t whole) {
  char text[32];
  // Rounds a percentage down, so that 100 % is shown only if all moves or states were reached.
  const double cut = static_cast<double>(static_cast<int>(percent(part, whole) * 100)) / 100;
  std::snprintf(text, sizeof text, "%.2f %%", cut);
  return text;
}

std::string share(const char* what, const Visits::Share& share) {
  return in_percent(share.allowed_visited, share.allowed) + " of " + with_commas(share.allowed) +
         " " + what + " that the shell allows (" + in_percent(share.all_visited, share.all) +
         " of all " + with_commas(share.all) + ")";
}

// Returns the commit of the sources, from git.
std::string commit() {
  const std::unique_ptr<FILE, int (*)(FILE*)> git(
      ::popen("git describe --always --dirty 2>/dev/null", "r"), ::pclose);
  char text[64] = "";
  if (!git || std::fgets(text, sizeof text, git.get()) == nullptr) return "no commit";
  std::string name = text;
  while (!name.empty() && name.back() == '\n')
    name.pop_back();
  return name;
}

// Prints the figures and the result line. Returns true if no seed has failed and, if there are at
// least `seeds_bar` seeds, the runs have visited at least `edges_bar` percent of the edges that the
// code in upgrader/shell allows.
bool print_figures(std::uint64_t seeds, const Tally& tally, const Visits& visits, bool failed) {
  const Visits::Share edges = visits.edges();
  const std::string figures =
      with_commas(tally.runs) + " seeds, " + with_commas(tally.events) +
      " events: " + with_commas(tally.accepted) + " upgrades accepted, " +
      with_commas(tally.committed) + " committed, " + with_commas(tally.failed) +
      " failed with the old agent still active, " + with_commas(tally.rolled_back) +
      " fell back, of which " + with_commas(tally.stood_by) + " to one that stood by, " +
      with_commas(tally.cut_short) + " ended with the upgrader; " + with_commas(tally.requests) +
      " requests of operators answered, " + with_commas(tally.granted) + " of them granted; " +
      with_commas(tally.useful) + " runs ended in a good upgrade; visited of V1 " +
      share("states", visits.states()) + ", " + share("edges", edges) + ", " +
      share("cells", visits.cells());
  std::string missing;
  if (failed) missing = "a seed failed";
  const bool enough = percent(edges.allowed_visited, edges.allowed) >= edges_bar;
  const std::string bar = seeds >= seeds_bar ? "10^6 seeds, 99 % of the edges, 0 violations"
                                             : with_commas(seeds) +
                                                   " seeds, 0 violations (LONG=1: 10^6 seeds, "
                                                   "99 % of the edges)";
  if (!failed && seeds >= seeds_bar && !enough) missing = "edges that no seed has visited";
  std::printf("report: %s of the guided runs came to where they were led\n",
              in_percent(tally.arrived, tally.guided).c_str());
  std::printf("report: of the edges not visited most are: %s\n", visits.missed(12).c_str());
  std::printf("result: V5 | make simulate SEEDS=%llu | %s | %s | %s\n",
              static_cast<unsigned long long>(seeds), figures.c_str(), bar.c_str(),
              missing.empty() ? "met" : ("not met: " + missing).c_str());
  return missing.empty();
}

// ---- the runs of all seeds, in several processes

constexpr std::size_t workers = 2;
constexpr std::uint64_t repeated_seeds = 100;

// The results of the workers, in memory that they share with their parent.
struct Report {
  std::atomic<std::uint64_t> next{0};  // the number of seeds that workers have taken so far
  std::atomic<std::uint64_t> failed_seed{0};
  std::array<std::atomic<std::uint64_t>, workers> at_seed{};
  std::array<Tally, workers> tallies{};
  std::array<char, 300> verdict{};
};

Report* shared_report() {
  void* memory =
      ::mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return new (memory) Report;
}

void note_failure(Report& report, std::uint64_t seed, const std::string& verdict) {
  std::uint64_t none = 0;
  if (!report.failed_seed.compare_exchange_strong(none, seed)) return;
  verdict.copy(report.verdict.data(), report.verdict.size() - 1);
}

// The seeds to run: the seeds of the list or, if there is no list, the numbers from 1 on.
struct Seeds {
  std::uint64_t count = 0;
  const std::vector<std::uint64_t>* list = nullptr;
  [[nodiscard]] std::uint64_t at(std::uint64_t index) const {
    return list != nullptr ? (*list)[index] : index + 1;
  }
};

void work(Report& report, std::size_t worker, const Seeds& seeds, const Setting& setting) {
  constexpr std::uint64_t batch = 64;
  while (report.failed_seed == 0) {
    const std::uint64_t first = report.next.fetch_add(batch);
    for (std::uint64_t index = first; index < first + batch; ++index) {
      if (index >= seeds.count) return;
      const std::uint64_t seed = seeds.at(index);
      report.at_seed[worker] = seed;
      const RunOutcome outcome = run_seed(seed, setting);
      report.tallies[worker].add(outcome.tally);
      if (!outcome.verdict.empty()) return note_failure(report, seed, outcome.verdict);
    }
  }
}

// Runs the seeds. If a worker process dies, the seed that it was running counts as failed.
void run_all(Report& report, const Seeds& seeds, const Setting& setting) {
  std::array<pid_t, workers> pids{};
  report.next = 0;
  for (std::size_t worker = 0; worker < workers; ++worker) {
    std::fflush(stdout);
    pids[worker] = ::fork();
    if (pids[worker] < 0) std::abort();
    if (pids[worker] != 0) continue;
    work(report, worker, seeds, setting);
    ::_exit(0);
  }
  for (std::size_t worker = 0; worker < workers; ++worker) {
    int status = 0;
    if (::waitpid(pids[worker], &status, 0) != pids[worker]) std::abort();
    if (status != 0) note_failure(report, report.at_seed[worker], "it dies of a rule of its own");
  }
}

int run_one(std::uint64_t seed, bool traced) {
  const Atlas atlas;
  const Goals goals(atlas);
  std::string trace;
  const RunOutcome outcome =
      run_seed(seed, {.atlas = &atlas, .goals = &goals, .trace = traced ? &trace : nullptr});
  std::fputs(trace.c_str(), stdout);
  const bool good = outcome.verdict.empty();
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
              good ? "all is well" : outcome.verdict.c_str());
  return good ? 0 : 1;
}

// Looks for a bug that was injected into this program. Random runs alone must find the bug: no run
// is guided by the map.
int run_canary(std::uint64_t seeds) {
  Report& report = *shared_report();
  run_all(report, {.count = seeds}, {});
  const std::uint64_t seed = report.failed_seed;
  if (seed == 0) {
    std::printf("not found in %s seeds\n", with_commas(seeds).c_str());
    return 1;
  }
  std::printf("found by seed %s: %s\n", with_commas(seed).c_str(), report.verdict.data());
  return 0;
}

// Checks that the same seed gives the same run, byte for byte.
void check_repetition(Report& report, const Atlas& atlas, const Goals& goals) {
  for (std::uint64_t seed = 1; seed <= repeated_seeds; ++seed) {
    std::string first, second;
    (void)run_seed(seed, {.atlas = &atlas, .goals = &goals, .trace = &first});
    (void)run_seed(seed, {.atlas = &atlas, .goals = &goals, .trace = &second});
    if (first != second) return note_failure(report, seed, "it runs otherwise when repeated");
  }
}

// Returns how many consecutive seeds are needed so that each goal occurs once.
std::uint64_t seeds_of_a_cycle(const Goals& goals) {
  return goals.count() * unguided_every / (unguided_every - 1) + 1;
}

// Returns seeds whose runs can make missed moves (allowed moves that no run has made yet). Looks at
// the seeds after `above` until each goal (the move to which a run is led) has occurred once.
// Returns a seed if its goal is a missed move, or if a missed move begins in the same state as its
// goal. For the second reason, returns at most one seed for each state.
std::vector<std::uint64_t> seeds_left(const Goals& goals, const Atlas& atlas, const Visits& visits,
                                      std::uint64_t above) {
  std::vector<std::uint64_t> seeds;
  std::set<std::pair<int, std::uint32_t>> looked_at;
  for (std::uint64_t seed = above + 1; seed <= above + seeds_of_a_cycle(goals); ++seed) {
    if (!is_guided(seed)) continue;
    const Goal goal = goals.goal(seed);
    const std::uint32_t place = atlas.sheet(goal.policy).map.moves[goal.move].from;
    const bool is_left =
        visits.is_missed(goal.policy, goal.move) || (visits.missed_from(goal.policy, place) > 0 &&
                                                     looked_at.emplace(goal.policy, place).second);
    if (is_left) seeds.push_back(seed);
  }
  return seeds;
}

int run_seeds(std::uint64_t seeds, std::uint64_t rounds) {
  const Atlas atlas;
  const Goals goals(atlas);
  Visits visits(atlas);
  Report& report = *shared_report();
  check_repetition(report, atlas, goals);
  const Setting setting{.atlas = &atlas, .goals = &goals, .visits = &visits};
  run_all(report, {.count = seeds}, setting);
  for (std::uint64_t round = 0; round < rounds && report.failed_seed == 0; ++round) {
    const auto left = seeds_left(goals, atlas, visits, seeds + round * seeds_of_a_cycle(goals));
    run_all(report, {.count = left.size(), .list = &left}, setting);
  }
  const std::uint64_t seed = report.failed_seed;
  if (seed != 0) {
    std::printf("seed %llu at %s: %s; repeat it with: make simulate SEED=%llu TRACE=1\n",
                static_cast<unsigned long long>(seed), commit().c_str(), report.verdict.data(),
                static_cast<unsigned long long>(seed));
  }
  Tally total;
  for (const Tally& tally : report.tallies)
    total.add(tally);
  const bool met = print_figures(seeds, total, visits, seed != 0);
  return met ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  const auto number = [&](int at) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : 0ULL;
  };
  if (first == "-s") return run_one(number(2), argc > 3);
  if (first == "-c") return run_canary(number(2));
  if (number(1) > 0) return run_seeds(number(1), number(2));
  std::fputs("usage: simulate SEEDS [N] | -s SEED [-t] | -c SEEDS\n", stderr);
  return 2;
}

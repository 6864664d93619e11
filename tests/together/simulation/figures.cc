#include "tests/together/simulation/figures.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace upgrader::simulation {

using test::with_commas;

namespace {

// A run of at least `seeds_bar` seeds must visit at least `edges_bar` percent of the edges, which
// are the moves between states that the exploration has found.
constexpr double edges_bar = 99.0;
constexpr std::uint64_t seeds_bar = 1'000'000;

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string in_percent(std::uint64_t part, std::uint64_t whole) {
  char text[32];
  // Rounds a percentage down, so that 100 % is shown only if everything was reached.
  const double cut = static_cast<double>(static_cast<int>(percent(part, whole) * 100)) / 100;
  std::snprintf(text, sizeof text, "%.2f %%", cut);
  return text;
}

std::string share(const char* what, const Visits::Share& share) {
  return in_percent(share.allowed_visited, share.allowed) + " of " + with_commas(share.allowed) +
         " " + what + " that the shell allows (" + in_percent(share.all_visited, share.all) +
         " of all " + with_commas(share.all) + ")";
}

}  // namespace

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

void Tally::add(const Tally& other) {
  runs += other.runs;
  events += other.events;
  accepted += other.accepted;
  committed += other.committed;
  failed += other.failed;
  rolled_back += other.rolled_back;
  stood_by += other.stood_by;
  cut_short += other.cut_short;
  requests += other.requests;
  granted += other.granted;
  useful += other.useful;
  guided += other.guided;
  arrived += other.arrived;
}

}  // namespace upgrader::simulation

// Measures the memory of the upgrader, and of the programs with which it is compared, while they
// are at rest with their agents. The values come from /proc, and do not include the agents' memory.
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "tests/benchmark/figures.h"
#include "tests/benchmark/measurements.h"

namespace benchmark {
namespace {

// Returns the state letter of /proc/PID/stat, such as S for a process that sleeps.
char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= line.size() ? '?' : line[name_end + 2];
}

// Returns the sum of the lines `NAME: N kB` of a file in /proc/PID. Ends this program with a
// failure if there is no such line.
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

// Measures the memory of the run's program as soon as the program sleeps.
Memory memory_of(const Run& run) {
  const pid_t pid = run.child().pid();
  wait_until([pid] { return state_of(pid) == 'S'; }, "a program at rest");
  return {.pss_kb = kb_of(pid, "smaps_rollup", {"Pss:"}),
          .private_kb = kb_of(pid, "smaps_rollup", {"Private_Clean:", "Private_Dirty:"})};
}

}  // namespace

Memory memory_with_one_agent(const Place& place, const Contender& contender) {
  Run run(place, contender, {.stays = true});
  run.wait_for_last_agent();
  const Memory memory = memory_of(run);
  run.end();
  return memory;
}

Memory memory_with_two_agents(const Place& place) {
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

}  // namespace benchmark

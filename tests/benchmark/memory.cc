#include "tests/benchmark/memory.h"

#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "tests/benchmark/figures.h"
#include "tests/benchmark/sections.h"

namespace benchmark {
namespace {

// The state letter of /proc/PID/stat.
char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= line.size() ? '?' : line[name_end + 2];
}

Memory memory_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  Memory memory;
  bool found = false;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    double kb = 0;
    if (!(words >> name >> kb)) continue;
    if (name == "Pss:") {
      memory.pss_kb = kb;
      found = true;
    }
    if (name == "Private_Clean:" || name == "Private_Dirty:") memory.private_kb += kb;
  }
  if (!found) give_up("cannot read the memory of a process");
  return memory;
}

}  // namespace

Memory memory_with_one_agent(const Place& place, const Contender& contender) {
  Run run(place, contender, {.stays = true});
  run.wait_for_last_agent();
  wait_until([&run] { return state_of(run.child().pid()) == 'S'; }, contender.name + " at rest");
  const Memory memory = memory_of(run.child().pid());
  run.end();
  return memory;
}

std::string measure_memory(const Place& place) {
  std::vector<Contender> all = {the_minimal(place), the_upgrader(place)};
  for (auto&& group : {installed_reapers(), installed_supervisors()})
    all.insert(all.end(), group.begin(), group.end());

  print_heading("4. Memory with one agent at rest",
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

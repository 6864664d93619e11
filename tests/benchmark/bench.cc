// Compares the upgrader with programs that do a part of its work. The main results are ratios,
// because times on one machine say little about other machines. This program checks no figure. It
// fails only if a program that it starts does not work.
//
// bench DIRECTORY UPGRADER: DIRECTORY must be empty; all files are written there. The agent and the
// minimal program lie in the directory of this program.
#include <sys/utsname.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/benchmark/figures.h"
#include "tests/benchmark/measurements.h"

namespace {

using namespace benchmark;

double load_average() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : 0;
}

void print_circumstances() {
  utsname system{};
  ::uname(&system);
  const unsigned processors = std::thread::hardware_concurrency();
  const double load = load_average();
  std::printf("%s %s, %s, processors: %u, load average: %.2f\n", system.sysname, system.release,
              system.machine, processors, load);
  if (load > processors / 2.0) {
    std::printf("Something else keeps this machine busy: the figures are of little worth.\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) give_up("usage: bench DIRECTORY UPGRADER");
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const Place place{.directory = std::filesystem::absolute(argv[1]),
                    .upgrader = std::filesystem::absolute(argv[2]),
                    .minimal = own / "minimal",
                    .agent = own / "stamp_agent"};
  print_circumstances();
  std::vector<std::string> sentences;
  sentences.push_back(measure_hand_over(place));
  sentences.push_back(measure_start_up(place));
  sentences.push_back(measure_replacement(place));
  sentences.push_back(measure_fall_back(place));
  sentences.push_back(measure_memory(place));

  std::printf("\nIn short\n\n");
  for (const std::string& sentence : sentences)
    std::printf("  %s\n", sentence.c_str());
  return 0;
}

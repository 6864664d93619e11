// make bench-fleet: measures the cost of the rollout itself. Uses three real members of etcd with
// mutual TLS, and the real fleet-controller. A node is only the part of fleet-agent that decides
// (SimNode). The time in which a real machine fetches, starts and observes a version is left out.
// usage: bench BUILD NODES...              prints a row of a table for each number of nodes
//        bench BUILD cell SECONDS NODES    prints a row for each part of a cell's life, among them
//                                          SECONDS without any order: see bench_cell.h
// Rows: H-70
#include <curl/curl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/together/fleet/bench_bed.h"
#include "tests/together/fleet/bench_cell.h"

namespace fleet::test {
namespace {

// The limits for the cost of a rollout: see fleet/SCALE.md.
constexpr double writes_a_node_max = 12;
constexpr double gap_ms_max = 50;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

void measure_rollout(const std::string& build, std::size_t count) {
  BenchBed bed(build, count);
  const std::size_t batch = std::clamp<std::size_t>(count / 10, 1, 1'000);
  bed.publish("1.1.0");
  auto begins = Clock::now();
  bed.enter();
  std::fprintf(stderr, "%zu nodes have entered after %.1f s\n", count, seconds_since(begins));
  bed.start_controller("c1");
  const Revision before = bed.revision();
  const std::uint64_t writes = bed.crowd().sum(&CrowdCounts::writes);
  const std::uint64_t questions = bed.crowd().sum(&CrowdCounts::questions);
  begins = Clock::now();
  bed.start_rollout("r", "1.1.0", batch);
  bed.until([&bed] { return bed.state("r") == RolloutState::completed; });
  const double took_s = seconds_since(begins);
  const auto all = static_cast<double>(bed.revision() - before);
  const auto by_nodes = static_cast<double>(bed.crowd().sum(&CrowdCounts::writes) - writes);
  const auto asked = static_cast<double>(bed.crowd().sum(&CrowdCounts::questions) - questions);
  const ProcessUse cost = use_of(bed.controllers().at("c1")->pid());
  const double gap_ms = bed.crowd().median_gap_ms(batch);
  const auto n = static_cast<double>(count);
  std::printf("| %zu | %zu | %.1f | %.2f | %.2f | %.2f | %.2f | %.1f | %.1f | %ld |\n", count,
              batch, took_s, all / n, by_nodes / n, (all - by_nodes) / n, asked / n,
              cost.processor_ms / n, gap_ms, cost.most_memory_kib / 1'024);
  const bool met = all / n <= writes_a_node_max && gap_ms < gap_ms_max;
  std::printf(
      "result: fleet | make bench-fleet NODES=%zu | %zu nodes: %.2f writes a node, %.1f ms of the"
      " controller's processor a node, %.1f ms between batches (median) | at most 12 writes a"
      " node, under 50 ms between batches | %s\n",
      count, count, all / n, cost.processor_ms / n, gap_ms, met ? "met" : "not met");
  std::fflush(stdout);
  if (const auto troubles = bed.crowd().sum(&CrowdCounts::troubles); troubles != 0)
    std::fprintf(stderr, "%zu times a node lost the store\n", static_cast<std::size_t>(troubles));
}

// Runs the measurement in a child process, which exits without running destructors.
bool in_child(const auto& deed) {
  const pid_t child = fork();
  if (child == 0) {
    deed();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}

int measure(int argc, char** argv) {
  const auto number = [argv](int i) -> std::size_t { return std::strtoul(argv[i], nullptr, 10); };
  curl_global_init(CURL_GLOBAL_DEFAULT);
  if (argc == 5 && std::strcmp(argv[2], "cell") == 0) {
    const auto rest = std::chrono::seconds(number(3));
    return in_child([&] { measure_cell(argv[1], rest, number(4)); }) ? 0 : 1;
  }
  std::puts(
      "| nodes | a batch | whole s | writes a node | by nodes | by driver | questions a node "
      "| controller ms a node | gap ms | controller MiB |");
  std::puts("|---|---|---|---|---|---|---|---|---|---|");
  std::fflush(stdout);
  for (int i = 2; i < argc; ++i) {
    if (!in_child([&] { measure_rollout(argv[1], number(i)); })) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace fleet::test

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], fleet::test::crowd_word) == 0)
    return fleet::test::crowd_main(argc, argv);
  if (argc < 3) {
    std::fputs("usage: bench BUILD NODES...\n       bench BUILD cell SECONDS NODES\n", stderr);
    return 2;
  }
  return fleet::test::measure(argc, argv);
}

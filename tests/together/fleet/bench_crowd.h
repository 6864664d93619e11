// Simulated nodes for benchmarks. The nodes run in several processes, since one process may not
// open enough descriptors for all of them. The processes keep their counters in memory that they
// share with the benchmark.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fleet/store/http2.h"

namespace fleet::test {

// The counters of one process that simulates nodes. `connected` may fall; all other counters only
// grow.
struct CrowdCounts {
  std::atomic<std::uint64_t> registered{0};  // how many nodes have their records in the store
  std::atomic<std::uint64_t> connected{0};   // nodes that have a lease and follow the store
  // How many times a node has reached its desired version, added up over all nodes.
  std::atomic<std::uint64_t> wished{0};
  std::atomic<std::uint64_t> writes{0};
  // The number of transactions that compared revisions and wrote nothing.
  std::atomic<std::uint64_t> questions{0};
  std::atomic<std::uint64_t> renewals{0};  // how often a lease was renewed
  std::atomic<std::uint64_t> troubles{0};  // how often a node lost its connection to the store
};

// The times of one node in the current rollout, in nanoseconds of the steady clock. A time is 0
// until its event happens.
struct NodeTimes {
  std::atomic<std::int64_t> ordered{0};   // when the node got its first `prepare`
  std::atomic<std::int64_t> answered{0};  // when the store got the report of the completed upgrade
};

inline constexpr std::size_t crowd_processes_max = 64;

struct CrowdBoard {
  std::array<CrowdCounts, crowd_processes_max> processes;
};

class Crowd {
 public:
  // The maximum number of nodes in one process. A process can open only a limited number of
  // descriptors. A node needs three descriptors for each connection. If a connection breaks, the
  // node may have several connections for a moment.
  static constexpr std::size_t nodes_a_process = 1'000;

  struct Settings {
    std::size_t nodes = 0;
    int lease_s = 30;
    Certificates certificates = {};
    std::vector<std::string> endpoints = {};
  };

  // Starts the processes that simulate the nodes. The destructor ends these processes, and they
  // also end with the process that has started them.
  explicit Crowd(const Settings& settings);
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd();

  using Count = std::atomic<std::uint64_t> CrowdCounts::*;
  // Returns the sum of one counter over all processes.
  [[nodiscard]] std::uint64_t sum(Count count) const;
  [[nodiscard]] std::size_t processes() const { return pids_.size(); }
  void forget_times();
  // Returns how many nodes have completed their upgrade in the current rollout.
  [[nodiscard]] std::size_t answered() const;
  // Returns the median length of the gaps between batches of the current rollout, in milliseconds.
  // A gap begins when all nodes of a batch have completed their upgrade, and ends when the first
  // node of the next batch gets an order. Returns 0 if there was no gap.
  [[nodiscard]] double median_gap_ms(std::size_t batch) const;

 private:
  int memory_;
  CrowdBoard* board_ = nullptr;
  std::span<NodeTimes> times_;
  std::vector<pid_t> pids_;
};

// The first argument of a process that simulates nodes. Such a process runs the benchmark's own
// program, which then calls crowd_main().
inline constexpr const char* crowd_word = "nodes";
[[nodiscard]] int crowd_main(int argc, char** argv);

}  // namespace fleet::test

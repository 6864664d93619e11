// Simulated nodes in processes of their own, for benches with more nodes than one process may have
// descriptors. The processes count in memory that they share with the bench.
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

// The counts of one process of nodes. All only grow, except `connected`.
struct CrowdCounts {
  std::atomic<std::uint64_t> registered{0};  // how many nodes have their records in the store
  std::atomic<std::uint64_t> connected{0};   // nodes that have their lease and follow the store
  // How many times a node has reached its desired version.
  std::atomic<std::uint64_t> wished{0};
  std::atomic<std::uint64_t> writes{0};
  // How many transactions only compared, and wrote nothing.
  std::atomic<std::uint64_t> questions{0};
  std::atomic<std::uint64_t> renewals{0};  // how often a lease was renewed
  std::atomic<std::uint64_t> troubles{0};  // how often a node lost its connection to the store
};

// The times of one node in the present rollout, in nanoseconds of the steady clock; 0 if it has not
// happened yet.
struct NodeTimes {
  std::atomic<std::int64_t> ordered{0};   // when the node got its first command to prepare
  std::atomic<std::int64_t> answered{0};  // when the node's last answer was in the store
};

inline constexpr std::size_t crowd_processes_max = 64;

struct CrowdBoard {
  std::array<CrowdCounts, crowd_processes_max> processes;
};

class Crowd {
 public:
  // The most nodes of one process, which may have a limited number of descriptors: each node has
  // about three.
  static constexpr std::size_t nodes_a_process = 2'500;

  struct Settings {
    std::size_t nodes = 0;
    int lease_s = 30;
    Certificates certificates = {};
    std::vector<std::string> endpoints = {};
  };

  // Starts the processes. They end with this object, or with this process.
  explicit Crowd(const Settings& settings);
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd();

  using Count = std::atomic<std::uint64_t> CrowdCounts::*;
  // Returns the sum over all processes.
  [[nodiscard]] std::uint64_t sum(Count count) const;
  [[nodiscard]] std::size_t processes() const { return pids_.size(); }
  void forget_times();
  // Returns how many nodes have given their last answer in the present rollout.
  [[nodiscard]] std::size_t answered() const;
  // Returns the median of the gaps between the batches of the last rollout in milliseconds: from
  // the last answer of a batch to the first order of the next one. 0 if there was no gap.
  [[nodiscard]] double median_gap_ms(std::size_t batch) const;

 private:
  int memory_;
  CrowdBoard* board_ = nullptr;
  std::span<NodeTimes> times_;
  std::vector<pid_t> pids_;
};

// The main program of a process of nodes, which Crowd starts with these arguments.
inline constexpr const char* crowd_word = "nodes";
[[nodiscard]] int crowd_main(int argc, char** argv);

}  // namespace fleet::test

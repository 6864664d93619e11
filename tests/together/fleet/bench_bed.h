// A cell for benchmarks: three real members of etcd, which use mutual TLS and sync each write to
// disk, real controllers, and simulated nodes that run in processes of their own.
#pragma once

#include <sys/types.h>
#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model/rollout_records.h"
#include "fleet/store/etcd_store.h"
#include "fleet/store/http2.h"
#include "fleet/store/mirror.h"
#include "fleet/store/uv_timers.h"
#include "tests/together/fleet/bench_crowd.h"
#include "tests/together/fleet/etcd_cluster.h"

namespace fleet::test {

// The processor time and the memory of one process.
struct ProcessUse {
  double processor_ms = 0;
  long memory_kib = 0;       // current memory, in KiB
  long most_memory_kib = 0;  // the maximum so far, in KiB
};

// Returns the processor time and the memory of a process on this machine. All values are 0 if the
// process does not exist.
[[nodiscard]] ProcessUse use_of(pid_t process);

// A running process of the real fleet-controller. The destructor kills it.
class RealController {
 public:
  RealController(const std::string& build, const std::vector<std::string>& endpoints,
                 const Certificates& who, const std::string& name,
                 const std::vector<std::string>& options = {});
  RealController(const RealController&) = delete;
  RealController& operator=(const RealController&) = delete;
  ~RealController();

  [[nodiscard]] pid_t pid() const { return process_; }
  void kill();

 private:
  pid_t process_ = -1;
};

class BenchBed {
 public:
  BenchBed(std::string build, std::size_t nodes);
  BenchBed(const BenchBed&) = delete;
  BenchBed& operator=(const BenchBed&) = delete;
  ~BenchBed() = default;  // does not close the loop: this process exits anyway

  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  [[nodiscard]] EtcdCluster& cluster() { return cluster_; }
  [[nodiscard]] Crowd& crowd() { return *crowd_; }
  [[nodiscard]] std::map<std::string, std::unique_ptr<RealController>>& controllers() {
    return controllers_;
  }

  // Starts the nodes. Waits until all nodes have registered in the cell and follow the store.
  void enter();
  void start_controller(const std::string& name);
  void publish(const std::string& version);
  // Runs fleetctl with these arguments. If fleetctl fails, ends the benchmark.
  void fleetctl(const std::string& arguments);
  // Begins a rollout over all nodes, in batches of this size and in the order of the nodes' names.
  // In any other order of nodes, the judge would compare the nodes and add ten seconds to each
  // batch.
  void start_rollout(const std::string& name, const std::string& version, std::size_t batch);

  // Runs the loop until the condition holds.
  template <class Condition>
  void until(const Condition& condition) {
    while (!condition())
      uv_run(&loop_, UV_RUN_ONCE);
  }
  void wait(std::chrono::milliseconds time);

  // Returns the store's revision. Each transaction that writes raises the revision by one.
  [[nodiscard]] Revision revision();
  // Returns the state of a rollout. If the rollout is aborted or paused, prints the reason and ends
  // the benchmark.
  [[nodiscard]] RolloutState state(const std::string& rollout);
  // Reads a record from the store. Returns its value, or an empty text if the record is absent.
  [[nodiscard]] std::string value(const std::string& key);

 private:
  [[nodiscard]] Reading read(const std::string& key);
  // Starts a timer that soon wakes the loop. The loop must check its condition again and again,
  // since the condition may depend on shared memory, and a change of that memory does not wake the
  // loop.
  void tick();

  std::string build_;
  std::size_t nodes_;
  EtcdCluster cluster_{3, EtcdCluster::Speech::tls, EtcdCluster::Peers::direct};
  uv_loop_t loop_{};
  UvTimers timers_{loop_};
  Certificates who_;
  std::unique_ptr<EtcdStore> mine_;
  std::unique_ptr<Timer> tick_;
  std::unique_ptr<Crowd> crowd_;
  std::map<std::string, std::unique_ptr<RealController>> controllers_;
};

}  // namespace fleet::test

// A cell for benches: three real members of etcd with mutual TLS and their syncs, real controllers,
// and simulated nodes in processes of their own.
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

// Real controllers for benches, and the processor time and memory of processes.
struct ProcessUse {
  double processor_ms = 0;
  long memory_kib = 0;       // the memory that the process has now
  long most_memory_kib = 0;  // the most memory that the process has had
};

// Returns the processor time and memory of a process of this machine; all are 0 if there is no such
// process.
[[nodiscard]] ProcessUse use_of(pid_t process);

// A process of the real fleet-controller. It ends with this object.
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
  ~BenchBed() = default;  // leaves the loop open: the process ends with this object

  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  [[nodiscard]] EtcdCluster& cluster() { return cluster_; }
  [[nodiscard]] Crowd& crowd() { return *crowd_; }
  [[nodiscard]] std::map<std::string, std::unique_ptr<RealController>>& controllers() {
    return controllers_;
  }

  // Starts the nodes, and waits until all of them have entered and follow the store.
  void enter();
  void start_controller(const std::string& name);
  void publish(const std::string& version);
  // Runs fleetctl with these arguments. Ends this process if it fails.
  void fleetctl(const std::string& arguments);
  // Begins a rollout over all nodes, in batches of this size and in the order of names. In any
  // other order the judge would look at each batch only after ten seconds.
  void start_rollout(const std::string& name, const std::string& version, std::size_t batch);

  // Runs the loop until the condition holds.
  template <class Condition>
  void until(const Condition& condition) {
    while (!condition())
      uv_run(&loop_, UV_RUN_ONCE);
  }
  void wait(std::chrono::milliseconds time);

  // Returns the store's revision, which grows by one with each transaction that writes.
  [[nodiscard]] Revision revision();
  // Returns the state of a rollout. Ends this process, with the reason, if it is aborted or paused.
  [[nodiscard]] RolloutState state(const std::string& rollout);
  // Returns the value of a record, or an empty text. Reads it from the store.
  [[nodiscard]] std::string value(const std::string& key);

 private:
  [[nodiscard]] Reading read(const std::string& key);
  // Starts a timer that turns the loop soon, since a condition may be about memory that other
  // processes change.
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

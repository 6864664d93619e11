// Keeps the two groups of nodes (cohorts) whose failures a rollout compares: the nodes that run the
// new version, and the control group, which runs the old one. A node is at risk while its failures
// would count. Finds the first failure of each such node from the nodes' reports, which may come
// late, twice or never. judge_evidence.h computes the evidence from these failures. Pure.
//
//     a report comes twice, or late      its sequence is not higher, so it is ignored
//     a report of a failure comes late   the failure counts from when it is known, never earlier
//     no report comes                    nothing happens; for a silent node, the caller uses fail()
//                                        or leave()
//     a counter falls                    the node has reset the counter, which counts from 0 again
//     a node fails again and again       only its first failure counts
//     a node has failed before it moved  the node is not compared, just as control nodes that have
//                                        failed are not at risk any more
//
// All times are of the driver's own clock. look() ignores the latest changes, so that the reports
// of both cohorts have had the same time to arrive.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "fleet/model/judge_evidence.h"
#include "fleet/model/time.h"

namespace fleet {

// look() counts a change only when it happened at least this long ago.
inline constexpr Ms judge_delay_ms = 90'000;
// A node is not compared in its first minute, since every program is busier just after its start.
inline constexpr Ms judge_first_ms = 60'000;

// A node's report about the failures of one component. The numbers in the reports only rise as long
// as the instance is the same.
struct FailureReport {
  std::string boot = {};
  std::string instance = {};
  std::int64_t sequence = 0;
  std::int64_t failures = 0;

  bool operator==(const FailureReport&) const = default;
};

enum class Cohort { fresh, control };

// The counts of one cohort, as of the last look().
struct CohortCount {
  std::int64_t nodes = 0;   // the nodes that were ever compared in this cohort
  std::int64_t failed = 0;  // how many of these nodes have failed; each counts once
  std::int64_t at_risk = 0;
  Ms node_ms = 0;  // the times at risk of all nodes together

  bool operator==(const CohortCount&) const = default;
};

class Cohorts {
 public:
  explicit Cohorts(double tolerate) : tolerate_(tolerate) {}
  // Continues from the findings of the controller that drove the rollout before: its evidence, and
  // the number of nodes of each cohort that have failed. The caller then enters all nodes again;
  // for a node that has failed, enter() gets `has_failed`.
  Cohorts(double tolerate, const Evidence& evidence, std::int64_t fresh_failed,
          std::int64_t control_failed);

  // Adds the node to this cohort from the time `at` on, and removes it from the other cohort.
  // `known` is the node's last report before `at`. A node that returns to a cohort counts once. If
  // `has_failed`, the node has failed since the rollout began, and is not compared.
  void enter(const std::string& node, Cohort cohort, Ms at, const FailureReport& known,
             bool has_failed);
  // Ends the node's time at risk without a failure: the node moves, goes back, or is silent
  // together with many others.
  void leave(const std::string& node, Ms at);
  // Notes a failure of the node. look() counts it only after judge_delay_ms.
  void fail(const std::string& node, Ms at);
  // Notes a report of the node. look() counts its failures only after judge_delay_ms.
  void report(const std::string& node, Ms at, const FailureReport& report);

  // Counts the changes that happened at least judge_delay_ms before `now`.
  void look(Ms now);

  // Returns the counts of this cohort, as of the last look().
  [[nodiscard]] const CohortCount& count(Cohort cohort) const;
  [[nodiscard]] const Evidence& evidence() const { return evidence_; }
  // Returns whether the node has failed, even if look() has not yet counted the failure.
  [[nodiscard]] bool has_failed(const std::string& node) const;

 private:
  enum class Change { enters, returns, leaves, fails };
  struct Node {
    Cohort cohort = Cohort::fresh;
    FailureReport last = {};
    bool is_over = false;  // the node is not at risk any more: it has failed or left
    bool failed = false;
  };
  struct Pending {
    Change change = Change::enters;
    Cohort cohort = Cohort::fresh;
  };
  // The order in which changes are counted: by time, and at the same moment by a hash of the node's
  // name, so that neither cohort always comes first.
  struct Order {
    Ms at = 0;
    std::uint64_t place = 0;
    std::uint64_t number = 0;

    auto operator<=>(const Order&) const = default;
  };

  void add(const std::string& node, Ms at, Pending what);
  void happen(const Pending& what);
  void pass_until(Ms at);
  [[nodiscard]] CohortCount& of(Cohort cohort) {
    return cohort == Cohort::fresh ? fresh_ : control_;
  }

  double tolerate_;
  Evidence evidence_;
  CohortCount fresh_;
  CohortCount control_;
  std::map<std::string, Node> nodes_;
  std::map<Order, Pending> pending_;
  std::uint64_t number_ = 0;
  Ms seen_until_ = 0;
};

}  // namespace fleet

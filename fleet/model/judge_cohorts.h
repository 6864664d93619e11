// The nodes whose failures are compared, those that run the new version and the control, and what
// they have reported. Turns reports, which come late, twice or never, into first failures among
// the nodes at risk, which is what evidence is made of (judge_evidence.h). Pure.
//
//     a report comes twice, or late      its sequence is not higher: it changes nothing
//     a report of a failure comes late   the failure is counted when it is known, never earlier
//     no report comes                    nothing happens; that the node is not heard at all is told
//                                        by silent() or leave()
//     a counter falls                    it was reset: it counts from 0
//     a node fails in a loop             it fails once
//     a node has failed before it moved  it is not compared: others like it are not at risk in the
//                                        control any more, either
//
// Everything counts at a time of the driver's own clock; a look uses what had happened a while
// before, so that reports of both cohorts have had the same time to arrive.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "fleet/model/judge_evidence.h"
#include "fleet/model/time.h"

namespace fleet {

// A look uses what had happened so long before.
inline constexpr Ms judge_delay_ms = 90'000;
// A node is not compared in the first minute after its start, when every program has more to do.
inline constexpr Ms judge_first_ms = 60'000;

// What a node says of one component since its version became active: numbers that only rise.
struct FailureReport {
  std::string boot = {};
  std::string instance = {};
  std::int64_t sequence = 0;
  std::int64_t failures = 0;

  bool operator==(const FailureReport&) const = default;
};

enum class Cohort { fresh, control };

// What has come of one cohort.
struct CohortCount {
  std::int64_t nodes = 0;   // that were ever at risk
  std::int64_t failed = 0;  // first
  std::int64_t at_risk = 0;
  Ms node_ms = 0;  // at risk, all together

  bool operator==(const CohortCount&) const = default;
};

class Cohorts {
 public:
  explicit Cohorts(double tolerate) : tolerate_(tolerate) {}

  // The node is at risk from `at` on, and has reported `known` until then. A node that was in the
  // other cohort has left that. Of a node that has failed since the rollout began, `has_failed`.
  void enter(const std::string& node, Cohort cohort, Ms at, const FailureReport& known,
             bool has_failed);
  // Not at risk any more, for another reason than a failure: it moves, goes back, or is not heard
  // at a time when many others are not heard, either.
  void leave(const std::string& node, Ms at);
  // It has not been heard for so long that this is a failure.
  void silent(const std::string& node, Ms at) { fail(node, at); }
  void report(const std::string& node, Ms at, const FailureReport& report);

  // Takes in what had happened judge_delay_ms before `now`.
  void look(Ms now);

  // As of the last look.
  [[nodiscard]] const CohortCount& count(Cohort cohort) const;
  [[nodiscard]] const Evidence& evidence() const { return evidence_; }
  // Whether the node has failed, whether or not that was looked at.
  [[nodiscard]] bool has_failed(const std::string& node) const;

 private:
  enum class Change { enters, leaves, fails };
  struct Node {
    Cohort cohort = Cohort::fresh;
    FailureReport last = {};
    bool is_over = false;  // has failed, or left
    bool failed = false;
  };
  struct Pending {
    Change change = Change::enters;
    Cohort cohort = Cohort::fresh;
  };
  // What happens at one moment happens in an order that has nothing to do with the cohorts.
  struct Order {
    Ms at = 0;
    std::uint64_t place = 0;
    std::uint64_t number = 0;

    auto operator<=>(const Order&) const = default;
  };

  void fail(const std::string& node, Ms at);
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

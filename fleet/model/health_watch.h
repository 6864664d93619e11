// This file counts the failures of one component on a node, and decides when the node measures the
// component and writes the record `health`. A rollout's judge compares the records `health` of many
// nodes (judge_watch.h). This file also parses the measures that the component reports about
// itself. It does no input or output.
//
// A run is the time in which a node takes part in a rollout's comparison of versions:
//
//     the run begins     when the new version of a rollout is active and soaks, or when a rollout
//                        asks this node of its control group for its health (record `control`)
//     the node measures  twice, so that each measure's change can be computed: after the first
//                        minute of the soak (or after half of a shorter soak), and at the end of
//                        the soak
//     the node writes    the record `health` at the beginning of the run, if the rollout compares
//                        its nodes; when the first failure is counted; and at the end of the soak
//
// So a node writes the record at most three times in each run, however often the component fails.
// Before a run nothing is measured and nothing is written, but failures are counted: a node that
// has failed before is not compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/node_ledger.h"
#include "fleet/model/node_records.h"
#include "fleet/model/time.h"

namespace fleet {

// A node measures its component for the first time this long after the beginning of the soak, since
// every program is busier just after its start.
inline constexpr Ms measure_first_ms = 60'000;

// A run: the time during which a node takes part in a rollout's comparison of versions. The node
// finds out its current run from its component's ledger (the file in which fleet-agent notes
// commands) and from the record `control`.
struct HealthRun {
  std::string id = {};  // id of the upgrade, or `run` of the record `control`; empty: no run
  // For a node of a control group: the rollout that asked the node to report its health. Empty for
  // a node that has moved to the new version.
  std::string by = {};
  Ms soak_ms = 0;
  bool judged = false;  // true: the rollout compares its nodes, so the record is written
  bool soaked = false;  // for a node that has moved: the soak of its new version is over

  bool operator==(const HealthRun&) const = default;
};

// Returns the current run of a component: the comparison of versions in which the component takes
// part now. If a rollout has upgraded the component, and the new version soaks (works for a time
// before it is confirmed) or has soaked, the run is about that upgrade, and its id is that of the
// upgrade. Otherwise the run is the one that the record `control` asks for. Returns a run without
// an id if there is no such record, either. `ledger` is null if the component has no ledger.
[[nodiscard]] HealthRun health_run_of(const NodeLedger* ledger,
                                      const std::optional<ControlWatch>& control);

class HealthWatch {
 public:
  // `measures` is true if the component reports measures about itself.
  HealthWatch(std::string boot_id, std::string instance, bool measures);

  // Each of these three functions counts one kind of failure: an exit of the component that nobody
  // ordered, a failed health check, or a fall-back to the old version.
  void ended() { ++counts_.ends; }
  void failed_health() { ++counts_.unhealthy; }
  void fell_back() { ++counts_.fallbacks; }
  // Notes which version of the component runs now.
  void runs(const std::string& version) { version_ = version; }

  // Notes in which run (HealthRun) the node takes part now.
  void look(const HealthRun& run, Ms now);

  // Returns whether the component has to be measured now. The caller then has to call measured(),
  // even if the measuring has failed.
  [[nodiscard]] bool is_to_measure(Ms now) const;
  void measured(std::vector<Measure> measures, const std::string& trouble, Ms now);

  // Returns whether nothing is left to measure: the current run (HealthRun) is over and its last
  // measures are known, or there is no run. Then only failures can still change the record
  // `health`.
  [[nodiscard]] bool is_settled(Ms now) const;

  // Returns the record `health` that this node should have in the store, or no value if it should
  // have none yet.
  [[nodiscard]] const std::optional<NodeHealth>& report() const { return report_; }

 private:
  struct Counts {
    std::int64_t ends = 0;
    std::int64_t unhealthy = 0;
    std::int64_t fallbacks = 0;

    [[nodiscard]] std::int64_t all() const { return ends + unhealthy + fallbacks; }
  };

  void begin(const HealthRun& run, Ms now);
  [[nodiscard]] bool is_over(Ms now) const;
  [[nodiscard]] std::vector<Measure> changes(std::vector<Measure> measures) const;
  void consider(Ms now);

  std::string boot_id_;
  std::string instance_;
  bool has_measures_;
  std::string version_;
  HealthRun run_;
  Ms began_ = 0;
  Counts counts_;           // all failures that this process has counted
  Counts counts_at_begin_;  // the counts when the node's comparison began
  bool has_begun_measuring_ = false;
  bool has_measured_end_ = false;
  // The measures from the first minute of the soak, or from the first half of a shorter soak.
  std::vector<Measure> first_;
  std::vector<Measure> last_;  // the measures at the end of the soak, with their changes
  std::string trouble_;
  std::int64_t sequence_ = 0;
  std::optional<NodeHealth> report_;
};

// ---- the measures

// Parses the measures that a component reports about itself: the output of a program, or the answer
// of a server, with one measure on each line. The output may contain any bytes.
//
//     NAME TYPE WORSE VALUE        latency gauge up 12.5
//     NAME TYPE VALUE              shown, but never judged, since WORSE is missing
//
// A NAME has lowercase letters, digits, dots and hyphens, TYPE is `counter` or `gauge`, WORSE is
// `up` or `down`, and VALUE is a number. Empty lines are ignored.

// At most this many bytes of a component's output are read.
inline constexpr std::size_t measure_bytes_max = 8'192;

struct MeasureLines {
  std::vector<Measure> measures = {};  // in the order of the lines, each name once
  // Which lines are bad, and why, such as `line 2 "a gauge x": "x" is no number`. Empty if all
  // lines are good.
  std::string trouble = {};
};

// Parses the output of a component. Leaves out bad lines, measures beyond the first measures_max,
// and bytes beyond measure_bytes_max; notes in `trouble` what was left out.
[[nodiscard]] MeasureLines read_measures(std::string_view output);

// Returns the number in a measure's string, or no value if the string is not a finite number.
[[nodiscard]] std::optional<double> measured_number(std::string_view text);

// Returns the number as a string that measured_number() reads back unchanged.
[[nodiscard]] std::string measured_text(double number);

}  // namespace fleet

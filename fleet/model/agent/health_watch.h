// This file watches the health of one component (a program that the fleet upgrades) on one node. It
// counts failures, and parses the measures: numbers that the component reports about itself, such
// as a latency. It decides when the node reads the measures, and when it writes the record
// `health`. This file does no input or output.
//
// A rollout compares the health of the nodes that have moved to the new version with the health of
// the control group: nodes that still run the old version (judge_watch.h). A run is the time in
// which one node is compared:
//
//     a run begins     on a node that has moved: with the soak, the time for which the new version
//                      must work before it is kept. On a node of the control group: when the
//                      rollout writes the record `control`, which asks the node for its health
//     measures         are read twice: one minute after the beginning of the run (or after half of
//                      the soak, if that is earlier), and at the end of the soak
//     `health`         is written at the beginning of the run (if the rollout compares nodes), at
//                      the first failure, and at the end of the soak
//
// So a node writes the record at most three times in a run, however often the component fails.
// Before a run, the node only counts failures: a node that has failed before its run is not
// compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/agent/node_ledger.h"
#include "fleet/model/records/node_records.h"
#include "fleet/model/records/time.h"

namespace fleet {

// The time from the beginning of a run to the first reading of the measures. The node waits for
// this time, since every program is busier just after its start.
inline constexpr Ms measure_first_ms = 60'000;

// A run: the time in which a node takes part in a rollout's comparison of versions. The current run
// follows from the component's ledger (the file in which fleet-agent notes commands) and from the
// record `control`.
struct HealthRun {
  // The id of the upgrade, or the member `run` of the record `control`. Empty if there is no run.
  std::string id = {};
  // For a node of a control group: the rollout that asked the node to report its health. Empty for
  // a node that has moved to the new version.
  std::string by = {};
  Ms soak_ms = 0;
  bool judged = false;  // the rollout compares nodes, so the record `health` is written
  bool soaked = false;  // for a node that has moved to the new version: the soak is over

  bool operator==(const HealthRun&) const = default;
};

// Returns the current run of a component. If a rollout has upgraded the component, and the new
// version soaks or has soaked, this is the run of that upgrade. Otherwise it is the run that the
// record `control` asks for. If there is no such record, returns a HealthRun with an empty id.
// `ledger` is null if the component has no ledger.
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
  // Records which version of the component runs now.
  void runs(const std::string& version) { version_ = version; }

  // Sets the current run, as health_run_of() returns it, and makes a new record `health` if there
  // is something to report.
  void look(const HealthRun& run, Ms now);

  // Returns whether the caller must read the component's measures now. The caller then calls
  // measured(), even if they could not be read: `trouble` says why some or all of them are missing.
  [[nodiscard]] bool is_to_measure(Ms now) const;
  void measured(std::vector<Measure> measures, const std::string& trouble, Ms now);

  // Returns true if there is no run, or if the run is over and its last measures are known. Until
  // the next run, only failures can then change the record `health`.
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
  Counts counts_at_begin_;  // `counts_` when the comparison of this node began
  bool has_begun_measuring_ = false;
  bool has_measured_end_ = false;
  // The measures from the first reading, soon after the beginning of the run.
  std::vector<Measure> first_;
  std::vector<Measure> last_;  // the measures at the end of the run, with their changes
  std::string trouble_;
  std::int64_t sequence_ = 0;
  std::optional<NodeHealth> report_;
};

// ---- the measures

// Parses the measures that a component reports about itself: the output of a program, or the answer
// of a server, with one measure on each line. The output may contain any bytes.
//
//     NAME TYPE WORSE VALUE        latency gauge up 12.5
//     NAME TYPE VALUE              shown to people, but not judged, since WORSE is missing
//
// A NAME has lowercase letters, digits, dots and hyphens, TYPE is `counter` or `gauge`, WORSE is
// `up` or `down`, and VALUE is a number. Empty lines are ignored.

// At most this many bytes of a component's output are read.
inline constexpr std::size_t measure_bytes_max = 8'192;

struct MeasureLines {
  std::vector<Measure> measures = {};  // in the order of the lines, each name once
  // The lines that were left out, and why, such as `line 2 "a gauge x": "x" is no number`. Empty if
  // no line was left out.
  std::string trouble = {};
};

// Parses the output of a component. Leaves out bad lines, measures beyond the first measures_max,
// and bytes beyond measure_bytes_max. The result's member `trouble` says what was left out.
[[nodiscard]] MeasureLines read_measures(std::string_view output);

// Returns the number in a measure's string, or no value if the string is not a finite number.
[[nodiscard]] std::optional<double> measured_number(std::string_view text);

// Returns the number as a string that measured_number() reads back unchanged.
[[nodiscard]] std::string measured_text(double number);

}  // namespace fleet

// Keeps the record `health` of one component up to date: gets the component's measures from a
// program or by HTTP, as an option of fleet-agent says, and writes the record that HealthWatch
// makes.
#pragma once

#include <uv.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fleet/agent/component.h"
#include "fleet/agent/hook_run.h"
#include "fleet/common/outside.h"
#include "fleet/model/health_watch.h"

namespace fleet {

// The source of a component's measures: `exec:PROGRAM ARGUMENT...` or `http:URL`.
struct MeasureSource {
  // The program and its arguments; empty if `url` is the source.
  std::vector<std::string> command = {};
  std::string url = {};

  bool operator==(const MeasureSource&) const = default;
};

// Parses a source. Returns no value if the text is not a source, or if its program has no absolute
// path.
[[nodiscard]] std::optional<MeasureSource> parse_measure_source(std::string_view text);

class HealthKeeper {
 public:
  // `sources` are asked for measures one after the other; the list may be empty.
  HealthKeeper(uv_loop_t& loop, NodeDesk& desk, std::string component,
               std::vector<MeasureSource> sources);
  HealthKeeper(const HealthKeeper&) = delete;
  HealthKeeper& operator=(const HealthKeeper&) = delete;
  // Breaks off a measurement that is under way; its result is lost.
  ~HealthKeeper() = default;

  [[nodiscard]] HealthWatch& watch() { return watch_; }

  // Finds out in which comparison of versions the component takes part, measures the component when
  // the next measurement is due, and writes the record `health` if its content has changed.
  // `ledger` is null as long as the component obeys no commands. Called at least once a second
  // while the node is active.
  void look(const NodeLedger* ledger);

 private:
  void measure();
  void take(const std::string& output, const std::string& trouble);
  void ask_next();

  uv_loop_t& loop_;
  NodeDesk& desk_;
  std::string component_;
  std::vector<MeasureSource> sources_;
  HealthWatch watch_;
  Outside outside_;
  // The sources that have not been asked yet. Empty while the last one is asked.
  std::vector<MeasureSource> waiting_;
  std::string output_;   // the output of the sources that have answered
  std::string trouble_;  // why some sources have failed
  std::unique_ptr<HookRun> run_;
  std::unique_ptr<Timer> soon_;
  bool is_measuring_ = false;
  std::int64_t written_ = 0;  // the number `sequence` in the record that was written last
};

}  // namespace fleet

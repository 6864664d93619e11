// Keeps the record `health` of one component up to date while a rollout compares versions. An
// option of fleet-agent names the sources of the component's measures, which are programs or URLs.
// This class asks the sources, passes the measures to HealthWatch, and writes the record that
// HealthWatch makes.
#pragma once

#include <uv.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fleet/agent/component.h"
#include "fleet/agent/hook_run.h"
#include "fleet/common/outside.h"
#include "fleet/model/agent/health_watch.h"

namespace fleet {

// A program or URL that reports a component's measures, such as a number of errors. People write it
// as `exec:PROGRAM ARGUMENT...` or `http:URL`.
struct MeasureSource {
  // The program and its arguments; empty if `url` is the source.
  std::vector<std::string> command = {};
  std::string url = {};

  bool operator==(const MeasureSource&) const = default;
};

// Parses a source. Returns no value if the text has another form, or if the path of its program is
// not absolute.
[[nodiscard]] std::optional<MeasureSource> parse_measure_source(std::string_view text);

class HealthKeeper {
 public:
  // The `sources` are asked for measures one after the other. If there are no sources, the record
  // `health` contains no measures.
  HealthKeeper(uv_loop_t& loop, NodeDesk& desk, std::string component,
               std::vector<MeasureSource> sources);
  HealthKeeper(const HealthKeeper&) = delete;
  HealthKeeper& operator=(const HealthKeeper&) = delete;
  // Aborts a measurement that is under way. Its result is lost.
  ~HealthKeeper() = default;

  [[nodiscard]] HealthWatch& watch() { return watch_; }

  // Updates the component's record `health` while a rollout compares nodes: begins a measurement
  // when one is due, and writes the record when its content has changed. Called at least once a
  // second while this process is the node's active fleet-agent. `ledger` (the commands that were
  // begun) is null until the component obeys commands.
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
  // the sources that this measurement has not asked yet
  std::vector<MeasureSource> waiting_;
  std::string output_;   // the output of the sources that have answered
  std::string trouble_;  // why some sources have failed
  std::unique_ptr<HookRun> run_;
  std::unique_ptr<Timer> soon_;
  bool is_measuring_ = false;
  std::int64_t written_ = 0;  // the `sequence` of the record that was written last
};

}  // namespace fleet

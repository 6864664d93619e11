// Watches a new version during an upgrade of a neighbour (a component with an upgrader other than
// fleet-agent's). If the version fails, gathers the evidence: how long it ran, how much memory and
// processor time it used, and its last lines of output. Only agentify, the adapter for unchanged
// daemons, saves these lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent-protocol/cpp/control/control_directory.h"
#include "fleet/model/agent/capsule.h"

namespace fleet {

// The memory and the processor time that a process and its descendants have used so far.
struct ProcessUse {
  std::optional<std::int64_t> peak_kib = {};  // the peak memory of each process, added up
  std::optional<std::int64_t> cpu_ms = {};
};

class FailureWatch {
 public:
  struct Places {
    std::string control = {};   // the path of the control directory of the neighbour's upgrader
    std::string releases = {};  // the path of the directory with the neighbour's releases
    std::string name = {};      // the name with which the file names of these releases begin
  };

  FailureWatch(Places places, EvidenceLevel level) : places_(std::move(places)), level_(level) {}

  // Begins to watch an upgrade from the version `from` to the version `to`. Ignores the daemon's
  // output that agentify saved before this call: that output belongs to an earlier failure.
  void begin(const std::string& from, const std::string& to);
  // Measures the memory and the processor time of the new version's process. The caller repeats
  // this while the upgrade is under way, since the values are lost when the process exits.
  void see(const std::optional<upgraderctl::AgentStatus>& agent);
  // Returns the evidence for this ending of the upgrade: at most one capsule (a short summary of a
  // failure). Returns no capsule if the upgrade was committed, or if the option --evidence of this
  // node forbids evidence.
  [[nodiscard]] std::vector<Capsule> evidence_of(const upgraderctl::Ending& ending) const;

  [[nodiscard]] EvidenceLevel level() const { return level_; }

 private:
  [[nodiscard]] std::string last_words() const;
  [[nodiscard]] ListedVersion listed(const std::string& version) const;

  Places places_;
  EvidenceLevel level_;
  upgraderctl::ControlDirectory control_{places_.control};
  // the last lines of output that were saved before this upgrade, which do not belong to it
  std::optional<upgraderctl::LastWords> words_before_;
  std::string from_;  // the old and the new version; empty if an earlier process began the upgrade
  std::string to_;
  std::int64_t pid_ = 0;
  std::optional<upgraderctl::Moment> started_;
  ProcessUse use_;
};

}  // namespace fleet

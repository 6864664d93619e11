// Watches the new version during an upgrade of a neighbour, and gathers the evidence if the version
// fails: how long its process ran, how much memory and processor time it used, and the end of its
// output, which agentify has kept. A neighbour is a component with an upgrader of its own, beside
// fleet-agent's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent-protocol/cpp/control/control_directory.h"
#include "fleet/model/capsule.h"

namespace fleet {

// Measures how much memory and processor time a process and its descendants have used so far.
struct ProcessUse {
  std::optional<std::int64_t> peak_kib = {};  // the peak memory of each process, added up
  std::optional<std::int64_t> cpu_ms = {};
};

// Reads /proc. A value is absent if the process has gone or /proc does not show it. Reads at most
// 64 processes. Of children that have ended, only the processor time is known.
[[nodiscard]] ProcessUse use_of_process(std::int64_t pid);

class FailureWatch {
 public:
  struct Places {
    std::string control = {};   // the path of the control directory of the neighbour's upgrader
    std::string releases = {};  // the path of the directory with the neighbour's releases
    std::string name = {};      // NAME, with which the names of these releases begin
  };

  FailureWatch(Places places, EvidenceLevel level) : places_(std::move(places)), level_(level) {}

  // Begins to watch another upgrade. Output that agentify saved before this call belongs to an
  // earlier failure, and is ignored.
  void begin(const std::string& from, const std::string& to);
  // Measures the memory and the processor time of the new version's process. Must be called again
  // and again while the upgrade is under way.
  void see(const std::optional<upgraderctl::AgentStatus>& agent);
  // Returns the evidence for this ending of the upgrade: at most one capsule (a short summary of a
  // failure). Returns none if the upgrade was committed or this node's settings forbid evidence.
  [[nodiscard]] std::vector<Capsule> evidence_of(const upgraderctl::Ending& ending) const;

  [[nodiscard]] EvidenceLevel level() const { return level_; }

 private:
  [[nodiscard]] std::string last_words() const;
  [[nodiscard]] ListedVersion listed(const std::string& version) const;

  Places places_;
  EvidenceLevel level_;
  upgraderctl::ControlDirectory control_{places_.control};
  // The daemon's last lines of output that were already saved when this upgrade began.
  std::optional<upgraderctl::LastWords> words_before_;
  std::string from_;  // the old and the new version; empty if an earlier process began the upgrade
  std::string to_;
  std::int64_t pid_ = 0;
  std::optional<upgraderctl::Moment> started_;
  ProcessUse use_;
};

}  // namespace fleet

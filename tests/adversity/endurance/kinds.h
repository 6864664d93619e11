// The kinds of upgrades in the endurance run: one kind for good upgrades, and one for each way in
// which an upgrade can go wrong. Each kind says how its upgrades must end.
#pragma once

#include <string>
#include <vector>

namespace endurance {

enum class End { committed, kept, fallback };

std::string words(End end);

struct Kind {
  // The name of this kind of upgrade. The name becomes a part of the upgrade's id, and tells the
  // active agent how to stop for this upgrade: cleanly, uncleanly, or not at all.
  const char* name;
  const char* part;  // how the candidate behaves: see tests/adversity/kill/actor.cc
  const char* members;
  End parallel;
  End sequential;
  bool parallel_only;
  bool refused;  // the upgrader refuses the request, and starts no candidate
};

struct Upgrade {
  const Kind* kind;
  bool sequential;
  std::string id;

  [[nodiscard]] End end() const { return sequential ? kind->sequential : kind->parallel; }
  [[nodiscard]] bool bad() const { return end() != End::committed; }
  // Returns the message with which an agent requests this upgrade. The executables of the agents
  // are in `directory`.
  [[nodiscard]] std::string request(const std::string& directory) const;
};

// Returns the upgrade with this number. Each number stands for the same upgrade in every run. Seven
// of ten upgrades are good. Parallel and sequential upgrades alternate.
Upgrade upgrade_of(std::size_t number);

}  // namespace endurance

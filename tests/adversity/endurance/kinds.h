// The kinds of upgrades in the endurance run: one for good upgrades, and one for everything that
// can go wrong. Each kind says how its upgrades must end.
#pragma once

#include <string>
#include <vector>

namespace endurance {

enum class End { committed, kept, fallback };

std::string words(End end);

struct Kind {
  // The name of the kind. It is a part of the upgrade's id, from which the active agent learns how
  // it is to stop.
  const char* name;
  const char* part;  // how the candidate behaves: see tests/adversity/kill/actor.cc
  const char* members;
  End parallel;
  End sequential;
  bool parallel_only;
  bool refused;  // the request is refused before anything is started
};

struct Upgrade {
  const Kind* kind;
  bool sequential;
  std::string id;

  [[nodiscard]] End end() const { return sequential ? kind->sequential : kind->parallel; }
  [[nodiscard]] bool bad() const { return end() != End::committed; }
  // Returns the line that requests the upgrade; `directory` holds the agents.
  [[nodiscard]] std::string request(const std::string& directory) const;
};

// Returns the upgrade with a given number. Seven of ten are good, by turns parallel and sequential.
Upgrade upgrade_of(std::size_t number);

}  // namespace endurance

// The kinds of upgrades of the endurance run: good ones, and everything that goes wrong, each with
// how it must end.
#pragma once

#include <string>
#include <vector>

namespace endurance {

enum class End { committed, kept, fallback };

std::string words(End end);

struct Kind {
  const char* name;  // of it, and in the upgrade's id: there the active agent sees how to stop
  const char* part;  // of the candidate: see tests/adversity/kill/actor.cc
  const char* members;
  End parallel;
  End sequential;
  bool parallel_only;
  bool refused;  // before anything is started
};

// The upgrade with this number: seven of ten are good, in both modes by turns.
struct Upgrade {
  const Kind* kind;
  bool sequential;
  std::string id;

  [[nodiscard]] End end() const { return sequential ? kind->sequential : kind->parallel; }
  [[nodiscard]] bool bad() const { return end() != End::committed; }
  // The line that asks for it; `directory` holds the agents.
  [[nodiscard]] std::string request(const std::string& directory) const;
};

Upgrade upgrade_of(std::size_t number);

}  // namespace endurance

// The kinds of upgrades in the endurance run, each with the way in which it must end: good ones,
// and one for everything that can go wrong.
#pragma once

#include <string>
#include <vector>

namespace endurance {

enum class End { committed, kept, fallback };

std::string words(End end);

struct Kind {
  // The name of the kind. The upgrade's id contains it, and so tells the active agent how to stop.
  const char* name;
  const char* part;  // how the candidate behaves: see tests/adversity/kill/actor.cc
  const char* members;
  End parallel;
  End sequential;
  bool parallel_only;
  bool refused;  // the request is refused before anything is started
};

// The upgrade with a given number. Seven of ten are good, in parallel and sequential mode by turns.
struct Upgrade {
  const Kind* kind;
  bool sequential;
  std::string id;

  [[nodiscard]] End end() const { return sequential ? kind->sequential : kind->parallel; }
  [[nodiscard]] bool bad() const { return end() != End::committed; }
  // Returns the line that requests the upgrade; `directory` holds the agents.
  [[nodiscard]] std::string request(const std::string& directory) const;
};

Upgrade upgrade_of(std::size_t number);

}  // namespace endurance

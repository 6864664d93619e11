// walk() visits every state that a simulation can reach, depth first. The simulation is a class
// whose objects can be copied, with these functions:
// * steps() returns the steps that are possible now, and make(step) makes one of them;
// * words() returns a text that describes the whole state;
// * wrong() returns the first fault so far, or an empty text;
// * wrong_end() returns a fault of a state without possible steps, or an empty text;
// * end() returns a name for the way in which the simulation has ended.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fleet_test {

struct Walk {
  std::string wrong;  // the first fault, or an empty text
  std::size_t states = 0;
  // For each name of an end that World::end() returns, how often the walk has reached this end. An
  // end is a state without possible steps.
  std::map<std::string, std::size_t> ends;

  // Returns the fault or, if there is none, the names of all ends, with `, or ` between them.
  [[nodiscard]] std::string outcome() const {
    if (!wrong.empty()) return wrong;
    std::string text;
    for (auto end = ends.begin(); end != ends.end(); ++end)
      text += (end == ends.begin() ? "" : ", or ") + end->first;
    return text;
  }
};

// The number of visited states, added up over all walks in this program that found no fault.
inline std::size_t states_walked = 0;

// Visits all states that can be reached from `first`. A cycle of steps, which leads from a state
// back to this state, is a fault: the simulation could follow the cycle for ever.
template <class World>
Walk walk(const World& first) {
  struct Frame {
    World world;
    decltype(first.steps()) steps;
    std::size_t next;
    std::size_t hash;
  };
  Walk result;
  // For each visited state, by its hash: true as long as the state is on the path to the current
  // state.
  std::unordered_map<std::size_t, bool> open;
  std::vector<Frame> stack;
  const auto enter = [&](World world) {
    if (result.wrong.empty()) result.wrong = world.wrong();
    const std::size_t hash = std::hash<std::string>{}(world.words());
    const auto [seen, is_new] = open.emplace(hash, true);
    if (!is_new) {
      if (seen->second && result.wrong.empty()) result.wrong = "it may go round for ever";
      return;
    }
    auto steps = world.steps();
    if (steps.empty()) {
      ++result.ends[world.end()];
      if (result.wrong.empty()) result.wrong = world.wrong_end();
    }
    stack.push_back({std::move(world), std::move(steps), 0, hash});
  };
  enter(first);
  while (!stack.empty() && result.wrong.empty()) {
    Frame& top = stack.back();
    if (top.next == top.steps.size()) {
      open[top.hash] = false;
      stack.pop_back();
      continue;
    }
    const auto step = top.steps[top.next++];
    World next = top.world;
    next.make(step);
    enter(std::move(next));
  }
  result.states = open.size();
  if (result.wrong.empty()) states_walked += result.states;
  return result;
}

}  // namespace fleet_test

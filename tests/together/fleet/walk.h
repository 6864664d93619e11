// Walks through every state that a world can reach, depth first. A world is a value with the
// functions steps(), make(step), words(), wrong(), wrong_end() and end(), which names the world's
// end.
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
  std::string wrong;  // the first broken rule in words; empty if none was broken
  std::size_t states = 0;
  // The number of times that the walk has reached a world without possible steps, by the name that
  // World::end() gives.
  std::map<std::string, std::size_t> ends;
};

// The sum of the states of all walks in this program that found nothing wrong.
inline std::size_t states_walked = 0;

// Walks through all states. If steps lead from a state back to the same state, that is a fault,
// since a world could take these steps for ever.
template <class World>
Walk walk(const World& first) {
  struct Frame {
    World world;
    decltype(first.steps()) steps;
    std::size_t next;
    std::size_t hash;
  };
  Walk result;
  // For each state, by its hash: true while the walk follows the steps from this state.
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

// Chance that a seed repeats: splitmix64, which is small, fast, and the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace upgrader::simulation {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31U);
  }

  // From 0 to `limit` - 1.
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }
  // Both ends included.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(below(static_cast<std::size_t>(most - least + 1)));
  }
  // True `percent` times in a hundred.
  bool chance(int percent) { return static_cast<int>(below(100)) < percent; }

  template <class Value>
  const Value& one_of(const std::vector<Value>& values) {
    return values[below(values.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace upgrader::simulation

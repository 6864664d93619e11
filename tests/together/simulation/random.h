// Random numbers that are the same for the same seed, on every machine: splitmix64, which is small
// and fast.
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

  // Returns a number from 0 to `limit` - 1.
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }
  // Returns a number from `least` to `most`, both included.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(below(static_cast<std::size_t>(most - least + 1)));
  }
  // Returns true with a probability of `percent` per cent.
  bool chance(int percent) { return static_cast<int>(below(100)) < percent; }

  template <class Value>
  const Value& one_of(const std::vector<Value>& values) {
    return values[below(values.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace upgrader::simulation

// The maps of the exploration, one for each policy, and what of them has been visited. What is
// counted: an edge is a state of V1, as the exploration tells states apart, and an event of one
// kind by one speaker, with the outcomes that it asked for.
//
// The exploration lets anything happen in any state. The shell does not, and so no simulation of it
// can: an agent's last words and stray output are followed by its exit and nothing else (IO-2);
// nothing is told after the upgrader's end; no deadline is judged that has not passed; an
// `activate` is lost only to an agent that was sent one; and a request that contradicts itself
// (`healthy` with a trial of 0) is malformed to the codec. What is left are the edges that the
// shell allows.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/decisions/explore/explorer.h"
#include "tests/together/simulation/judge.h"

namespace upgrader::simulation {

// A hash of 64 bits. That two of different things are equal is about 10^-12 likely.
using Key = std::uint64_t;

// From keys to numbers; filled once.
class KeyTable {
 public:
  static constexpr std::uint32_t nothing = 0xffffffff;
  void reserve(std::size_t count);
  // False if it is there already.
  bool add(Key key, std::uint32_t value);
  [[nodiscard]] std::uint32_t find(Key key) const;

 private:
  struct Slot {
    Key key = 0;
    std::uint32_t value = nothing;
  };
  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
};

[[nodiscard]] Key longer(Key key, test::EventClass step);

struct Sheet {
  test::Map map;
  KeyTable places;                        // by key
  KeyTable edges;                         // by key of the place and the steps: index of move
  std::vector<bool> allowed;              // moves that the shell allows
  std::vector<bool> place_allowed;        // places that it can come to
  std::vector<std::uint32_t> first_move;  // of each place, and one behind

  // A way to a place, backwards: the last move, and whose last words came before it.
  struct Way {
    std::uint32_t move = KeyTable::nothing;
    test::Speaker dying = test::Speaker::nobody;
  };
  // The shortest ways, and then those that are shortest where moves are of different lengths, by
  // chance: what cannot be done on one way can be avoided on another.
  static constexpr std::size_t choices = 12;
  std::array<std::vector<Way>, choices> ways;
  [[nodiscard]] const Way& way(std::uint32_t place, test::Speaker dying, std::size_t choice) const {
    return ways[choice][std::size_t{place} * 4 + static_cast<std::size_t>(dying)];
  }
  [[nodiscard]] bool is_reached(std::uint32_t place, test::Speaker dying) const {
    const bool at_start = place == 0 && dying == test::Speaker::nobody;
    return at_start || way(place, dying, 0).move != KeyTable::nothing;
  }
  std::set<std::pair<Phase, std::size_t>> cells;
};

class Atlas {
 public:
  Atlas();
  [[nodiscard]] const Sheet& sheet(int policy) const { return *sheets_[index(policy)]; }

 private:
  static std::size_t index(int policy) { return static_cast<std::size_t>(policy); }
  std::vector<std::unique_ptr<Sheet>> sheets_;
};

// True if the shell can deliver this event in this place, given whose last words were just heard.
[[nodiscard]] bool is_possible(const test::Map::Place& place, test::EventClass event,
                               test::Speaker dying);
// Whose last words it is, or nobody's.
[[nodiscard]] test::Speaker dies_in(test::EventClass event);

// What has been visited: bytes in memory that processes share.
class Visits {
 public:
  explicit Visits(const Atlas& atlas);
  ~Visits();
  Visits(const Visits&) = delete;
  Visits& operator=(const Visits&) = delete;

  void mark_place(int policy, std::uint32_t place) { at(policy, place) = 1; }
  void mark_edge(int policy, std::uint32_t move) { at(policy, places(policy) + move) = 1; }
  void mark_cell(int policy, Phase phase, std::size_t event);

  // True if this move is allowed and has not been made.
  [[nodiscard]] bool is_missed(int policy, std::uint32_t move) const;
  // How many there are of these from a place.
  [[nodiscard]] std::size_t missed_from(int policy, std::uint32_t place) const;

  struct Share {
    std::uint64_t all = 0, all_visited = 0;          // of the exploration
    std::uint64_t allowed = 0, allowed_visited = 0;  // of what the shell allows
  };
  [[nodiscard]] Share states() const;
  [[nodiscard]] Share edges() const;
  [[nodiscard]] Share cells() const;
  // For people: the kinds of events whose allowed edges were missed most.
  [[nodiscard]] std::string missed(std::size_t kinds_max) const;

 private:
  [[nodiscard]] std::size_t places(int policy) const;
  [[nodiscard]] std::uint8_t& at(int policy, std::size_t offset) const;

  const Atlas& atlas_;
  std::vector<std::size_t> begins_;
  std::size_t size_ = 0;
  std::uint8_t* bytes_ = nullptr;
};

// Follows a run on the map.
class Follower : public Tracker {
 public:
  Follower(const Atlas& atlas, Visits* visits) : atlas_(atlas), visits_(visits) {}

  void begin(const Policy& policy, Duration exit_grace);
  void before(const Supervisor& supervisor, const Event& event, Time now) override;
  void after(const Supervisor& supervisor, const test::Watcher& watcher) override;

  // Where the run is, or KeyTable::nothing.
  [[nodiscard]] std::uint32_t place() const { return place_; }
  [[nodiscard]] std::optional<int> policy() const { return policy_; }

 private:
  const Atlas& atlas_;
  Visits* visits_;  // or null
  std::optional<int> policy_;
  Key key_ = 0;    // of the state
  Key chain_ = 0;  // and of the steps since
  bool known_ = false;
  bool begins_ = false;
  std::uint32_t place_ = KeyTable::nothing;
};

}  // namespace upgrader::simulation

// The exploration's maps of the supervisor's states, and a record of the states and moves that runs
// of the simulation have visited. There is one map for each policy, which is a set of the
// upgrader's options. The places of a map are the states of the supervisor. A move, also called an
// edge, is a pair of a state and an event. A move is counted once, even if many runs make it.
//
// The exploration's rules decide which states are equal. Two events are equal if they are of the
// same kind and about the same agent, and if the actions that the supervisor then orders have the
// same outcomes.
//
// In the exploration, any event may happen in any state. A run of the simulation makes only the
// moves that are possible with the code in upgrader/shell, which keeps these rules:
// * Last words are messages of an agent that are read only after its exit. After the first of them,
//   only these events may come before the agent's exit is reported (rule IO-2): its other last
//   words, its stray output, and events of agents that the supervisor does not know.
// * No event follows the upgrader's end.
// * No deadline is reported to the supervisor before the deadline has passed.
// * The event ActivateWritten comes only for an `activate` that has waited to be written.
// * The codec refuses a request that contradicts itself (`healthy` with a trial of 0) as malformed.
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

// A hash of 64 bits, the key of a state or a move. If there are ten million moves, the probability
// that a given move has the same key as another move is about 10^-12.
using Key = std::uint64_t;

// A table from keys to numbers, which is filled only once.
class KeyTable {
 public:
  static constexpr std::uint32_t nothing = 0xffffffff;
  void reserve(std::size_t count);
  // Adds the key with its number. Returns false if the table has the key already.
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
  // The index of each place of the map, by the key of the supervisor's state in that place.
  KeyTable places;
  // The index of each move, by a key. The key combines the place where the move begins, the move's
  // event, and the outcomes of the actions that the supervisor orders after this event.
  KeyTable edges;
  std::vector<bool> allowed;        // for each move, whether the code in upgrader/shell allows it
  std::vector<bool> place_allowed;  // for each place, whether allowed moves reach it
  // For each place, the index of the first move that leads from this place. The last element is the
  // number of all moves.
  std::vector<std::uint32_t> first_move;

  // The last move of a way, which is a sequence of moves from the supervisor's first state to
  // another state. `move` is the index of that move. `dying` is an agent that has exited, and whose
  // remaining messages must be read before that move; `nobody` if there is no such agent.
  struct LastMove {
    std::uint32_t move = KeyTable::nothing;
    test::Speaker dying = test::Speaker::nobody;
  };
  // The shortest ways from the supervisor's first state to each other state, as found by `choices`
  // searches. Of each way, only the last move is stored. In search 0, all moves are equally long.
  // In the other searches the lengths are random, so that a run that has failed on one way can try
  // another way.
  static constexpr std::size_t choices = 12;
  std::array<std::vector<LastMove>, choices> ways;
  [[nodiscard]] const LastMove& way(std::uint32_t place, test::Speaker dying,
                                    std::size_t choice) const {
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

// Returns true if the code in upgrader/shell can deliver this event in this state of the supervisor
// (a place of the map). If the previous event was one of an agent's last words (messages that are
// read only after its exit), `dying` is this agent, and otherwise `nobody`.
[[nodiscard]] bool is_possible(const test::Map::Place& place, test::EventClass event,
                               test::Speaker dying);
// Returns the agent if this event is one of an agent's last words (messages that are read only
// after its exit), and otherwise `nobody`.
[[nodiscard]] test::Speaker dies_in(test::EventClass event);

// Records which places (states), moves, and cells (pairs of a phase and an event) of the
// exploration's maps the runs have visited. All processes of the simulation share the memory of
// this record.
class Visits {
 public:
  explicit Visits(const Atlas& atlas);
  ~Visits();
  Visits(const Visits&) = delete;
  Visits& operator=(const Visits&) = delete;

  void mark_place(int policy, std::uint32_t place) { at(policy, place) = 1; }
  void mark_edge(int policy, std::uint32_t move) { at(policy, places(policy) + move) = 1; }
  void mark_cell(int policy, Phase phase, std::size_t event);

  // Returns true if the code in upgrader/shell allows this move, but no run has made it.
  [[nodiscard]] bool is_missed(int policy, std::uint32_t move) const;
  // Returns how many of the moves that begin in this state (place of the map) are allowed by the
  // code in upgrader/shell, but were made by no run.
  [[nodiscard]] std::size_t missed_from(int policy, std::uint32_t place) const;

  struct Share {
    // How many states, moves or cells the maps have, and how many of them the runs have visited. A
    // cell is a pair of a phase and an event.
    std::uint64_t all = 0, all_visited = 0;
    // How many states, moves or cells the code in upgrader/shell allows, and how many of these the
    // runs have visited.
    std::uint64_t allowed = 0, allowed_visited = 0;
  };
  [[nodiscard]] Share states() const;
  [[nodiscard]] Share edges() const;
  [[nodiscard]] Share cells() const;
  // Returns a text for people about missed moves: the kinds of events that have the most missed
  // moves, at most `kinds_max` kinds, each with its number.
  [[nodiscard]] std::string missed(std::size_t kinds_max) const;

 private:
  [[nodiscard]] std::size_t places(int policy) const;
  [[nodiscard]] std::uint8_t& at(int policy, std::size_t offset) const;

  const Atlas& atlas_;
  std::vector<std::size_t> begins_;
  std::size_t size_ = 0;
  std::uint8_t* bytes_ = nullptr;
};

// Follows a run on the map: finds the place for each state of the run's supervisor, and marks the
// moves that the run makes.
class Follower : public Tracker {
 public:
  Follower(const Atlas& atlas, Visits* visits) : atlas_(atlas), visits_(visits) {}

  void begin(const Policy& policy, Duration exit_grace);
  void before(const Supervisor& supervisor, const Event& event, Time now) override;
  void after(const Supervisor& supervisor, const test::Watcher& watcher) override;

  // Returns the place at which the run is now, or KeyTable::nothing if the place is not known.
  [[nodiscard]] std::uint32_t place() const { return place_; }
  [[nodiscard]] std::optional<int> policy() const { return policy_; }

 private:
  const Atlas& atlas_;
  Visits* visits_;  // counts the visits of states and moves; null if they are not counted
  std::optional<int> policy_;
  Key key_ = 0;    // the key of the place (state) where the current move begins
  Key chain_ = 0;  // the key of the current move: key_, extended by the move's events so far
  bool known_ = false;
  bool begins_ = false;
  std::uint32_t place_ = KeyTable::nothing;
};

}  // namespace upgrader::simulation

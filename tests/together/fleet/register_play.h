// Several clients that compare and write the same few keys, and a judge that sees everything. An
// acknowledged write must exist once, at the revision in the answer. A refused write must not
// exist. A write with an unknown outcome may exist at most once. Nobody may read a stale value.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fleet/store/mirror.h"
#include "fleet/store/store.h"
#include "fleet/store/timers.h"

namespace fleet::test {

// A write that a client has made in the store, and the store's answer.
struct Wrote {
  std::string key = {};
  std::string value = {};  // a value that is written only once in the play
  Revision compared = 0;
  Outcome outcome = {};
};
struct Read {
  std::string key = {};
  Revision revision = 0;  // the store's revision in the answer
  Revision known = 0;     // the highest revision that any client had seen before the read
};

class Judge {
 public:
  void saw(Wrote wrote) { wrote_.push_back(std::move(wrote)); }
  void saw(Read read) { read_.push_back(std::move(read)); }
  // Notes the changes that a watch of all keys reports. The watch misses none, so they are the
  // whole history.
  void saw(const Changes& changes);

  // Returns, as texts, all observations that contradict a correct store.
  [[nodiscard]] std::vector<std::string> violations() const;
  [[nodiscard]] std::size_t acknowledged() const;
  [[nodiscard]] std::size_t unknown() const;

 private:
  std::vector<Wrote> wrote_;
  std::vector<Read> read_;
  std::vector<Change> history_;
};

// One client: reads a key, writes it on condition that it is unchanged, and begins again, until the
// test ends it.
class RegisterClient {
 public:
  // The state that all clients of a play share.
  struct Board {
    Judge judge;
    Revision known = 0;
    std::string prefix;
    bool over = false;
    std::uint64_t values = 0;
  };

  RegisterClient(Store& store, Timers& timers, Board& board, std::uint64_t seed);

  [[nodiscard]] bool is_idle() const { return idle_; }

 private:
  void begin();
  void read(const std::string& key);
  void ask(const KeyValue& now);
  void write(const KeyValue& now);
  void pause();
  void learn(Revision revision);

  Store& store_;
  Timers& timers_;
  Board& board_;
  std::mt19937_64 chance_;
  bool idle_ = true;
  std::unique_ptr<Timer> timer_;
};

}  // namespace fleet::test

// Several clients that compare and write the same few keys, and a judge that checks all of the
// store's answers. An acknowledged write must be in the store's history once, at the revision that
// the answer names. A refused write must not be in the history. A write whose outcome is unknown
// may be in the history at most once. No client may read a stale value.
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

// A write of a client, and the store's answer to it.
struct Wrote {
  std::string key = {};
  std::string value = {};  // every value is written once in the run
  Revision compared = 0;
  Outcome outcome = {};
};
struct Read {
  std::string key = {};
  Revision revision = 0;  // the store's revision in the answer
  // The highest revision that any client knew when this client sent its request.
  Revision known = 0;
};

class Judge {
 public:
  void saw(Wrote wrote) { wrote_.push_back(std::move(wrote)); }
  void saw(Read read) { read_.push_back(std::move(read)); }
  // Records the changes that a watch of all keys reports. The watch misses no change, so they are
  // the store's whole history.
  void saw(const Changes& changes);

  // Returns, in words, all contradictions between the answers and the store's history.
  [[nodiscard]] std::vector<std::string> violations() const;
  [[nodiscard]] std::size_t acknowledged() const;
  [[nodiscard]] std::size_t unknown() const;

 private:
  std::vector<Wrote> wrote_;
  std::vector<Read> read_;
  std::vector<Change> history_;
};

// A client that reads a key, writes the key on condition that it has not changed, and begins again,
// until the test ends.
class RegisterClient {
 public:
  // The state that all clients of a test share.
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

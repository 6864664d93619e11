// Runs clients on the fake store with random faults, for many seeds. Also runs clients on stores
// with injected bugs, which the judge must find.
#include <catch2/catch.hpp>

#include "fleet/store/lease_keeper.h"
#include "fleet/store/mirror.h"
#include "tests/together/fleet/fake_store.h"
#include "tests/together/fleet/register_play.h"

namespace store_random_test {

using namespace fleet;
using namespace fleet::test;
using namespace std::chrono_literals;

namespace {

constexpr Faults many_faults{
    .lost_requests = 40, .lost_answers = 40, .late_requests = 30, .cut_watches = 60};

// A store that passes all calls on to another store. Each class that is derived from Relay has one
// injected bug.
class Relay : public Store {
 public:
  explicit Relay(Store& store) : store_(store) {}
  void read(Keys keys, Then<Reply<Reading>> then) override { store_.read(keys, then); }
  void commit(Transaction transaction, Then<Outcome> then) override {
    store_.commit(transaction, then);
  }
  void grant(std::chrono::seconds ttl, Then<Reply<Lease>> then) override {
    store_.grant(ttl, then);
  }
  void keep_alive(LeaseId lease, Then<Reply<LeaseState>> then) override {
    store_.keep_alive(lease, then);
  }
  void revoke(LeaseId lease, Then<Reply<LeaseState>> then) override { store_.revoke(lease, then); }
  std::unique_ptr<Watch> watch(Keys keys, Revision from, Then<const WatchNews&> tell) override {
    return store_.watch(keys, from, tell);
  }

 protected:
  Store& store_;
};

// The injected bug: some writes that the store has refused are reported as committed.
class Forgetful : public Relay {
 public:
  using Relay::Relay;
  void commit(Transaction transaction, Then<Outcome> then) override {
    if (++commits_ % 20 == 0) transaction.compares.push_back(Compare{"never", {}, 1});
    store_.commit(transaction, [then](const Outcome& outcome) {
      then(std::holds_alternative<Refused>(outcome) ? Outcome(Committed{9'999}) : outcome);
    });
  }

 private:
  int commits_ = 0;
};

// The injected bug: a transaction that got no answer is sent again, as libcurl may do. So a
// transaction may be committed twice.
class Insistent : public Relay {
 public:
  using Relay::Relay;
  void commit(Transaction transaction, Then<Outcome> then) override {
    store_.commit(transaction, [this, transaction, then](const Outcome& outcome) {
      if (!std::holds_alternative<Unknown>(outcome)) return then(outcome);
      store_.commit(transaction, then);
    });
  }
};

// The injected bug: transactions are committed without checking their conditions.
class Blind : public Relay {
 public:
  using Relay::Relay;
  void commit(Transaction transaction, Then<Outcome> then) override {
    transaction.compares.clear();
    store_.commit(transaction, then);
  }
};

// The injected bug: from time to time, a read gets the answer of the previous read.
class Stale : public Relay {
 public:
  using Relay::Relay;
  void read(Keys keys, Then<Reply<Reading>> then) override {
    store_.read(keys, [this, keys, then](const Reply<Reading>& answer) {
      const auto before = std::exchange(last_[keys.key], answer);
      then(std::holds_alternative<Reading>(before) && ++reads_ % 5 == 0 ? before : answer);
    });
  }

 private:
  std::map<std::string, Reply<Reading>> last_;
  int reads_ = 0;
};

// Runs four clients for twenty seconds of the simulated clock. For each client, `wrap` gets a
// connection to the fake cell, and returns the store that the client uses instead, such as one with
// an injected bug.
template <class Wrap>
Judge play(std::uint64_t seed, const Wrap& wrap) {
  VirtualTime time;
  FakeCell cell(time);
  RegisterClient::Board board;
  board.prefix = "/r/";
  FakeStore witness(time, cell);
  const auto watching = witness.watch({"/r/", true}, 1, [&](const WatchNews& news) {
    if (const auto* changes = std::get_if<Changes>(&news)) board.judge.saw(*changes);
  });
  std::vector<std::unique_ptr<FakeStore>> stores;
  std::vector<std::unique_ptr<Store>> wrapped;
  std::vector<std::unique_ptr<RegisterClient>> clients;
  for (std::uint64_t i = 0; i < 4; ++i) {
    stores.push_back(std::make_unique<FakeStore>(time, cell, seed * 10 + i, many_faults));
    wrapped.push_back(wrap(*stores.back()));
    clients.push_back(std::make_unique<RegisterClient>(*wrapped.back(), time, board, seed + i));
  }
  time.post(20s, [&board] { board.over = true; });
  while (time.run_next_until(60s)) {
  }
  return board.judge;
}

template <class Liar>
bool is_caught(const std::string& word) {
  for (std::uint64_t seed = 1; seed < 30; ++seed) {
    const Judge judge = play(seed, [](Store& store) { return std::make_unique<Liar>(store); });
    for (const std::string& violation : judge.violations()) {
      if (violation.starts_with(word)) return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("no acknowledged write is lost or made twice, whatever is lost on the way") {
  std::size_t acknowledged = 0;
  std::size_t unknown = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Judge judge = play(seed, [](Store& store) { return std::make_unique<Relay>(store); });
    INFO("seed " << seed);
    CHECK(judge.violations() == std::vector<std::string>());
    acknowledged += judge.acknowledged();
    unknown += judge.unknown();
  }
  CHECK(acknowledged > 1'000);
  CHECK(unknown > 100);
}

TEST_CASE("the judge finds a store that forgets, repeats, does not compare, or is stale") {
  CHECK(is_caught<Forgetful>("lost"));
  CHECK(is_caught<Insistent>("refused, and written"));
  CHECK(is_caught<Blind>("over another's"));
  CHECK(is_caught<Stale>("stale"));
}

TEST_CASE("a mirror becomes equal to the store, whatever it has missed") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    VirtualTime time;
    FakeCell cell(time);
    FakeStore way(time, cell, seed, many_faults);
    std::mt19937_64 chance(seed);
    Mirror::Records told;
    const auto changed = [&told](const Changes& changes) {
      for (const Change& change : changes.changes) {
        if (change.erased) {
          CHECK(told.erase(change.now.key) == 1);
        } else {
          told[change.now.key] = change.now;
        }
      }
    };
    Mirror mirror(way, time, {"/m/", true}, {.changed = changed}, seed);
    for (int i = 0; i < 300; ++i) {
      const std::string key = "/m/" + std::to_string(chance() % 10);
      if (chance() % 3 == 0) {
        cell.commit({.erases = {Erase{key}}});
      } else {
        cell.commit({.puts = {Put{key, std::to_string(i)}}});
      }
      if (chance() % 10 == 0) cell.compact(cell.revision());
      if (chance() % 40 == 0) way.set_reachable(chance() % 2 == 0);
      time.run_next_until(time.now() + Timers::Milliseconds(chance() % 900));
    }
    way.set_reachable(true);
    way.set_faults({});
    const auto end = time.now() + 60s;
    while (time.run_next_until(end)) {
    }

    INFO("seed " << seed);
    CHECK(mirror.follows());
    Mirror::Records there;
    for (const KeyValue& record : cell.read({"/m/", true}).found) {
      there[record.key] = record;
    }
    CHECK(mirror.records() == there);
    CHECK(told == there);
  }
}

TEST_CASE("a lease keeper never relies on a lease that the store has ended") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    VirtualTime time;
    FakeCell cell(time);
    FakeStore way(time, cell, seed, many_faults);
    std::mt19937_64 chance(seed);
    int taken = 0;
    LeaseKeeper keeper(
        way, time, 15s,
        {.taken =
             [&](const Lease& lease) {
               ++taken;
               cell.commit({.puts = {Put{"/l/" + std::to_string(lease.id), "x", lease.id}}});
             },
         .lost = [](const std::string&) {}},
        seed);
    bool always_there = true;
    for (int i = 0; i < 2'000; ++i) {
      if (chance() % 100 == 0) way.set_reachable(chance() % 2 == 0);
      const auto next = time.now() + 100ms;
      time.post(100ms, [] {});
      while (time.run_next_until(next)) {
      }
      const std::string key = "/l/" + std::to_string(keeper.lease());
      if (keeper.lease() != 0 && cell.read({key}).found.empty()) always_there = false;
    }
    INFO("seed " << seed);
    CHECK(always_there);
    CHECK(taken > 0);
  }
}

}  // namespace store_random_test

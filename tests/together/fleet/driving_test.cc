// Tests that a driver ends if its key in the store is gone, and what a driver does while it cannot
// reach the store. The store is in memory, and the test moves the clock.
#include <catch2/catch.hpp>

#include "fleet/controller/driving.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"
#include "fleet/model/rollout_driver.h"
#include "tests/together/fleet/fake_store.h"

namespace driving_test {

namespace {

using namespace fleet;
using namespace std::chrono_literals;

struct Bench {
  VirtualTime time;
  FakeCell cell{time};

  struct Side {
    FakeStore way;
    std::vector<std::string> said = {};
    std::vector<std::string> shouted = {};
    std::unique_ptr<Driving> driving = {};
  };
  Side one;
  Side other;

  // Writes a paused rollout, so that its driver has nothing to do until a person resumes the
  // rollout.
  explicit Bench(std::uint64_t seed = 1)
      : one{FakeStore(time, cell, seed)}, other{FakeStore(time, cell, seed + 1)} {
    put({.state = RolloutState::paused});
  }

  void put(Rollout rollout) {
    rollout.terms = {.component = "agent", .version = "1", .target = "*"};
    cell.commit({.puts = {{key_of(KeyKind::rollout, {"r"}), write_record(rollout)}}});
  }
  [[nodiscard]] Rollout rollout() const {
    const std::string key = key_of(KeyKind::rollout, {"r"});
    return read_record<Rollout>(cell.read({key}).found.front().value).value();
  }

  void begin(Side& side, const std::string& name) {
    side.driving = std::make_unique<Driving>(Driving::Settings{
        .store = side.way,
        .timers = time,
        // The store ends this lease earlier than the driver expects: the driver counts with
        // driver_lease_ms.
        .lease = 5s,
        .seed = 1,
        .make = [name](LeaseId lease) -> std::unique_ptr<AnyDriver> {
          return std::make_unique<DriverOf<RolloutDriver>>(RolloutDriver(name, "r", lease));
        },
        .log = [&side](
                   bool loud,
                   const std::string& text) { (loud ? side.shouted : side.said).push_back(text); },
        .ended = [] {}});
  }

  void wait(Timers::Milliseconds length) {
    const auto end = time.now() + length;
    time.post(length, [] {});
    while (time.run_next_until(end)) {
    }
  }

  [[nodiscard]] std::string driver() const {
    const auto found = cell.read({key_of(KeyKind::driver, {"r"})}).found;
    return found.empty() ? "" : read_record<DriverRecord>(found.front().value).value().controller;
  }
};

TEST_CASE("a driver that has nothing to do for many leases keeps its key, and acts when it has") {
  Bench bench;
  bench.begin(bench.one, "c1");
  bench.wait(10min);
  CHECK_FALSE(bench.one.driving->is_over());
  CHECK(bench.one.driving->drove());
  CHECK(bench.driver() == "c1");

  bench.put({.state = RolloutState::rolling});
  bench.wait(1s);

  // The rollout has no batches, so it is completed at once.
  CHECK(bench.rollout().state == RolloutState::completed);
  CHECK(bench.one.driving->is_over());
  CHECK(bench.driver().empty());  // revoking its lease has erased the driver's key
  CHECK(bench.one.shouted.empty());
}

TEST_CASE("of two drivers that begin, one drives, and the other ends quietly") {
  Bench bench;
  bench.begin(bench.one, "c1");
  bench.begin(bench.other, "c2");
  bench.wait(1s);
  REQUIRE(bench.one.driving->is_over() != bench.other.driving->is_over());
  const Bench::Side& loser = bench.one.driving->is_over() ? bench.one : bench.other;
  CHECK_FALSE(loser.driving->drove());
  CHECK(loser.shouted.empty());
}

TEST_CASE("a driver that leaves gives its lease back at once, even before it has the key") {
  Bench bench;
  bench.begin(bench.one, "c1");
  bench.begin(bench.other, "c2");
  bench.other.driving->leave();
  CHECK(bench.other.driving->is_over());
  bench.wait(1s);
  CHECK(bench.driver() == "c1");

  bench.one.driving->leave();
  bench.wait(1s);
  CHECK(bench.driver().empty());
}

TEST_CASE("a driver whose store is away for as long as its lease ends loudly, and not after it") {
  Bench bench;
  bench.begin(bench.one, "c1");
  bench.wait(1min);
  bench.one.way.set_reachable(false);
  while (!bench.one.driving->is_over()) {
    CHECK(bench.driver() == "c1");
    bench.wait(100ms);
  }
  CHECK(bench.one.shouted.size() == 1);
  bench.wait(16s);
  CHECK(bench.driver().empty());

  bench.begin(bench.other, "c2");
  bench.wait(1s);
  bench.one.way.set_reachable(true);
  bench.put({.state = RolloutState::rolling});
  bench.wait(1min);
  CHECK(bench.rollout().driver == "c2");
}

// A driver that does nothing but count the records and the changes in its messages.
class Watcher : public AnyDriver {
 public:
  struct Count {
    std::size_t read = 0;
    std::size_t changes = 0;
    std::size_t together = 0;  // changes whose message had `more` set
  };

  explicit Watcher(Count& count) : count_(count) {}

  [[nodiscard]] DriverActions step(const DriverEvent& event, Ms) override {
    if (const auto* reading = std::get_if<ReadingEnded>(&event)) {
      count_.read += reading->reading.found.size();
    }
    if (const auto* change = std::get_if<KeyChanged>(&event)) {
      ++count_.changes;
      if (change->more) ++count_.together;
    }
    if (!std::holds_alternative<BeginDriving>(event)) return {};
    return {WantReading{{prefix_of(KeyKind::rollout), prefix_of(KeyKind::node_info)}}};
  }
  [[nodiscard]] std::optional<Ms> next_deadline() const override { return std::nullopt; }
  [[nodiscard]] Revision fence() const override { return 1; }

 private:
  Count& count_;
};

TEST_CASE("a driver hears only of the keys that it wants, and of changes of one moment together") {
  Bench bench;
  Watcher::Count count;
  const auto put = [&bench](int from, int to, const auto& key) {
    Transaction transaction;
    for (int i = from; i < to; ++i)
      transaction.puts.push_back({key(i), "{}"});
    bench.cell.commit(transaction);
  };
  const auto event = [](int i) {
    return key_of(KeyKind::event, {}, static_cast<std::uint64_t>(i));
  };
  const auto node = [](int i) { return key_of(KeyKind::node_versions, {"n" + std::to_string(i)}); };
  put(0, 100, event);
  put(0, 10, node);
  Driving driving({.store = bench.one.way,
                   .timers = bench.time,
                   .lease = 5s,
                   .make = [&count](LeaseId) -> std::unique_ptr<AnyDriver> {
                     return std::make_unique<Watcher>(count);
                   },
                   .log = [](bool, const std::string&) {},
                   .ended = [] {}});
  bench.wait(1s);
  CHECK(count.read == 11);  // ten nodes and the rollout
  put(100, 200, event);
  put(10, 60, node);
  bench.wait(1s);
  CHECK(count.changes == 50);
  CHECK(count.together == 49);
}

TEST_CASE("a driver whose watch has ended is sent all records again") {
  Bench bench;
  Watcher::Count count;
  Driving driving({.store = bench.one.way,
                   .timers = bench.time,
                   .lease = 5s,
                   .make = [&count](LeaseId) -> std::unique_ptr<AnyDriver> {
                     return std::make_unique<Watcher>(count);
                   },
                   .log = [](bool, const std::string&) {},
                   .ended = [] {}});
  bench.wait(1s);
  CHECK(count.read == 1);
  bench.one.way.set_faults({.cut_watches = 1'000});
  bench.put({.state = RolloutState::rolling});
  bench.wait(2s);
  CHECK(count.changes == 0);
  CHECK(count.read == 2);
}

TEST_CASE("whatever is lost, late or cut off, the rollout is driven to its end") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Bench bench(seed);
    bench.put({.state = RolloutState::rolling});
    bench.one.way.set_faults(
        {.lost_requests = 150, .lost_answers = 150, .late_requests = 100, .cut_watches = 200});
    for (int i = 0; i < 200 && bench.rollout().state != RolloutState::completed; ++i) {
      if (!bench.one.driving || bench.one.driving->is_over()) bench.begin(bench.one, "c1");
      bench.wait(1s);
    }
    INFO("seed " << seed);
    CHECK(bench.rollout().state == RolloutState::completed);
  }
}

}  // namespace

}  // namespace driving_test

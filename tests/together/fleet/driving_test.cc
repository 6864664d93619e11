// Tests which rollouts and plans a controller begins to steer as their driver, and how a person's
// order changes a rollout. Also tests that a driver ends if its key in the store is gone, and what
// a driver does while it cannot reach the store. The store is in memory, and the test moves the
// clock.
#include <catch2/catch.hpp>

#include "fleet/controller/campaign.h"
#include "fleet/controller/driving.h"
#include "fleet/fleetctl/rollouts.h"
#include "fleet/model/drivers/drivers.h"
#include "fleet/model/records/effort.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/rollout_wish.h"
#include "tests/together/fleet/fake_store.h"

namespace driving_test {

namespace {

using namespace fleet;

// ---- rollouts and plans that need a driver

void add(Campaign::Records& records, const std::string& key, const std::string& value) {
  records[key] = {.key = key, .value = value};
}

Campaign::Records rollout(RolloutState state) {
  Campaign::Records records;
  add(records, key_of(KeyKind::rollout, {"r"}),
      write_record(Rollout{.terms = {.component = "agent", .version = "1"}, .state = state}));
  return records;
}

std::vector<Drivable> drivable(const Campaign::Records& records) {
  Drivables drivables;
  for (const auto& [key, record] : records)
    drivables.take(record);
  return drivables.list();
}

// The desired versions always need a driver.
const Drivable desired{Drivable::Kind::desired, "desired"};

TEST_CASE("a rollout needs a driver from its last write until its end") {
  const std::vector<Drivable> none{desired};
  const std::vector<Drivable> r{{Drivable::Kind::rollout, "r"}, desired};
  CHECK(drivable(rollout(RolloutState::created)) == none);
  CHECK(drivable(rollout(RolloutState::rolling)) == r);
  CHECK(drivable(rollout(RolloutState::paused)) == r);
  CHECK(drivable(rollout(RolloutState::aborting)) == r);
  CHECK(drivable(rollout(RolloutState::aborted)) == none);
  CHECK(drivable(rollout(RolloutState::completed)) == none);
  CHECK(drivable(rollout(RolloutState::unknown)) == none);
}

TEST_CASE("a plan needs a driver while it runs, and while it stops") {
  const auto in_state = [](PlanState state) {
    Campaign::Records plans;
    add(plans, key_of(KeyKind::plan, {"p"}), write_record(Plan{.state = state}));
    return drivable(plans);
  };
  const std::vector<Drivable> none{desired};
  const std::vector<Drivable> p{{Drivable::Kind::plan, "p"}, desired};
  CHECK(in_state(PlanState::created) == none);
  CHECK(in_state(PlanState::running) == p);
  CHECK(in_state(PlanState::stopping) == p);
  CHECK(in_state(PlanState::halted) == none);
  CHECK(in_state(PlanState::aborted) == none);
  CHECK(in_state(PlanState::completed) == none);
}

TEST_CASE("records below a rollout, and unreadable records, need no driver") {
  Campaign::Records records;
  add(records, key_of(KeyKind::rollout, {"r"}), R"({"v":2})");
  add(records, key_of(KeyKind::rollout_node, {"s", "n"}), write_record(RolloutNode{}));
  add(records, "/fleet/v1/rollout/", "{}");
  CHECK(drivable(records) == std::vector{desired});
}

TEST_CASE("a rollout or a plan with the name of a cell's driver is not driven") {
  const std::string name = GENERATE("desired", "events");
  Campaign::Records records;
  add(records, key_of(KeyKind::rollout, {name}),
      write_record(Rollout{.state = RolloutState::rolling}));
  add(records, key_of(KeyKind::plan, {name}), write_record(Plan{.state = PlanState::running}));
  CHECK(drivable(records) == std::vector{desired});
}

TEST_CASE("all desired versions have one driver, also if only single nodes have one") {
  CHECK(drivable({}) == std::vector{desired});
  Campaign::Records wishes;
  add(wishes, key_of(KeyKind::desired, {"agent"}), "{}");
  add(wishes, key_of(KeyKind::desired, {"web"}), "{}");
  CHECK(drivable(wishes) ==
        std::vector<Drivable>{{Drivable::Kind::desired, "desired", {"agent", "web"}}});
}

TEST_CASE("a run that has ended, is gone or cannot be read needs no driver any longer") {
  const std::string r = key_of(KeyKind::rollout, {"r"});
  const std::string p = key_of(KeyKind::plan, {"p"});
  const std::string wish = key_of(KeyKind::desired, {"agent"});
  const RolloutTerms terms{.component = "agent", .version = "1"};
  const auto rolling = write_record(Rollout{.terms = terms, .state = RolloutState::rolling});
  const auto completed = write_record(Rollout{.terms = terms, .state = RolloutState::completed});
  Drivables drivables;
  const auto begin = [&] {
    drivables.take({.key = r, .value = rolling});
    drivables.take({.key = p, .value = write_record(Plan{.state = PlanState::running})});
    drivables.take({.key = wish, .value = "{}"});
    CHECK(drivables.list().size() == 3);
  };
  begin();
  drivables.take({.key = r, .value = completed});
  drivables.take({.key = p, .value = "damaged"});
  CHECK(drivables.list() == std::vector<Drivable>{{Drivable::Kind::desired, "desired", {"agent"}}});
  begin();
  for (const std::string& key : {r, p, wish})
    drivables.take_absent(key);
  CHECK(drivables.list() == std::vector{desired});
}

TEST_CASE("a change costs one record to read, however many rollouts there have been") {
  Drivables drivables;
  const auto change = [&](int number, RolloutState state) {
    drivables.take({.key = key_of(KeyKind::rollout, {"r" + std::to_string(number)}),
                    .value = write_record(
                        Rollout{.terms = {.component = "agent", .version = "1"}, .state = state})});
  };
  for (int i = 0; i < 1'000; ++i)
    change(i, RolloutState::completed);

  const Effort before = effort;
  change(7, RolloutState::rolling);
  CHECK(drivables.list().size() == 2);
  CHECK(effort.records - before.records == 1);
  CHECK(effort.keys - before.keys == 1);
}

TEST_CASE("a run with a driver is left alone, and driven when that driver's key is gone") {
  const Campaign campaign;
  const std::vector<Drivable> all{{Drivable::Kind::rollout, "r"}, {Drivable::Kind::plan, "s"}};
  Campaign::Records drivers;
  add(drivers, key_of(KeyKind::driver, {"r"}), "{}");
  CHECK(campaign.to_begin(all, drivers, 0) == std::vector<Drivable>{{Drivable::Kind::plan, "s"}});
  CHECK(campaign.to_begin(all, {}, 0) == all);
}

TEST_CASE("a driving that ends soon rests before the next try, each time for longer") {
  Campaign campaign;
  const std::vector<Drivable> r{{Drivable::Kind::rollout, "r"}};
  const auto rest_after = [&](bool drove, Ms began, Ms now) {
    campaign.ended("r", drove, began, now);
    const Ms until = campaign.next_deadline(r, now).value();
    CHECK(campaign.to_begin(r, {}, until - 1).empty());
    CHECK(campaign.to_begin(r, {}, until) == r);
    CHECK_FALSE(campaign.next_deadline(r, until));
    return until - now;
  };
  CHECK(rest_after(true, 0, 10) == 1'000);
  CHECK(rest_after(true, 0, 10) == 2'000);
  CHECK(rest_after(true, 0, 10) == 4'000);
  for (int i = 0; i < 10; ++i) {
    campaign.ended("r", true, 0, 10);
  }
  CHECK(rest_after(true, 0, 10) == 30'000);
  // A controller that stops driving a rollout pauses before it tries to become the driver again.
  // The pause grows each time that the controller stops soon after it began. The pause stays short
  // if the controller was the driver for a long time, or if another controller became the driver
  // first.
  CHECK(rest_after(false, 0, 10) == 1'000);
  CHECK(rest_after(true, 0, 10) == 2'000);
  CHECK(rest_after(true, 0, 30'000) == 1'000);
}

// ---- orders that a person gives to a rollout: pause, resume and abort

std::string refusal(RolloutState state, RolloutWish wish) {
  const auto result = wished(Rollout{.state = state}, wish, false);
  return result ? "" : result.reason();
}

TEST_CASE("a rollout that has ended refuses orders, except one that was given before") {
  CHECK(refusal(RolloutState::completed, RolloutWish::pause) == "it is completed");
  CHECK(refusal(RolloutState::completed, RolloutWish::resume) == "it is completed");
  CHECK(refusal(RolloutState::completed, RolloutWish::abort) == "it is completed");
  CHECK(refusal(RolloutState::aborting, RolloutWish::resume) == "it is aborting");
  const auto again = wished(Rollout{.state = RolloutState::aborted}, RolloutWish::abort, false);
  REQUIRE(again);
  CHECK_FALSE(again.value().rollout);
}

TEST_CASE("resume takes back an ordered pause, and one that has begun") {
  for (const RolloutState state : {RolloutState::rolling, RolloutState::paused}) {
    const auto result =
        wished(Rollout{.state = state, .order = RolloutOrder::pause, .reason = "asked for"},
               RolloutWish::resume, false);
    REQUIRE(result);
    CHECK(result.value().begins);
    CHECK(result.value().rollout == Rollout{.state = RolloutState::rolling});
  }
}

TEST_CASE("nothing takes back an abort that its driver has not seen yet") {
  const Rollout rollout{.state = RolloutState::rolling, .order = RolloutOrder::abort};
  for (const RolloutWish wish : {RolloutWish::pause, RolloutWish::resume}) {
    const auto result = wished(rollout, wish, false);
    REQUIRE_FALSE(result);
    CHECK(result.reason() == "it is told to abort");
  }
  CHECK_FALSE(wished(rollout, RolloutWish::abort, false).value().rollout);
  CHECK(wished(rollout, RolloutWish::abort, true).value().rollout->order ==
        RolloutOrder::abort_and_leave);
}

TEST_CASE("a rollout that was only half written is aborted at once") {
  const auto result = wished(Rollout{.state = RolloutState::created}, RolloutWish::abort, true);
  REQUIRE(result);
  CHECK(result.value().rollout->state == RolloutState::aborted);
  CHECK_FALSE(result.value().begins);
}

// ---- the lines that fleetctl shows to a person who watches a rollout

TEST_CASE("a bar shows the share of nodes that have ended") {
  CHECK(fleetctl::bar(0, 0, 4) == "[....]");
  CHECK(fleetctl::bar(1, 3, 6) == "[##....]");
  CHECK(fleetctl::bar(3, 3, 4) == "[####]");
}

TEST_CASE("a watched rollout has one line for the whole, and one for each batch that has begun") {
  const auto record = [](const std::string& key, const std::string& value) {
    return KeyValue{.key = key, .value = value};
  };
  Reading reading;
  reading.found = {
      record(key_of(KeyKind::rollout, {"r"}),
             write_record(Rollout{.terms = {.component = "agent", .version = "2"},
                                  .state = RolloutState::rolling,
                                  .batches = 2})),
      record(key_of(KeyKind::rollout_batch, {"r"}, 0), write_record(RolloutBatch{{"a", "b"}})),
      record(key_of(KeyKind::rollout_batch, {"r"}, 1), write_record(RolloutBatch{{"c"}})),
      record(key_of(KeyKind::rollout_node, {"r", "a"}),
             write_record(RolloutNode{.stage = NodeStage::confirmed})),
      record(key_of(KeyKind::rollout, {"r2"}), "damaged")};
  const auto seen = fleetctl::watched("r", reading);
  CHECK(seen.is_there);
  CHECK(seen.damage == "");
  REQUIRE(seen.lines.size() == 2);
  CHECK(seen.lines[0] == "[##########....................] r: agent 2, rolling");
  CHECK(seen.lines[1] == "[###############...............] batch 1: 1 waiting, 1 confirmed");
  CHECK_FALSE(fleetctl::watched("s", reading).is_there);
}

TEST_CASE("a watched undo says how many nodes cannot go back") {
  const Rollout undone{.terms = {.component = "agent", .version = "2"},
                       .state = RolloutState::undone,
                       .reason = "undo asked for by anna",
                       .batches = 1,
                       .undo = true,
                       .kept = 2};

  const auto seen = fleetctl::watched(
      "r", {.found = {{.key = key_of(KeyKind::rollout, {"r"}), .value = write_record(undone)}}});

  REQUIRE(seen.lines.size() == 1);
  CHECK(seen.lines[0] ==
        "[..............................] r: agent 2, undone, undo asked for by anna, "
        "2 nodes cannot go back");
}

// ---- a driver and its key in the store

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
        // The lease in the store lasts five seconds. The driver assumes a lease of driver_lease_ms,
        // so here the store ends the lease earlier than the driver expects.
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
  CHECK(bench.driver().empty());  // the driver has revoked its lease
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

// A driver that makes no decisions. It only counts the records and changes that are reported to it.
class Watcher : public AnyDriver {
 public:
  struct Count {
    std::size_t read = 0;
    std::size_t changes = 0;
    std::size_t together = 0;  // how many changes had `more` set: another change follows
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
  CHECK(count.read == 11);  // the records of ten nodes and of the rollout
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

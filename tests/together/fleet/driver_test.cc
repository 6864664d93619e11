// Tests the drivers of plans and of desired versions. Each driver writes its decisions to the
// store, and has a key of its own in the store. rollout_driver_test.cc and the explorations
// (*_explore_test.cc) test how drivers in general work with the store.
#include <catch2/catch.hpp>

#include "fleet/model/drivers/driver.h"
#include "fleet/model/drivers/drivers.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "tests/together/fleet/test_store.h"

namespace driver_test {

namespace {

using namespace fleet;

// A driver (the part of a controller that steers a plan, for example), a store in memory, and a
// clock that the test moves. settle() carries out the driver's actions until the driver waits.
template <class Driven>
struct Bench : fleet_test::DriverBench<Driven> {
  std::vector<Ms> leases;

  explicit Bench(Driven driven) : fleet_test::DriverBench<Driven>(std::move(driven)) {
    this->sees = [this](const DriverAction& action) {
      const auto* grant = std::get_if<GrantLease>(&action);
      if (grant != nullptr) leases.push_back(grant->ttl_ms);
    };
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  void wait(Ms time) {
    this->now += time;
    this->tell(KeptAlive{});
    this->tell(TimePassed{});
    this->settle();
  }
};

// A task that counts how often the driver asks it for a decision.
struct Counting {
  int* decisions;

  [[nodiscard]] std::string name() const { return "nothing"; }
  [[nodiscard]] std::string key() const { return key_of(KeyKind::driver, {"d"}); }
  [[nodiscard]] std::vector<std::string> prefixes() const { return {prefix_of(KeyKind::event)}; }
  void take(const KeyValue&) {}
  void take_absent(const std::string&) {}
  void take_all(const Reading&) {}
  void wall_shows(UnixSeconds, Ms) {}
  [[nodiscard]] DriverStep next(Revision, Ms) {
    ++*decisions;
    return Wait{};
  }
  void granted(LeaseId) {}
  [[nodiscard]] bool deny(const std::string&) { return false; }
  [[nodiscard]] std::string words(Ms) const { return ""; }
};

// A task that does not recognize the record that it has written. So it wants to write the record
// again and again.
struct Repeating : Counting {
  [[nodiscard]] DriverStep next(Revision, Ms) {
    ++*decisions;
    return Write{{.puts = {{.key = key_of(KeyKind::stop), .value = "{}"}}}};
  }
};

TEST_CASE("a task that wants to write the same records again and again is made to wait") {
  int decisions = 0;
  Bench bench(Driver<Repeating>("c", {{&decisions}}, 100));
  bench.begin();
  const Revision first = bench.store.find(key_of(KeyKind::stop))->modified;
  REQUIRE(bench.driver.next_deadline() == bench.now + store_retry_ms);

  bench.wait(store_retry_ms - 1);
  CHECK(bench.store.find(key_of(KeyKind::stop))->modified == first);
  bench.wait(1);

  CHECK(bench.store.find(key_of(KeyKind::stop))->modified == first + 1);
}

TEST_CASE("changes that come together are taken in one by one, and followed by one decision") {
  int decisions = 0;
  Bench bench(Driver<Counting>("c1", Counting{&decisions}, 1));
  bench.begin();
  const int before = decisions;

  for (std::uint64_t i = 1; i <= 100; ++i) {
    const KeyValue event{.key = key_of(KeyKind::event, {}, i), .modified = 10};
    if (i % 2 == 0) bench.tell(KeyChanged{event, i < 100});
    if (i % 2 == 1) bench.tell(KeyErased{event.key, 10, true});
  }
  CHECK(decisions == before + 1);
  // This message announces further changes, so the driver waits for them. But no further change
  // comes, so the driver decides when it next renews its lease or reads the store.
  bench.tell(KeyChanged{{.key = key_of(KeyKind::event, {}, 7), .modified = 11}, true});
  CHECK(decisions == before + 1);
  bench.tell(KeptAlive{});
  CHECK(decisions == before + 2);
}

// A task whose transaction is always refused by the store: the transaction requires that the record
// `stop` is absent, and the test has written this record.
struct Refusing : Counting {
  [[nodiscard]] DriverStep next(Revision, Ms) {
    ++*decisions;
    return Write{{.compares = {{.key = key_of(KeyKind::stop)}}, .puts = {{.key = "/fleet/v1/x"}}}};
  }
};

TEST_CASE("a driver whose write is refused again and again rests in between, and gives up") {
  int decisions = 0;
  Bench bench(Driver<Refusing>("c1", Refusing{{&decisions}}, 1));
  bench.store.put(key_of(KeyKind::stop), "{}");
  bench.begin();
  CHECK(decisions == 1);

  // The store has refused the driver's transaction, and no message tells the driver which record
  // has changed. So the driver reads all records again after a pause.
  bench.wait(store_retry_ms - 1);
  CHECK(decisions == 1);
  bench.wait(1);
  CHECK(decisions == 2);
  bench.wait(store_retry_ms);
  CHECK(decisions == 3);
  for (int i = 0; i < 60; ++i)
    bench.wait(store_retry_ms);

  CHECK(decisions == refusals_max);
  CHECK(bench.driver.is_over());
  CHECK(bench.told.back() ==
        "nothing is not driven any longer: the store denies it: it refuses the same write again "
        "and again");
}

TEST_CASE("a driver whose lease has ended before it takes its key tries once a second") {
  int decisions = 0;
  Bench bench(Driver<Counting>("c1", Counting{&decisions}, 1));
  bench.store.end_lease(1);
  bench.begin();
  CHECK(bench.driver.next_deadline() == store_retry_ms);
  for (int i = 0; i < 60; ++i)
    bench.wait(store_retry_ms);

  CHECK(decisions == 0);
  CHECK(bench.driver.is_over());
}

// A task that writes one key once. In `known` it keeps the newest value of that key that the driver
// has reported to it.
struct Writing : Counting {
  std::string* known;

  [[nodiscard]] static std::string own() { return key_of(KeyKind::event, {}, 1); }
  void take(const KeyValue& record) {
    if (record.key == own()) *known = record.value;
  }
  void take_all(const Reading& reading) {
    const KeyValue* record = reading.find(own());
    *known = record == nullptr ? "" : record->value;
  }
  [[nodiscard]] DriverStep next(Revision, Ms) {
    if (++*decisions > 1) return Wait{};
    return Write{{.compares = {{.key = own()}}, .puts = {{.key = own(), .value = "mine"}}}};
  }
};

// Begins the driver, and carries out its actions until it has made its first decision.
template <class Bench>
void begin_until_decision(Bench& bench, const int& decisions) {
  bench.tell(BeginDriving{});
  while (decisions == 0) {
    const DriverAction action = bench.asked.front();
    bench.asked.erase(bench.asked.begin());
    const auto* commit = std::get_if<Commit>(&action);
    if (commit != nullptr) bench.tell(TransactionEnded{bench.store.commit(commit->transaction)});
    if (commit == nullptr) bench.tell(ReadingEnded{bench.store.read({std::string(key_root)})});
  }
}

TEST_CASE("a reading that nobody asked for is not undone by an older write of the driver") {
  int decisions = 0;
  std::string known;
  Bench bench(Driver<Writing>("c1", Writing{{&decisions}, &known}, 1));
  begin_until_decision(bench, decisions);
  const Outcome outcome = bench.store.commit(std::get<Commit>(bench.asked.front()).transaction);
  bench.asked.clear();
  REQUIRE(std::holds_alternative<Committed>(outcome));
  bench.store.put(Writing::own(), "theirs");

  bench.tell(ReadingEnded{bench.store.read({std::string(key_root)})});
  CHECK(known == "theirs");
  bench.tell(TransactionEnded{outcome});
  CHECK(known == "theirs");
  CHECK(decisions == 2);
}

// Like Writing, but the task writes the key twice, whatever the store has.
struct WritingTwice : Writing {
  [[nodiscard]] DriverStep next(Revision, Ms) {
    if (++*decisions > 2) return Wait{};
    return Write{{.puts = {{.key = own(), .value = "mine " + std::to_string(*decisions)}}}};
  }
};

TEST_CASE("a change that the watch reports late does not hide a later write of the driver") {
  int decisions = 0;
  std::string known;
  Bench bench(Driver<WritingTwice>("c1", WritingTwice{{{&decisions}, &known}}, 1));
  begin_until_decision(bench, decisions);
  bench.store.put(Writing::own(), "theirs");
  const KeyValue theirs = *bench.store.find(Writing::own());
  const Transaction first = std::get<Commit>(bench.asked.front()).transaction;
  bench.asked.clear();
  bench.tell(TransactionEnded{bench.store.commit(first)});
  REQUIRE(decisions == 2);
  bench.tell(KeyChanged{theirs});
  CHECK(known == "mine 1");
}

TEST_CASE("a driver remembers only the revisions of the last change and of its own writes") {
  int decisions = 0;
  Bench bench(Driver<Counting>("c1", Counting{&decisions}, 1));
  bench.begin();
  for (std::uint64_t i = 1; i <= 100; ++i) {
    const auto revision = static_cast<Revision>(10 + i);
    bench.tell(KeyErased{key_of(KeyKind::event, {}, i), revision});
  }
  CHECK(bench.driver.revisions_known() == 1);
}

// A task whose transactions each compare a different revision of the record `stop`, as if other
// programs wrote this record again and again.
struct Overtaken : Counting {
  [[nodiscard]] DriverStep next(Revision, Ms) {
    return Write{{.compares = {{.key = key_of(KeyKind::stop), .revision = ++*decisions + 100}},
                  .puts = {{.key = "/fleet/v1/x"}}}};
  }
};

TEST_CASE("a driver goes on, however often others overtake its writes, as long as each is new") {
  int decisions = 0;
  Bench bench(Driver<Overtaken>("c1", Overtaken{{&decisions}}, 1));
  bench.begin();
  for (int i = 0; i < 3 * refusals_max; ++i)
    bench.wait(store_retry_ms);
  CHECK(decisions > 2 * refusals_max);
  CHECK_FALSE(bench.driver.is_over());
}

TEST_CASE("refusals before a write that was committed do not end a driver") {
  int decisions = 0;
  Bench bench(Driver<Refusing>("c1", Refusing{{&decisions}}, 1));
  bench.begin();
  for (int i = 0; i < 3; ++i) {
    bench.store.put(key_of(KeyKind::stop), "{}");
    for (int each = 0; each < refusals_max - 1; ++each)
      bench.wait(store_retry_ms);
    bench.store.erase(key_of(KeyKind::stop));
    bench.wait(store_retry_ms);
  }
  CHECK_FALSE(bench.driver.is_over());
}

TEST_CASE("a refused write is decided anew as soon as all records were read again") {
  int decisions = 0;
  Bench bench(Driver<Refusing>("c1", Refusing{{&decisions}}, 1));
  bench.store.put(key_of(KeyKind::stop), "{}");
  bench.begin();
  REQUIRE(decisions == 1);
  bench.tell(ReadingEnded{bench.store.read({std::string(key_root)})});
  CHECK(decisions == 2);
}

// A task that wants a lease for each of its writes.
struct Leasing : Counting {
  [[nodiscard]] DriverStep next(Revision, Ms) {
    ++*decisions;
    return GrantLease{60'000};
  }
};

TEST_CASE("a driver that gets no lease asks for one again after a second, and not at once") {
  int decisions = 0;
  Bench bench(Driver<Leasing>("c1", Leasing{{&decisions}}, 1));
  begin_until_decision(bench, decisions);
  bench.tell(LeaseFailed{});
  CHECK(decisions == 1);
  CHECK(bench.driver.next_deadline() == bench.now + store_retry_ms);
}

PlanMember at(std::int64_t step) {
  return {.version = "1", .step = step, .phase = MemberPhase::waiting};
}

template <class Store>
void put_members(Store& store, const std::vector<std::string>& ids) {
  for (const std::string& id : ids)
    store.put(key_of(KeyKind::plan_member, {"p", id}), write_record(PlanPlace{}));
}

TEST_CASE("a plan's driver lets a step run when all wait at it, and ends with the plan") {
  Bench bench(PlanDriver("c1", "p", 100));
  put_members(bench.store, {"m", "n"});
  bench.store.put(key_of(KeyKind::plan, {"p"}),
                  write_record(Plan{.steps = {{.name = "a", .kind = StepClass::any, .hook = "h"}},
                                    .state = PlanState::running}));
  bench.begin();
  const auto plan = [&] { return bench.driver.task().view().plan; };
  CHECK(plan().step == 0);

  bench.put(key_of(KeyKind::node_plan, {"m", "p"}), write_record(at(1)));
  CHECK(plan().step == 0);
  bench.put(key_of(KeyKind::node_plan, {"n", "p"}), write_record(at(1)));
  CHECK(plan().step == 1);
  bench.put(key_of(KeyKind::node_plan, {"n", "p"}), write_record(at(2)));
  bench.put(key_of(KeyKind::node_plan, {"m", "p"}), write_record(at(2)));

  CHECK(plan().state == PlanState::completed);
  CHECK(plan().driver == "c1");
  CHECK(bench.driver.is_over());
  CHECK(bench.told.back() == "plan p is not driven any longer: it has ended");
}

TEST_CASE("a plan's driver stops the plan when a wait is over, and names who is missing") {
  Bench bench(PlanDriver("c1", "p", 100));
  put_members(bench.store, {"m", "n"});
  bench.store.put(
      key_of(KeyKind::plan, {"p"}),
      write_record(
          Plan{.steps = {{.name = "a", .kind = StepClass::any, .hook = "h", .timeout_ms = 10'000}},
               .state = PlanState::running}));
  bench.begin();
  bench.put(key_of(KeyKind::node_plan, {"m", "p"}), write_record(at(1)));
  bench.wait(9'999);
  CHECK(bench.driver.task().view().plan.state == PlanState::running);
  bench.wait(1);

  CHECK(bench.driver.task().view().plan.state == PlanState::stopping);
  CHECK(bench.driver.task().view().plan.error ==
        "waited in vain for n to record that they take part");
}

TEST_CASE("the driver of desired versions tells a node, and its old instance on a lease to stop") {
  Bench bench(DesiredDriver("c1", {"agent"}, {}, 100));
  bench.store.put(key_of(KeyKind::node_versions, {"n"}), write_record(Versions{{{"agent", "1"}}}));
  bench.store.put(key_of(KeyKind::node_active, {"n"}), write_record(Active{.instance = "old"}));
  bench.store.put(key_of(KeyKind::node_instance, {"n", "old"}),
                  write_record(Instance{.version = "1", .ready = true}));
  bench.begin();
  bench.put(key_of(KeyKind::desired, {"agent"}), write_record(Desired{.version = "2"}));
  const KeyValue* order = bench.store.find(key_of(KeyKind::node_desired, {"n", "agent"}));
  REQUIRE(order != nullptr);

  const std::string attempt = "desired." + std::to_string(order->modified) + ".1";
  bench.put(key_of(KeyKind::node_upgrade, {"n", "agent"}),
            write_record(Upgrade{.phase = UpgradePhase::cutover_ready, .attempt = attempt}));
  bench.put(key_of(KeyKind::node_instance, {"n", "new"}),
            write_record(Instance{.version = "2", .ready = true}));
  CHECK(bench.driver.next_deadline() == driver_lease_ms);
  bench.wait(10'000);
  bench.wait(10'000);
  bench.wait(10'000);

  const KeyValue* command = bench.store.find(key_of(KeyKind::node_command, {"n", "agent"}));
  REQUIRE(command != nullptr);
  CHECK(command->lease == 7);
  CHECK(bench.leases == std::vector<Ms>{60'000});
  CHECK(read_record<Command>(command->value).value().instance == "old");
}

TEST_CASE("a pinned node moves, although the cell desires no version of the component") {
  Bench bench(DesiredDriver("c1", {}, {}, 100));
  const auto put = [&bench](KeyKind kind, std::string_view what, const std::string& value) {
    bench.store.put(what.empty() ? key_of(kind, {"n"}) : key_of(kind, {"n", what}), value);
  };
  put(KeyKind::node_versions, "", write_record(Versions{{{"web", "1"}}}));
  put(KeyKind::node_active, "", write_record(Active{.instance = "i"}));
  put(KeyKind::node_instance, "i", write_record(Instance{.version = "1", .ready = true}));
  const std::string order = key_of(KeyKind::node_desired, {"n", "web"});
  const std::string pin = write_record(Desired{.version = "2", .pinned = true});
  const bool is_later = GENERATE(true, false);

  if (!is_later) bench.store.put(order, pin);
  bench.begin();
  if (is_later) {
    bench.put(order, pin);
    // The new order is for a component whose records this driver has not read. So the driver must
    // end. The next driver reads these records.
    CHECK(bench.driver.is_over());
    return;
  }
  const std::string attempt = "desired." + std::to_string(bench.store.find(order)->modified) + ".1";
  bench.put(
      key_of(KeyKind::node_upgrade, {"n", "web"}),
      write_record(Upgrade{.phase = UpgradePhase::cutover_ready, .attempt = attempt, .to = "2"}));
  for (int i = 0; i < 3; ++i)
    bench.wait(10'000);
  CHECK(bench.store.find(key_of(KeyKind::node_command, {"n", "web"})) != nullptr);
}

TEST_CASE("the place of a node is given back as soon as its upgrade cannot be under way any more") {
  const auto [phase, is_freed] =
      GENERATE(std::pair(R"({"phase":"cutover-ready"})", false), std::pair("?", false),
               std::pair(R"({"phase":"failed"})", true), std::pair(R"({"phase":"staging"})", true),
               // The record is missing, as on a new machine that got the name of a removed one.
               std::pair("", true));
  Bench bench(DesiredDriver("c1", {}, {}, 100));
  const std::string place = key_of(KeyKind::place, {"site", place_value("north"), "0"});
  bench.store.put(place, write_record(BudgetPlace{"n", "desired/web", "north"}));
  bench.store.put(key_of(KeyKind::node_active, {"n"}), write_record(Active{.instance = "i"}));
  if (*phase != '\0') bench.store.put(key_of(KeyKind::node_upgrade, {"n", "web"}), phase);

  bench.begin();

  CHECK((bench.store.find(place) == nullptr) == is_freed);
}

TEST_CASE("a node that stops reporting is forgotten when its keys are erased") {
  Bench bench(DesiredDriver("c1", {"agent"}, {}, 100));
  bench.store.put(key_of(KeyKind::desired, {"agent"}), write_record(Desired{.version = "2"}));
  bench.store.put(key_of(KeyKind::node_versions, {"n"}), write_record(Versions{{{"agent", "1"}}}));
  bench.store.put(key_of(KeyKind::node_active, {"n"}), write_record(Active{.instance = "old"}));
  bench.begin();
  CHECK(bench.store.find(key_of(KeyKind::node_desired, {"n", "agent"})) == nullptr);

  const std::string instance = key_of(KeyKind::node_instance, {"n", "old"});
  bench.store.put(instance, write_record(Instance{.version = "1", .ready = true}));
  bench.tell(KeyErased{instance, bench.store.revision() + 1});
  // This message comes late: it describes the record as it was before it was erased. So the driver
  // must ignore the message.
  bench.tell(KeyChanged{*bench.store.find(instance)});
  bench.settle();
  CHECK(bench.store.find(key_of(KeyKind::node_desired, {"n", "agent"})) == nullptr);
}

TEST_CASE("a driver whose lease is lost stops driving at once, loudly, and writes nothing") {
  Bench bench(PlanDriver("c1", "p", 100));
  bench.store.put(key_of(KeyKind::plan, {"p"}), write_record(Plan{}));
  bench.tell(BeginDriving{});
  const Revision before = bench.store.revision();

  bench.tell(LeaseLost{"the lease has ended"});

  CHECK(bench.driver.is_over());
  CHECK(bench.store.revision() == before);
  CHECK(bench.told ==
        std::vector<std::string>{"plan p is not driven any longer: the lease has ended"});
}

// Returns the record of a running plan. The JSON text `members`, which may be invalid, is inserted
// into the record.
std::string plan_with(const std::string& members) {
  return R"({"steps":[{"name":"a","class":"one-at-a-time","hook":"h"}],"state":"running")" +
         members + "}";
}

TEST_CASE("a plan with an invalid name in its record is not driven, and crashes no controller") {
  const std::string wrong =
      GENERATE(as<std::string>{}, R"("component":"Shop","step":1)", R"("lock":"../n","step":1)",
               R"("trace":"A B","agent":"1")", R"("agent":"1 2")", R"("step":7)",
               R"("previous":"a b","component":"shop")");
  Bench bench(PlanDriver("c1", "p", 100));
  put_members(bench.store, {"m"});
  bench.store.put(key_of(KeyKind::plan, {"p"}), plan_with("," + wrong));
  bench.begin();

  CHECK(bench.driver.is_over());
  CHECK(bench.told.back().starts_with("plan p is not driven any longer: plan/p is damaged: "));
}

TEST_CASE("a plan whose fleet-agent no rollout can bring stops, and says why") {
  const std::string name(60, 'p');
  Bench bench(PlanDriver("c1", name, 100));
  bench.store.put(key_of(KeyKind::plan_member, {name, "m"}), write_record(PlanPlace{}));
  bench.store.put(key_of(KeyKind::plan, {name}),
                  plan_with(R"(,"agent":"1.2.0","trace":"abcdefgh")"));
  bench.store.put(key_of(KeyKind::node_plan, {"m", name}), write_record(at(1)));
  bench.begin();

  CHECK(bench.driver.task().view().plan.state == PlanState::stopping);
  CHECK(bench.driver.task().view().plan.error ==
        "no rollout can bring fleet-agent 1.2.0 to 1 members, and be called " + name + ".abcdefgh");
}

TEST_CASE("a plan that waits in vain for thousands names the first of them, and halts") {
  Bench bench(PlanDriver("c1", "p", 100));
  for (int i = 0; i < 5'000; ++i) {
    bench.store.put(key_of(KeyKind::plan_member,
                           {"p", "member-with-a-long-name-" + std::to_string(10'000 + i)}),
                    "{}");
  }
  bench.store.put(
      key_of(KeyKind::plan, {"p"}),
      write_record(
          Plan{.steps = {{.name = "a", .kind = StepClass::any, .hook = "h", .timeout_ms = 10'000}},
               .state = PlanState::running}));
  bench.begin();
  bench.wait(10'000);

  CHECK(bench.driver.task().view().plan.state == PlanState::halted);
  CHECK(bench.driver.task().view().plan.error.find(", and 4980 more to record") !=
        std::string::npos);
}

TEST_CASE("a wish without a valid version is ignored, and crashes no controller") {
  Bench bench(DesiredDriver("c1", {"agent"}, {}, 100));
  bench.store.put(key_of(KeyKind::node_versions, {"n"}), write_record(Versions{{{"agent", "1"}}}));
  bench.store.put(key_of(KeyKind::node_active, {"n"}), write_record(Active{.instance = "old"}));
  bench.store.put(key_of(KeyKind::node_instance, {"n", "old"}), R"({"version":"1","ready":true})");
  bench.begin();
  bench.put(key_of(KeyKind::desired, {"agent"}), R"({"version":"1.1 final"})");
  CHECK(bench.store.find(key_of(KeyKind::node_desired, {"n", "agent"})) == nullptr);
  bench.put(key_of(KeyKind::desired, {"agent"}), R"({"version":"1.1"})");
  CHECK(bench.store.find(key_of(KeyKind::node_desired, {"n", "agent"})) != nullptr);
}

}  // namespace

}  // namespace driver_test

// Tests what a cell keeps of its past: which rollouts and plans are erased after years, when the
// next snapshot of the store is due, and which snapshots are kept.
#include "fleet/model/history/retention.h"

#include <catch2/catch.hpp>

#include "fleet/model/records/record_text.h"
#include "fleet/model/signer/store_snapshots.h"
#include "tests/together/fleet/test_store.h"

namespace retention_test {

namespace {

using namespace fleet;

// ---- rollouts and plans that have ended: which of them are erased, and which line about each of
// them is kept

const std::string root(key_root);
constexpr int day = 86'400;

struct Bench {
  fleet_test::TestStore store;
  Retention retention;
  CellSettings settings;
  int now_s = 1'000 * day;

  void told(const std::vector<fleet_test::TestStore::Change>& changes) {
    for (const auto& change : changes) {
      const auto key = parse_key(change.record.key);
      if (!key) continue;
      change.erased ? retention.take_absent(*key) : retention.take(*key, change.record);
    }
  }
  void put(const std::string& rest, const std::string& value) {
    store.put(root + rest, value);
    told(store.changes());
  }
  void rollout(const std::string& name, RolloutState state, const std::string& version = "1.0",
               const std::string& component = "agent") {
    put("rollout/" + name + "/batch/0", write_record(RolloutBatch{{"n1"}}));
    put("rollout/" + name + "/node/n1", write_record(RolloutNode{}));
    put("rollout/" + name,
        write_record(Rollout{.terms = {.component = component, .version = version},
                             .state = state,
                             .who = "anna",
                             .trace = "t-" + name}));
  }
  void plan(const std::string& name, PlanState state) {
    put("plan/" + name + "/member/n1", write_record(PlanPlace{}));
    put("plan/" + name, write_record(Plan{.version = "3", .state = state, .trace = "t" + name}));
    put("node/n1/plan/" + name, write_record(PlanMember{}));
    put("once/" + name + "/a", write_record(Once{.version = "3", .success = true}));
  }
  // Commits all transactions that erase old records and are due now. Returns the number of these
  // transactions.
  int settle() {
    for (int count = 0;; ++count) {
      REQUIRE(count < 1'000);
      const auto next = retention.next(
          settings, [this](std::int64_t ago) { return std::to_string(now_s - ago); });
      if (!next) return count;
      REQUIRE(why_not_taken(*next) == std::nullopt);
      REQUIRE(std::holds_alternative<Committed>(store.commit(*next)));
      told(store.changes());
    }
  }
  bool has(const std::string& rest) { return store.find(root + rest) != nullptr; }
  int below(const std::string& rest) {
    return static_cast<int>(store.read({root + rest}).found.size());
  }
};

TEST_CASE("a line is written of a rollout when it ends, with who began it and how it ended") {
  Bench bench;
  bench.rollout("r1", RolloutState::rolling);
  CHECK(bench.settle() == 0);
  bench.rollout("r1", RolloutState::aborted);
  CHECK(bench.settle() == 1);
  CHECK(bench.settle() == 0);

  const auto line =
      read_record<PastRun>(bench.store.find(root + "history/000000000001")->value).value();
  CHECK(line.subject == "rollout/r1");
  CHECK(line.what == "agent 1.0");
  CHECK(line.state == "aborted");
  CHECK(line.who == "anna");
  CHECK(line.ended == std::to_string(bench.now_s));
  CHECK(bench.has("rollout/r1"));
}

TEST_CASE("an old rollout that is not one of the last 20 is erased with all its records") {
  Bench bench;
  for (int i = 10; i < 35; ++i)
    bench.rollout("r" + std::to_string(i), RolloutState::completed);
  bench.rollout("other", RolloutState::completed, "1.0", "web");
  bench.settle();
  CHECK(bench.has("rollout/r10"));
  bench.now_s += 90 * day;
  bench.settle();
  CHECK(bench.has("rollout/r10"));  // exactly as old as the limit allows
  bench.now_s += 1;
  CHECK(bench.settle() == 5);

  CHECK_FALSE(bench.has("rollout/r14"));
  CHECK(bench.below("rollout/r14/") == 0);
  CHECK(bench.has("rollout/r15"));
  CHECK(bench.has("rollout/r15/node/n1"));
  CHECK(bench.has("rollout/other"));
  CHECK(bench.below("history/") == 26);
}

TEST_CASE("a rollout is kept if it goes on, has the highest version, or is needed by a plan") {
  Bench bench;
  bench.rollout("under-way", RolloutState::paused, "1.0");
  bench.rollout("highest", RolloutState::aborted, "2.0");
  bench.plan("spring", PlanState::halted);
  bench.rollout("spring.t1", RolloutState::completed, "1.0");
  bench.settle();
  for (int i = 10; i < 40; ++i)
    bench.rollout("r" + std::to_string(i), RolloutState::completed);
  bench.settle();
  bench.now_s += 91 * day;
  bench.settle();

  CHECK(bench.has("rollout/under-way"));
  CHECK(bench.has("rollout/highest"));
  CHECK(bench.has("rollout/spring.t1"));
  CHECK_FALSE(bench.has("rollout/r19"));
  CHECK(bench.has("plan/spring"));
  bench.plan("spring", PlanState::completed);
  bench.settle();
  CHECK_FALSE(bench.has("rollout/spring.t1"));
}

TEST_CASE("a plan is erased with its members' records, but the records of once stay") {
  Bench bench;
  bench.plan("p10", PlanState::aborted);
  for (int i = 0; i < 250; ++i)
    bench.put("node/m" + std::to_string(i) + "/plan/p10", write_record(PlanMember{}));
  for (int i = 11; i < 31; ++i)
    bench.plan("p" + std::to_string(i), PlanState::completed);
  bench.settle();
  bench.now_s += 91 * day;
  bench.settle();

  CHECK_FALSE(bench.has("plan/p10"));
  CHECK_FALSE(bench.has("plan/p10/member/n1"));
  CHECK_FALSE(bench.has("node/n1/plan/p10"));
  CHECK_FALSE(bench.has("node/m249/plan/p10"));
  CHECK(bench.has("once/p10/a"));
  CHECK(bench.has("plan/p11"));
}

TEST_CASE("a run with a name used before gets a line of its own, and owns the records") {
  Bench bench;
  bench.rollout("r", RolloutState::completed);
  bench.settle();
  bench.store.erase(root + "rollout/r");
  bench.told(bench.store.changes());
  bench.put("rollout/r", write_record(Rollout{.terms = {.component = "agent", .version = "1.0"},
                                              .state = RolloutState::aborted,
                                              .trace = "t2"}));
  bench.settle();
  CHECK(bench.below("history/") == 2);
}

TEST_CASE("the newest 10,000 lines are kept, and those of runs that have records") {
  Bench bench;
  bench.rollout("first", RolloutState::completed);
  bench.settle();
  for (std::uint64_t i = 2; i <= 10'150; ++i) {
    bench.put(key_of(KeyKind::history, {}, i).substr(root.size()),
              write_record(PastRun{.subject = "rollout/x", .trace = std::to_string(i)}));
  }
  bench.settle();
  CHECK(bench.below("history/") == 10'000);
  CHECK(bench.has("history/000000000001"));
  CHECK_FALSE(bench.has("history/000000000151"));
  CHECK(bench.has("history/000000000152"));
}

TEST_CASE("unreadable lines and records crash nothing, and cause no endless work") {
  Bench bench;
  bench.put("history/000000000007", "[[");
  bench.put("rollout/r", "[[");
  bench.put("plan/p", "{}");
  bench.put("history/999999999999", "{}");
  bench.rollout("s", RolloutState::completed);
  bench.settle();
  CHECK(bench.has("rollout/r"));

  Bench another;
  another.put("rollout/r", write_record(Rollout{.terms = {.component = "agent", .version = "1.0"},
                                                .state = RolloutState::completed,
                                                .trace = std::string(5'000, 't')}));
  CHECK(another.settle() == 1);
}

// ---- snapshots as files in a directory

using Files = std::vector<std::string>;

TEST_CASE("the name of a snapshot's file tells its time, and names sort by time") {
  CHECK(snapshot_name(1'800'000'000) == "cell-001800000000.snapshot");
  CHECK(snapshot_time("cell-001800000000.snapshot") == 1'800'000'000);
  CHECK(snapshot_name(999'999'999) < snapshot_name(1'000'000'000));
}

TEST_CASE("a file with another name is not a snapshot") {
  const auto* name =
      GENERATE("", "cell-.snapshot", "cell-12.snapshot", "cell-00180000000x.snapshot",
               "cell-001800000000.snapshot.new", "cell--01800000000.snapshot");

  CHECK_FALSE(snapshot_time(name));
}

TEST_CASE("a snapshot is due an hour after the last one, and at once if there is none") {
  const Files files{snapshot_name(10'000), snapshot_name(6'000), "notes"};

  CHECK(until_snapshot({}, 10'000) == 0);
  CHECK(until_snapshot(files, 10'000) == 3'600);
  CHECK(until_snapshot(files, 13'000) == 600);
  CHECK(until_snapshot(files, 20'000) == 0);
  // The clock was ahead when the newest snapshot was made, so its time is in the future. The next
  // snapshot is due an hour after the snapshot before it.
  CHECK(until_snapshot(files, 9'000) == 600);
  CHECK(until_snapshot({snapshot_name(10'000), snapshot_name(9'000)}, 9'000) == 3'600);
}

TEST_CASE("the last snapshots are kept, and other files are left alone") {
  const Files files{snapshot_name(3), "notes", snapshot_name(1), snapshot_name(2)};

  CHECK(outlived_snapshots(files, 2, 3) == Files{snapshot_name(1)});
  CHECK(outlived_snapshots(files, 3, 3).empty());
  CHECK(outlived_snapshots({}, 3, 3).empty());
}

TEST_CASE("snapshots from before the clock went back do not push out the ones that are taken now") {
  const Files files{snapshot_name(9'000), snapshot_name(5), snapshot_name(8'000)};

  CHECK(outlived_snapshots(files, 2, 5) == Files{snapshot_name(8'000)});
  CHECK(outlived_snapshots(files, 1, 5) == Files{snapshot_name(8'000), snapshot_name(9'000)});
}

}  // namespace

}  // namespace retention_test

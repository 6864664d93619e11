// Tests budgets, which limit how many nodes may be down at the same time. A simulated cell has two
// rollouts, a desired version and a plan, which make progress in a random order. All four together
// must never take down more nodes of one site than the budget allows. All rollouts and the plan
// must end, and all nodes must reach the desired version.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <utility>

#include "fleet/model/agent/plan_follower.h"
#include "fleet/model/drivers/drivers.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/record_text.h"
#include "tests/together/fleet/long_run.h"
#include "tests/together/fleet/test_store.h"

namespace budgets_simulate_test {

namespace {

using namespace fleet;
using Ids = std::vector<std::string>;

// Simulating one cell takes as long as simulating about a hundred small rollouts. So `make
// simulate-fleet RUNS=N` simulates N small rollouts, and one cell for each hundred of them.
constexpr std::uint64_t runs_per_cell = 100;
// The number of cells that `make check`, which does not set RUNS, simulates.
constexpr std::uint64_t cells_min = 80;

// A cell in which two rollouts of fleet-agent, a desired version of another component and a plan
// change the same nodes. At each step, one of these four, chosen at random, makes progress or loses
// its driver. A step may also lose an answer of the store.
class Cell {
 public:
  explicit Cell(unsigned seed, std::int64_t places = 1) : random_(seed), places_(places) {
    store_.put(key_of(KeyKind::settings),
               R"({"unavailable.site":")" + std::to_string(places) + "\"}");
    for (int i = 0; i < 6; ++i) {
      const std::string id = "n" + std::to_string(i);
      ids_.push_back(id);
      store_.put(key_of(KeyKind::node_info, {id}),
                 write_record(NodeInfo{.labels = {{"site", site(id)}}}));
      store_.put(key_of(KeyKind::node_active, {id}), write_record(Active{.instance = "i"}));
      store_.put(key_of(KeyKind::node_instance, {id, "i"}),
                 write_record(Instance{.version = "1", .ready = true}));
      store_.put(key_of(KeyKind::node_versions, {id}),
                 write_record(Versions{{{"agent", "1"}, {"shop", "1"}}}));
    }
    store_.put(key_of(KeyKind::desired, {"shop"}), write_record(Desired{.version = "2"}));
    rollout("r1", {{"n0", "n1"}, {"n2"}});
    rollout("r2", {{"n3"}, {"n4", "n5"}});
    plan({{.name = "s1", .kind = StepClass::any, .hook = "h"},
          {.name = "s2", .kind = StepClass::one_at_a_time, .hook = "h"},
          {.name = "s3", .kind = StepClass::once, .hook = "h"},
          {.name = "s4", .kind = StepClass::one_at_a_time, .hook = "h"}});
    for (int i = 0; i < 4; ++i)
      begin(i);
  }

  // Runs until all rollouts and plans have ended and all nodes have reached the desired version, or
  // until `steps` steps have been made.
  void run(int steps) {
    for (int i = 0; i < steps && wrong_.empty(); ++i) {
      // Only a change of the store can end a rollout or plan. So the end is checked only after a
      // change: the check reads all records, which takes much longer than a step.
      const bool has_changed = store_.revision() != revision_;
      revision_ = store_.revision();
      if (has_changed && is_over()) return;
      step();
    }
  }
  bool is_over() {
    for (const std::string id : {"r1", "r2"}) {
      if (!fleet::is_over(rollout(id).state)) return false;
    }
    if (!fleet::is_over(the_plan().state) && the_plan().state != PlanState::halted) return false;
    return std::all_of(ids_.begin(), ids_.end(),
                       [this](const std::string& id) { return running(id, "shop") == "2"; });
  }
  const std::string& wrong() const { return wrong_; }
  Rollout rollout(const std::string& id) {
    return read_record<Rollout>(store_.find(key_of(KeyKind::rollout, {id}))->value).value();
  }
  Plan the_plan() {
    return read_record<Plan>(store_.find(key_of(KeyKind::plan, {"p"}))->value).value();
  }
  std::size_t places() const { return store_.read({prefix_of(KeyKind::place)}).found.size(); }
  int most_down() const { return most_down_; }
  std::string words() {
    std::string text = wrong_;
    for (const std::string id : {"r1", "r2"}) {
      text += " " + id + " " + std::string(text_of(rollout(id).state)) + " " +
              rollout(id).waits_for + rollout(id).reason;
    }
    text += " p " + std::string(text_of(the_plan().state)) + " " + std::to_string(the_plan().step) +
            the_plan().error + the_plan().waits_for;
    for (const std::string& id : ids_)
      text += " " + id + "=" + running(id, "shop") + running(id, "agent");
    return text;
  }
  // Injects a bug: if true, a transaction takes places of a budget without a check that these
  // places are still free. (A place is the record by which a node counts against the budget.)
  bool forgets_places = false;

 private:
  struct Driven {
    std::unique_ptr<RolloutDriver> rollout;
    std::unique_ptr<DesiredDriver> desired;
    std::unique_ptr<PlanDriver> plan;
    std::optional<DriverAction> asked;
    LeaseId lease = 0;
  };

  static std::string site(const std::string& id) {
    return id == "n0" || id == "n2" || id == "n3" || id == "n4" ? "north" : "south";
  }
  std::uint32_t chance(std::uint32_t below) {
    return static_cast<std::uint32_t>(random_() % below);
  }

  void rollout(const std::string& id, const std::vector<Ids>& batches) {
    for (std::size_t i = 0; i < batches.size(); ++i)
      store_.put(key_of(KeyKind::rollout_batch, {id}, i), write_record(RolloutBatch{batches[i]}));
    store_.put(key_of(KeyKind::rollout, {id}),
               write_record(Rollout{.terms = {.component = "agent", .version = "2", .soak_ms = 0},
                                    .state = RolloutState::rolling,
                                    .batches = static_cast<std::int64_t>(batches.size())}));
  }

  // Begins a plan for three nodes: two of one site, and one of another site.
  void plan(const std::vector<PlanStep>& steps) {
    for (const std::string id : {"n2", "n4", "n5"}) {
      store_.put(key_of(KeyKind::plan_member, {"p", id}), write_record(PlanPlace{}));
      parts_.emplace(id, PlanPart(id, "p", "1"));
    }
    Plan plan{.version = "2", .steps = steps, .state = PlanState::running};
    for (PlanStep& step : plan.steps)
      step.timeout_ms = 3'600'000;
    store_.put(key_of(KeyKind::plan, {"p"}), write_record(plan));
  }

  // Lets one member of the plan (a node that takes part in the plan) make one step. While the
  // member's hook (the program for a step of the plan) runs, the member's machine counts as down.
  void member(const std::string& id) {
    PlanPart& part = parts_.at(id);
    if (hook_.contains(id)) {
      hook_.erase(id);
      down_.erase({id, "plan"});
      return carry_out(id, part.step(HookEnded{0, ""}));
    }
    const KeyValue* plan = store_.find(key_of(KeyKind::plan, {"p"}));
    const KeyValue* own = store_.find(key_of(KeyKind::node_plan, {id, "p"}));
    const KeyValue* active = store_.find(key_of(KeyKind::node_active, {id}));
    const PlanSight sight{
        .takes_part = true,
        .plan = read_record<Plan>(plan->value).value(),
        .revision = plan->modified,
        .own = own == nullptr ? PlanMember{} : read_record<PlanMember>(own->value).value(),
        .own_revision = own == nullptr ? 0 : own->modified};
    carry_out(id, part.step(PlanSeen{sight, store_.revision(), active->modified}));
  }
  void carry_out(const std::string& id, const FollowerStep& step) {
    if (const auto* hook = std::get_if<RunHook>(&step)) {
      hook_.insert(id);
      if (hook->verb == HookVerb::act) down_.insert({id, "plan"});
    }
    if (const auto* write = std::get_if<WriteMember>(&step)) {
      const Outcome outcome = store_.commit(write->transaction);
      tell_changes();
      carry_out(id, parts_.at(id).step(MemberWritten{outcome}));
    }
  }

  void begin(int which) {
    Driven& one = drivers_[which];
    if (one.lease != 0) store_.end_lease(one.lease);
    one = {};
    one.lease = ++leases_;
    const std::string name = "c" + std::to_string(one.lease);
    if (which == 3) {
      one.plan = std::make_unique<PlanDriver>(name, "p", one.lease);
    } else if (which == 2) {
      one.desired = std::make_unique<DesiredDriver>(
          name, Ids{"shop"}, DesiredSettings{.uncommitted_percent = 100, .observe_ms = 0},
          one.lease);
    } else {
      one.rollout =
          std::make_unique<RolloutDriver>(name, "r" + std::to_string(which + 1), one.lease);
    }
    tell(one, BeginDriving{});
  }

  void tell(Driven& one, const DriverEvent& event) {
    const DriverActions actions = one.rollout ? one.rollout->step(event, now_)
                                  : one.plan  ? one.plan->step(event, now_)
                                              : one.desired->step(event, now_);
    for (const DriverAction& action : actions) {
      if (std::holds_alternative<Tell>(action)) continue;
      if (std::holds_alternative<EndDriving>(action)) {
        one.asked.reset();
        store_.end_lease(one.lease);
        continue;
      }
      one.asked = action;
    }
  }
  bool is_over(const Driven& one) const {
    if (one.plan) return one.plan->is_over();
    return one.rollout ? one.rollout->is_over() : one.desired->is_over();
  }

  void tell_changes() {
    const auto changes = store_.changes();
    for (auto& [which, one] : drivers_) {
      for (const auto& change : changes) {
        if (is_over(one)) break;
        if (change.erased) {
          tell(one, KeyErased{change.record.key, change.record.modified});
        } else {
          tell(one, KeyChanged{change.record});
        }
      }
    }
  }

  void put(const std::string& key, const std::string& value) {
    store_.put(key, value);
    tell_changes();
  }

  void step() {
    const std::uint32_t which = chance(14);
    if (which < 4) return drive(drivers_[static_cast<int>(which)]);
    if (which == 4) return pass_time();
    if (which == 5 && chance(40) == 0) return begin(static_cast<int>(chance(4)));
    const std::string& id = ids_[chance(static_cast<std::uint32_t>(ids_.size()))];
    if (which < 8 && parts_.contains(id)) {
      member(id);
    } else {
      node(id);
    }
    count_down();
  }

  void drive(Driven& one) {
    if (!one.asked) return;
    const DriverAction asked = *std::exchange(one.asked, std::nullopt);
    if (const auto* commit = std::get_if<Commit>(&asked)) {
      Transaction transaction = commit->transaction;
      if (forgets_places) {
        const auto is_place = [](const auto& part) {
          return part.key.starts_with(prefix_of(KeyKind::place));
        };
        std::erase_if(transaction.compares, is_place);
      }
      const bool is_lost = chance(30) == 0;
      if (is_lost && chance(2) == 0) return tell(one, TransactionEnded{Unknown{"lost"}});
      const Outcome outcome = store_.commit(transaction);
      const bool is_done = std::holds_alternative<Committed>(outcome);
      const auto changes = store_.changes();
      tell(one, TransactionEnded{is_lost ? Outcome(Unknown{"lost"}) : outcome});
      if (is_done) tell_changes();
    } else if (const auto* reading = std::get_if<WantReading>(&asked)) {
      tell(one, ReadingEnded{store_.read(reading->prefixes)});
    } else if (std::holds_alternative<GrantLease>(asked)) {
      tell(one, LeaseGranted{++leases_});
    }
  }

  void pass_time() {
    now_ += 1'000;
    for (auto& [which, one] : drivers_) {
      if (is_over(one)) continue;
      tell(one, KeptAlive{});
      if (!is_over(one)) tell(one, TimePassed{});
    }
  }

  std::string running(const std::string& id, const std::string& component) {
    const KeyValue* found = store_.find(key_of(KeyKind::node_versions, {id}));
    return read_record<Versions>(found->value).value().running[component];
  }
  template <class Record>
  std::optional<Record> read(const std::string& key) {
    const KeyValue* found = store_.find(key);
    if (found == nullptr) return std::nullopt;
    return read_record<Record>(found->value).value();
  }
  void runs(const std::string& id, const std::string& component) {
    auto versions = *read<Versions>(key_of(KeyKind::node_versions, {id}));
    versions.running[component] = "2";
    put(key_of(KeyKind::node_versions, {id}), write_record(versions));
  }

  // Lets a node make one step: the node carries out a rollout's command, or moves to its desired
  // version.
  void node(const std::string& id) {
    const auto command = read<Command>(key_of(KeyKind::node_command, {id, "agent"}));
    const std::string answered_key = key_of(KeyKind::node_answer, {id, "agent"});
    const auto answered = read<Answer>(answered_key);
    const std::string upgrade_key = key_of(KeyKind::node_upgrade, {id, "agent"});
    if (command && (!answered || answered->command != command->id)) {
      Upgrade upgrade = read<Upgrade>(upgrade_key).value_or(Upgrade{});
      if (command->action == CommandAction::apply) {
        upgrade = {.phase = UpgradePhase::soaked, .attempt = command->id};
        down_.insert({id, "agent"});
        // One upgrade in twenty fails at once.
        if (chance(20) == 0) upgrade.phase = UpgradePhase::failed;
      }
      if (command->action == CommandAction::confirm) upgrade.phase = UpgradePhase::done;
      if (command->action == CommandAction::rollback) upgrade.phase = UpgradePhase::rolled_back;
      if (upgrade.phase != UpgradePhase::soaked) down_.erase({id, "agent"});
      if (upgrade.phase == UpgradePhase::done) runs(id, "agent");
      put(upgrade_key, write_record(upgrade));
      put(answered_key, write_record(Answer{.command = command->id, .result = "done"}));
      return;
    }
    const std::string wish_key = key_of(KeyKind::node_desired, {id, "shop"});
    const auto wish = read<Desired>(wish_key);
    if (!wish || running(id, "shop") == "2") return;
    const std::string attempt = "desired." + std::to_string(store_.find(wish_key)->modified) + ".1";
    const std::string shop_key = key_of(KeyKind::node_upgrade, {id, "shop"});
    const auto upgrade = read<Upgrade>(shop_key);
    const bool waits = upgrade && upgrade->phase == UpgradePhase::cutover_ready;
    if (!waits) {
      return put(shop_key,
                 write_record(
                     Upgrade{.phase = UpgradePhase::cutover_ready, .attempt = attempt, .to = "2"}));
    }
    const auto stop = read<Command>(key_of(KeyKind::node_command, {id, "shop"}));
    if (!stop) return;
    // The component is down for at least one step between the old version and the new one.
    if (down_.insert({id, "shop"}).second) return;
    down_.erase({id, "shop"});
    put(shop_key,
        write_record(Upgrade{.phase = UpgradePhase::done, .attempt = attempt, .to = "2"}));
    runs(id, "shop");
  }

  void count_down() {
    std::map<std::string, std::set<std::string>> down;
    for (const auto& [id, component] : down_)
      down[site(id)].insert(id);
    for (const auto& [name, nodes] : down) {
      most_down_ = std::max(most_down_, static_cast<int>(nodes.size()));
      if (static_cast<std::int64_t>(nodes.size()) > places_)
        wrong_ = std::to_string(nodes.size()) + " nodes of " + name + " are down";
    }
  }

  std::mt19937 random_;
  std::int64_t places_;
  fleet_test::TestStore store_;
  Ids ids_;
  std::map<int, Driven> drivers_;
  std::set<std::pair<std::string, std::string>> down_;
  std::map<std::string, PlanPart> parts_;
  std::set<std::string> hook_;  // the members of the plan whose hook runs now
  LeaseId leases_ = 100;
  Revision revision_ = 0;  // the store's revision at the last check of is_over()
  Ms now_ = 0;
  int most_down_ = 0;
  std::string wrong_;
};

// Requirements (tests/judging/rows): S-02, S-14
TEST_CASE(
    "two rollouts, a desired version and a plan never stop more of a site than there are places") {
  const std::uint64_t cells = std::max(cells_min, fleet_test::number_of("RUNS", 0) / runs_per_cell);
  for (unsigned seed = 1; seed <= cells; ++seed) {
    Cell cell(seed);
    cell.run(60'000);
    CAPTURE(seed, cell.words());
    REQUIRE(cell.wrong().empty());
    REQUIRE(cell.is_over());
    CHECK(cell.most_down() == 1);
    CHECK(cell.the_plan().state == PlanState::completed);
    // The budget has one place for each of the two sites. (A place is the record by which a node
    // counts against the budget.) Both places may still be taken at the end: a driver gives a
    // node's place back only in the step after the node has come up.
    CHECK(cell.places() <= 2);
  }
  fleet_test::report(
      "make simulate-fleet RUNS=" + std::to_string(cells * runs_per_cell),
      std::to_string(cells) + " cells with two rollouts, a desired version and a plan",
      "all end, and no site has more nodes down than places");
}

TEST_CASE("canaries: drivers that take a place that is taken are found") {
  int found = 0;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    Cell cell(seed);
    cell.forgets_places = true;
    cell.run(20'000);
    if (!cell.wrong().empty()) ++found;
  }
  CHECK(found > 0);
}

}  // namespace

}  // namespace budgets_simulate_test

// Runs the code with which fleet-agent reads its node's records, on random records. This is the
// code for a component's commands and desired versions, and for the node's part in plans. The store
// is in memory, and the test moves the clock.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "fleet/agent/component.h"
#include "fleet/model/plan_part.h"
#include "tests/together/fleet/caught_output.h"
#include "tests/together/fleet/fake_store.h"
#include "tests/together/fleet/record_world.h"

namespace fleet_test {
namespace {

using namespace fleet;
using namespace std::chrono_literals;

constexpr int agent_steps_max = 20'000;
const std::string node = "e1";

// A temporary directory. The destructor removes it.
class Directory {
 public:
  Directory() {
    std::string path = (std::filesystem::temp_directory_path() / "records.XXXXXX").string();
    path_ = ::mkdtemp(path.data()) == nullptr ? "" : path;
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() { std::filesystem::remove_all(path_); }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A store in memory that checks every write before it commits it.
class SeenStore : public FakeStore {
 public:
  SeenStore(VirtualTime& time, FakeCell& cell, std::string& wrong)
      : FakeStore(time, cell), wrong_(wrong) {}

  void commit(Transaction transaction, Then<Outcome> then) override {
    if (const auto why = why_not_taken(transaction)) note(*why);
    for (const Put& put : transaction.puts) {
      const std::string why = why_unreadable(put.key, put.value);
      if (!why.empty()) note("writes " + put.key + " " + why + ": " + put.value);
    }
    FakeStore::commit(std::move(transaction), std::move(then));
  }

 private:
  void note(const std::string& what) {
    if (wrong_.empty()) wrong_ = "fleet-agent: " + what;
  }

  std::string& wrong_;
};

// The objects of a fleet-agent for one component of its node.
struct Agent {
  std::string wrong;
  Directory directory;
  uv_loop_t loop{};
  VirtualTime time;
  FakeCell cell{time};
  SeenStore store{time, cell, wrong};
  std::unique_ptr<Component> component;
  Mirror mirror{store,
                time,
                {node_prefix(node), true},
                {.changed =
                     [this](const Changes&) {
                       if (component) component->look();
                     }},
                1};
  KeptRecords records{store, time, mirror, 1, {.denied = [](const std::string&) {}}};
  NodeDesk desk{.node = node,
                .instance = "i-1",
                .boot_id = "b",
                .store = store,
                .timers = time,
                .mirror = mirror,
                .records = records,
                .reboot = [] {}};

  Agent() { uv_loop_init(&loop); }
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  ~Agent() {
    uv_run(&loop, UV_RUN_DEFAULT);
    component = nullptr;
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
  }

  // Runs the component until nothing is left to do, or until this time has passed on the test's
  // clock.
  void wait(Timers::Milliseconds length) {
    const auto end = time.now() + length;
    for (int i = 0; i < agent_steps_max; ++i) {
      // Performs the disk accesses that the component has requested.
      uv_run(&loop, UV_RUN_DEFAULT);
      if (!time.run_next_until(end)) return;
    }
    if (wrong.empty()) wrong = "fleet-agent never rests";
  }
};

Component::Hands hands(RecordMaker& maker) {
  const auto some = [&maker] { return maker.below(2) == 0 ? std::string() : maker.odd_text(); };
  return {.ask = [some](const Component::Request&) { return some(); },
          .confirm = [some](const std::string&) { return some(); },
          .commit = [some](const std::string&) { return some(); },
          .go_back = [some](const std::string&, const std::string&) { return some(); }};
}

std::string wrong_in_component(const TestStore& store, RecordMaker& maker) {
  Agent agent;
  std::vector<Put> puts;
  for (const auto& [key, record] : store.all()) {
    const bool is_read =
        key.starts_with(node_prefix(node)) || key.starts_with(prefix_of(KeyKind::release));
    if (is_read) agent.cell.commit({.puts = {{.key = key, .value = record.value}}});
  }
  const Outcome active = agent.cell.commit(
      {.puts = {{key_of(KeyKind::node_active, {node}), write_record(Active{"i-1", "b", 1})}}});
  agent.desk.active = std::get<Committed>(active).revision;
  agent.records.compare(
      {{.key = key_of(KeyKind::node_active, {node}), .revision = agent.desk.active}});
  const std::string name = maker.below(2) == 0 ? "agent" : "shop";
  agent.component = std::make_unique<Component>(
      agent.loop, agent.desk,
      Component::Settings{.name = name,
                          .releases = {agent.directory.path(), name, agent.directory.path()},
                          .ledger = agent.directory.path() + "/ledger"},
      hands(maker));
  agent.wait(1s);
  agent.component->begin({}, {}, maker.odd_text());
  agent.component->settle("", maker.odd_text());
  agent.wait(2s);
  for (int i = 0; i < 4; ++i) {
    const std::string asked = agent.component->asked();
    agent.component->take(UpgradeActivated{asked});
    agent.component->gate_reached(asked);
    agent.wait(5s);
    agent.component->upgrade_ended({.command = asked, .why = maker.odd_text()});
    const Written one = maker.next();
    if (one.key.starts_with(node_prefix(node)) && one.key != key_of(KeyKind::node_active, {node})) {
      agent.cell.commit({.puts = {{.key = one.key, .value = one.value}}});
    }
    agent.wait(60s);
  }
  return agent.wrong;
}

// Returns what a node knows about a plan from the records in this store. This function stands for
// PlanDesk of fleet-agent.
PlanSeen seen(const TestStore& store, const std::string& plan) {
  PlanSeen seen{.as_of = store.revision(), .active = 1};
  const KeyValue* record = store.find(key_of(KeyKind::plan, {plan}));
  const auto read =
      record == nullptr ? agent_protocol::Refusal{"absent"} : read_record<Plan>(record->value);
  if (!read) return seen;
  seen.sight.plan = read.value();
  seen.sight.revision = record->modified;
  seen.sight.takes_part = store.find(key_of(KeyKind::plan_member, {plan, node})) != nullptr;
  if (const KeyValue* own = store.find(key_of(KeyKind::node_plan, {node, plan}))) {
    const auto member = read_record<PlanMember>(own->value);
    seen.sight.own = member ? member.value() : PlanMember();
    seen.sight.own_revision = own->modified;
  }
  return seen;
}

std::string wrong_in_plan_part(TestStore store, RecordMaker& maker) {
  const std::string plan = "evil-plan";
  PlanPart part(node, plan, "1.0.0", "b");
  FollowerStep step = part.step(seen(store, plan));
  for (int i = 0; i < 60; ++i) {
    if (std::holds_alternative<RunHook>(step)) {
      const int status = maker.below(2) == 0 ? 0 : static_cast<int>(maker.below(140));
      step = part.step(HookEnded{status, maker.odd_text()});
    } else if (const auto* write = std::get_if<WriteMember>(&step)) {
      if (const auto why = why_not_taken(write->transaction)) return "a member writes " + *why;
      const PlanMember sent = write->member;
      Transaction transaction = write->transaction;
      // Removes the compare of the record `active`. seen() has invented its revision, 1, so the
      // store would refuse the transaction.
      std::erase_if(transaction.compares, [](const Compare& one) { return one.revision == 1; });
      step = part.step(MemberWritten{store.commit(transaction)});
      const Put& put = transaction.puts.front();
      if (const auto read = read_record<PlanMember>(put.value); !read || read.value() != sent) {
        return "a member does not read what it has written: " + put.value;
      }
    } else {
      const Written one = maker.next();
      if (one.key.find("/evil-plan") != std::string::npos) store.put(one.key, one.value);
      step = part.step(seen(store, plan));
    }
  }
  return "";
}

}  // namespace

std::string wrong_in_agent(const TestStore& store, RecordMaker& maker) {
  const Caught caught;
  std::string wrong = wrong_in_component(store, maker);
  if (wrong.empty()) wrong = wrong_on_terminal(caught.text());
  return wrong.empty() ? wrong_in_plan_part(store, maker) : wrong;
}

}  // namespace fleet_test

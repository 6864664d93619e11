// A simulated node. The node runs the parts of fleet-agent that decide about commands, desired
// versions and plans. Like fleet-agent, the node has a client of the store, with watches and a
// lease. It has no upgrader and no disk: work that takes time on a real machine is done
// immediately. The node has one component, `shop`.
#pragma once

#include <uv.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fleet/model/agent/node_commander.h"
#include "fleet/model/agent/plan_follower.h"
#include "fleet/model/agent/wish_machine.h"
#include "fleet/model/records/keys.h"
#include "fleet/store/etcd_store.h"
#include "fleet/store/lease_keeper.h"
#include "fleet/store/mirror.h"
#include "fleet/store/uv_timers.h"

namespace fleet::test {

// The part of a simulated node that takes part in plans, like the class PlanDesk of fleet-agent.
// SimPlans does not run programs as hooks: every hook succeeds immediately.
class SimPlans {
 public:
  // The mirror `own` is a local copy of the records below the node's key. SimPlans calls `wrote` at
  // each write to the store. The arguments must live longer than this object.
  SimPlans(Store& store, Timers& timers, const Mirror& own, std::string node, std::uint64_t seed,
           std::function<void()> wrote);
  SimPlans(const SimPlans&) = delete;
  SimPlans& operator=(const SimPlans&) = delete;

  // Lets the node decide what to do next in each plan, according to the current records. Must be
  // called after each change of the node's records.
  void look();
  // Begins to take part in plans, or continues after the node has registered again. `active` is the
  // revision at which the node has written its record `active`. Writes to a plan are made only
  // while the record still has this revision.
  void act(Revision active);
  [[nodiscard]] bool follows() const { return plans_.follows(); }

 private:
  [[nodiscard]] bool is_wanted(const std::string& text) const;
  [[nodiscard]] PlanSeen seen(const std::string& plan, const KeyValue& record) const;
  void feed(const std::string& plan, const PlanPartEvent& event);
  void perform(const std::string& plan, const RunHook& run);
  void perform(const std::string& plan, const WriteMember& write);
  static void perform(const std::string& /*plan*/, const NothingToDo& /*nothing*/) {}

  Store& store_;
  Timers& timers_;
  const Mirror& own_;
  std::string node_;
  std::function<void()> wrote_;
  Revision active_ = 0;
  std::map<std::string, PlanPart> parts_;
  std::map<std::string, std::unique_ptr<Timer>> soon_;
  Mirror plans_;
};

class SimNode {
 public:
  static constexpr std::string_view component = "shop";

  struct Observer {
    // Called when the node's first records are in the store.
    std::function<void()> registered;
    // Called when the node has read a command.
    std::function<void(const Command&)> ordered;
    // Called when the node's answer to a command is in the store.
    std::function<void(const NodeLedger&)> answered;
    // Called when the node runs its desired version.
    std::function<void(const std::string& version)> wished;
    // Called when the node has sent a transaction that writes.
    std::function<void()> wrote;
    // Called when the node has sent a transaction that only compares revisions.
    std::function<void()> asked;
    // Called when the node's lease was renewed.
    std::function<void()> renewed;
    // Called when the node's watch or lease was lost.
    std::function<void(const std::string& words)> troubled;
  };
  struct Settings {
    EtcdStore::Settings store;
    std::string name = {};
    std::string group = {};  // the value of the label `group`
    std::chrono::seconds lease{30};
  };

  SimNode(uv_loop_t& loop, const Settings& settings, Observer observer);
  SimNode(const SimNode&) = delete;
  SimNode& operator=(const SimNode&) = delete;
  ~SimNode() = default;

  // Returns whether the node has registered, holds a lease, and follows all records that it needs.
  [[nodiscard]] bool is_connected() const;

 private:
  void enter();
  void show_instance();
  void look();
  void look_at_wish();
  void look_at_command();
  void take(const NodeEvent& event);
  void feed(const WishEvent& event);
  void later(std::function<void()> deed);
  void expect_deadline();
  void write(Transaction transaction, Store::Then<const Outcome&> then);
  void write_versions(const std::string& version);
  void write_upgrade();
  [[nodiscard]] std::string key(KeyKind kind) const;

  void perform(const Save& save);
  void perform(const Ask& ask);
  void perform(const Report& report);
  void perform(const DoPrepare& order);
  void perform(const BeginUpgrade& begin);
  void perform(const SendCommit& commit);
  void perform(const GoBack& back);
  void perform(const PassGate& pass);
  void perform(const Reboot&) {}

  void perform(const FetchRelease& fetch);
  void perform(const AskUpgrade& ask);
  void perform(const ConfirmUpgrade& confirm);
  void perform(const CancelUpgrade& cancel);
  void perform(const ReportUpgrade& report);
  void perform(const ForgetUpgrade&) {}

  std::string name_;
  std::string group_;
  Observer observer_;
  UvTimers timers_;
  EtcdStore store_;
  Mirror mirror_;
  Mirror stop_;
  Mirror epoch_;
  SimPlans plans_;
  LeaseKeeper lease_;
  NodeCommander commander_;
  WishMachine machine_;
  bool registered_ = false;
  // True if the node's last upgrade was begun for its desired version, and not for a command. Then
  // only machine_ writes the upgrade's record, and the reports of commander_ leave this record out.
  bool wish_reports_ = false;
  std::pair<std::string, Revision> seen_;
  // The newest record of the upgrade to the desired version, as long as this record waits to be
  // written to the store. This text is empty if no record waits.
  std::string upgrade_;
  bool writes_upgrade_ = false;
  std::string version_ = "1.0.0";
  std::string before_;  // the version that ran before the last upgrade
  std::unique_ptr<Timer> deadline_;
  std::vector<std::unique_ptr<Timer>> soon_;
};

}  // namespace fleet::test

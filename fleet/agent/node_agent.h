// Defines the main class of fleet-agent. It connects fleet-agent's own upgrader, the store and the
// directories of releases, and brings each of the machine's components to its desired version.
//
// During an upgrade of fleet-agent, the new process is held back until the old one has exited.
// Until then, it writes only its record `instance/UUID`, which has a lease. When the upgrader sends
// `activate`, the new process writes the record `active`, unless that record has changed since the
// process read it. It acts and sends `healthy` only after this write, so a version that cannot
// reach the store is not committed.
#pragma once

#include <uv.h>

#include <agent-protocol/agent.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/uv_handle.h"
#include "fleet/agent/component.h"
#include "fleet/agent/kept_records.h"
#include "fleet/agent/neighbour.h"
#include "fleet/agent/options.h"
#include "fleet/agent/plan_desk.h"
#include "fleet/agent/renewal.h"
#include "fleet/common/identity.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/signer/store_snapshots.h"
#include "fleet/store/etcd_store.h"
#include "fleet/store/lease_keeper.h"
#include "fleet/store/mirror.h"
#include "fleet/store/uv_timers.h"

namespace fleet {

class NodeAgent {
 public:
  NodeAgent(uv_loop_t& loop, AgentOptions options, std::string version,
            std::vector<std::string> arguments, agent_protocol::Agent agent);
  NodeAgent(const NodeAgent&) = delete;
  NodeAgent& operator=(const NodeAgent&) = delete;

  // Runs the event loop. Does not return when the upgrader sends `stop`: the process then stops its
  // work, sends `stopped` and exits.
  int run();

 private:
  using Agent = agent_protocol::Agent;

  // ---- messages from the upgrader
  void hear_upgrader();
  void take(const Agent::Welcome& welcome);
  void take(const Agent::Activate& activate);
  void take(const Agent::Stop& stop);
  void take(const Agent::Accepted& accepted);
  void take(const Agent::CandidateReady& ready);
  void take(const Agent::CandidateLost& lost);
  void take(const Agent::UpgradeFailed& failed);
  void take(const Agent::Committed& committed);
  void take(const Agent::Error& error);
  void read_ledger();
  void read_ledger_again();
  void become_ready();
  void stop_now();

  // ---- reactions to changes of the store's records, and the records that this process writes
  void look();
  void look_at_stop();
  void look_for_twin();
  void take_doubt(const std::string& degraded, const std::string& why);
  [[nodiscard]] std::string doubt_of_store();
  void look_for_restored_store();
  [[nodiscard]] std::string degraded() const;
  void keep_instance();
  void take_active();
  void take_active_outcome(const Outcome& outcome);
  void begin_to_act(Revision active);
  void say_healthy();
  void keep_facts();
  void keep_health();
  [[nodiscard]] std::vector<MeasureSource> sources_of(const std::string& component) const;
  void begin_own();
  void tell_all(const NodeEvent& event);

  // ---- fleet-agent itself as a component of the node
  [[nodiscard]] Component::Settings own_settings() const;
  [[nodiscard]] Component::Hands own_hands();
  [[nodiscard]] std::string ask(const Component::Request& request);
  [[nodiscard]] std::string go_back(const std::string& id, const std::string& reason);
  [[nodiscard]] bool is_on_trial() const {
    return role_ == Agent::Role::candidate && committed_.empty();
  }
  void make_neighbours();
  using RebootEnding = std::function<void(const std::string& error)>;
  void reboot(RebootEnding ended);
  void reboot_ended(const HookRun::Result& result);

  [[nodiscard]] std::string key(KeyKind kind) const { return key_of(kind, {options_.node}); }

  uv_loop_t& loop_;
  AgentOptions options_;
  std::string version_;
  std::vector<std::string> arguments_;
  std::string instance_;
  std::string boot_;
  std::string machine_ =
      machine_id(options_.machine_id);  // a hash of the machine id; empty if there is none
  std::string since_;
  Agent agent_;
  upgrader::UvHandle<uv_poll_t> poll_;
  UvTimers timers_;
  CertificateClock clock_;
  EtcdStore store_;
  Mirror mirror_;
  LeaseKeeper lease_;
  // Keeps the record `instance/UUID` of this process. The record has a lease, so the store erases
  // it after this process has ended.
  KeptRecords presence_;
  // Keeps the records of this node other than `instance/UUID`, such as its facts and versions. This
  // process writes them only while it is the node's active fleet-agent.
  KeptRecords records_;
  Mirror halt_;  // a copy of the record `stop`; while that record exists, no upgrade is begun
  Mirror epoch_;
  // the store's epoch (a number that changes with each restore) and revision, as last seen
  KnownStore known_;
  KnownStore kept_;  // the store's epoch and revision in the file on disk
  NodeDesk desk_;
  Component own_;
  std::vector<std::unique_ptr<Neighbour>> neighbours_;
  HealthKeeper health_;                  // keeps the record `health` of fleet-agent itself
  std::unique_ptr<Timer> health_timer_;  // null while no rollout compares this node
  PlanDesk plans_;
  Renewal renewal_;
  std::unique_ptr<HookRun> reboot_;    // the running command to reboot the machine, or null
  std::vector<RebootEnding> reboots_;  // called when the reboot command has ended

  Agent::Role role_ = Agent::Role::first;
  // the failure of the last upgrade, after which the upgrader has started this old version again
  std::optional<Agent::Failure> failure_;
  // The ledger (the commands that were begun, and their answers) that an earlier process of
  // fleet-agent has left on disk.
  NodeLedger ledger_;
  // Why the ledger (the commands that were begun) cannot be read. While this is not empty,
  // fleet-agent obeys no command to upgrade itself.
  std::string unreadable_;
  std::unique_ptr<Timer> read_;  // the timer for the next try to read the ledger
  Timers::Milliseconds activated_at_{0};
  bool welcomed_ = false;
  bool said_ready_ = false;
  bool activated_ = false;
  bool asking_for_active_ = false;
  std::int64_t generation_ = 0;
  // The id of the last upgrade that was committed since this process began; may be empty.
  std::string committed_;
  // Trouble with this node's name or with the store, for the record `instance`; may be empty.
  std::string degraded_;
  // why this node must not begin new work; empty if it may
  std::string doubt_;
  // Runs while there is an `instance` record that seems to be left from before the last boot. When
  // this timer ends, the lease of that record must have run out. If the record still exists, a
  // second machine has written it.
  std::unique_ptr<Timer> past_;
  bool past_has_ended_ = false;
  Revision seen_revision_ = 0;  // the mirror's revision at the last look()
  std::int64_t seen_epoch_ = known_.epoch;
  bool stopping_ = false;
  std::unique_ptr<Timer> retry_;
  std::unique_ptr<Timer> keep_;  // the timer for the next write of `known_` to disk
  std::unique_ptr<Timer> end_;
};

}  // namespace fleet

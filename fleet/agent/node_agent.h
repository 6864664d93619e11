// fleet-agent at work: stands between the upgrader, the store and the directory of its releases,
// and carries out what WishMachine decides.
//
// Held, it writes its own leased record `instance/UUID` and nothing else. Activated, it takes
// `active` by the revision that it has read, and only then says `healthy` and acts: a version that
// cannot reach the store does not stay.
#pragma once

#include <uv.h>

#include <agent-protocol/agent.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fleet/agent/fetcher.h"
#include "fleet/agent/journal.h"
#include "fleet/agent/kept_records.h"
#include "fleet/agent/options.h"
#include "fleet/model/keys.h"
#include "fleet/model/node_records.h"
#include "fleet/model/record_text.h"
#include "fleet/model/wish_machine.h"
#include "fleet/store/etcd_store.h"
#include "fleet/store/lease_keeper.h"
#include "fleet/store/mirror.h"
#include "fleet/store/uv_timers.h"
#include "upgrader/shell/uv_handle.h"

namespace fleet {

class NodeAgent {
 public:
  NodeAgent(uv_loop_t& loop, AgentOptions options, std::string version,
            std::vector<std::string> arguments, agent_protocol::Agent agent);
  NodeAgent(const NodeAgent&) = delete;
  NodeAgent& operator=(const NodeAgent&) = delete;

  // Until it has been told to stop and has stopped. The exit status.
  int run();

 private:
  using Agent = agent_protocol::Agent;

  // ---- the upgrader
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
  void become_ready();
  void stop_now();

  // ---- the store
  void look();
  void look_for_twin();
  void keep_instance();
  void take_active();
  void take_active_outcome(const Outcome& outcome);
  void begin_to_act(Revision active);
  void keep_facts();
  void look_at_wish();
  void look_at_command();
  void check_command(const Command& command, Revision revision);
  void obey_stop(const Command& command);
  void answer_command_begun(const std::string& result);

  // ---- the machine
  void settle(bool committed);
  void feed(const WishEvent& event);
  void perform(const FetchRelease& fetch);
  void perform(const AskUpgrade& ask);
  void perform(const ConfirmUpgrade& confirm);
  void perform(const CancelUpgrade& cancel);
  void perform(const ReportUpgrade& report);
  void take_release(const FetchRelease& fetch, const Reply<Reading>& reply);
  void ask_for(const std::string& executable);

  void log(const std::string& text) const;
  [[nodiscard]] std::string key(KeyKind kind) const;
  [[nodiscard]] std::string component_key(KeyKind kind) const;
  // None: absent, or damaged, which is as good as absent and is said.
  template <class Record>
  [[nodiscard]] std::optional<Record> found(const std::string& key) const {
    const KeyValue* record = mirror_.find(key);
    if (record == nullptr) return std::nullopt;
    auto read = read_record<Record>(record->value);
    if (read) return std::move(read.value());
    log(key + " " + read.reason());
    return std::nullopt;
  }

  uv_loop_t& loop_;
  AgentOptions options_;
  std::string version_;
  std::vector<std::string> arguments_;
  std::string instance_;
  std::string boot_;
  std::string since_;
  Agent agent_;
  upgrader::UvHandle<uv_poll_t> poll_;
  UvTimers timers_;
  EtcdStore store_;
  Mirror mirror_;
  LeaseKeeper lease_;
  KeptRecords presence_;  // our own leased record
  KeptRecords records_;   // all others, while `active` is ours
  Fetcher fetcher_;
  Journal journal_;
  WishMachine machine_;

  Agent::Role role_ = Agent::Role::first;
  std::string failure_;  // that of the upgrade that led here
  bool welcomed_ = false;
  bool said_ready_ = false;
  bool activated_ = false;
  bool asking_for_active_ = false;
  std::int64_t generation_ = 0;
  Revision active_ = 0;  // ours; 0: it is not
  bool settled_ = false;
  std::string committed_;  // the upgrade to this version
  std::string degraded_;
  std::string executable_;  // of what was fetched last
  std::string checking_;    // the command whose right is being asked for
  bool stopping_ = false;
  std::unique_ptr<Timer> retry_;
  std::unique_ptr<Timer> end_;
  std::unique_ptr<Timer> command_retry_;
};

}  // namespace fleet

// Defines the class Component: one program on this machine that has versions and an upgrader of its
// own. The class NodeCommander decides how to obey commands of a rollout or plan. Component carries
// out its decisions: it writes records and the ledger (the file with the commands that were begun),
// and fetches releases. Its owner supplies functions that send requests to the upgrader.
#pragma once

#include <uv.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fleet/agent/fetcher.h"
#include "fleet/agent/kept_records.h"
#include "fleet/agent/state_files.h"
#include "fleet/model/agent/capsule.h"
#include "fleet/model/agent/node_commander.h"
#include "fleet/model/agent/wish_machine.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/store/mirror.h"
#include "fleet/store/store.h"
#include "fleet/store/timers.h"

namespace fleet {

// The objects and values that all components of a node share.
struct NodeDesk {
  std::string node;
  std::string instance;  // a random id of this fleet-agent process
  std::string boot_id;
  Store& store;
  Timers& timers;
  Mirror& mirror;        // the copy of all records below the node's key
  KeptRecords& records;  // the records that this process writes while it is active
  // The revision of the node's record `active`, or 0 if that record names another process. The
  // record names the only process of fleet-agent that may act on this node.
  Revision active = 0;
  // Reboots the machine. Later calls `ended` with an empty string if the program that reboots the
  // machine has succeeded, or else with the reason for the failure.
  std::function<void(std::function<void(const std::string& error)> ended)> reboot = {};
  std::string reboot_asked = {};  // if this file exists, a program asks for a reboot
  StoreLife life = {};       // identifies the last restore of the store that a person has accepted
  bool is_doubtful = false;  // while true, no command, upgrade or hook is begun
  // How much the node reports about a failed upgrade: for example only the reason, or the reason
  // and the last lines of output.
  EvidenceLevel evidence = EvidenceLevel::reason;
  // The trouble of each component on this machine, such as a full disk. The text is empty if the
  // component has no trouble.
  std::map<std::string, std::string> troubles = {};
  std::function<void()> troubled = {};  // called when `troubles` has changed

  // Returns the evidence of a failed upgrade of which only the stage and the reason are known.
  [[nodiscard]] std::vector<Capsule> evidence_of(const std::string& stage,
                                                 const std::string& reason) const {
    return capsule_of({.stage = stage, .reason = reason}, evidence);
  }
  // Sets the trouble of a component. An empty `why` means that the trouble is over.
  void set_trouble(const std::string& component, const std::string& why);

  void log(const std::string& text) const;
  // Returns the record with this key from the local copy. Returns no value if the record is absent
  // or damaged. Logs a damaged record.
  template <class Record>
  [[nodiscard]] std::optional<Record> find(const std::string& key) const {
    const KeyValue* record = mirror.find(key);
    if (record == nullptr) return std::nullopt;
    auto read = read_record<Record>(record->value);
    if (read) return std::move(read.value());
    log(key + " " + read.reason());
    return std::nullopt;
  }
};

class Component {
 public:
  struct Request {
    std::string id = {};
    std::string executable = {};  // the path of the new version's executable
    std::string version = {};     // the new version
    // If true, a new version that is ready waits until the upgrader gets a request to confirm the
    // upgrade. Meanwhile the old version keeps working.
    bool gate = false;
    // How long the new version is on trial. If no order to commit arrives in this time, the
    // upgrader undoes the upgrade. With 0, the upgrader itself decides when to commit.
    Ms trial_ms = 0;
  };
  // The functions that send requests to this component's upgrader. Each returns an empty string if
  // the request was sent, or else the reason for the failure.
  struct Hands {
    std::function<std::string(const Request& request)> ask;
    std::function<std::string(const std::string& id)> confirm;
    std::function<std::string(const std::string& id)> commit;
    std::function<std::string(const std::string& id, const std::string& reason)> go_back;
  };
  struct Settings {
    std::string name = {};
    Fetcher::Settings releases = {};
    // The path of the file with this component's ledger (node_ledger.h), which tells the next
    // process of fleet-agent which commands were begun.
    std::string ledger = {};
    // The arguments with which the self-test of a release is run. If there is no value, no
    // self-test is run.
    std::optional<std::vector<std::string>> test_arguments = {};
  };

  Component(uv_loop_t& loop, NodeDesk& desk, Settings settings, Hands hands);

  // Reads the ledger, the file in which an earlier process of fleet-agent has recorded the commands
  // that it has begun. Must be called only after that process has ended.
  [[nodiscard]] agent_protocol::Result<NodeLedger> ledger_on_disk() const { return file_.read(); }
  // Makes this object obey commands from now on. `restarted` describes an upgrade that an earlier
  // process has begun: how far it has come, or how it has ended. `running` is the version that
  // runs. The caller must then call look(), settle() or resume().
  void begin(NodeLedger ledger, const Restarted& restarted, const std::string& running);
  [[nodiscard]] bool has_begun() const { return commander_.has_value(); }
  // Returns the id of the last command that this process or an earlier one has begun. Returns an
  // empty string if begin() has not been called yet.
  [[nodiscard]] const std::string& last_command() const { return last_command_; }

  // Looks in the local copy of the records for a new desired version and a new command. Called
  // after each change of that copy, but only while this process is the node's active fleet-agent.
  void look();
  void take(NodeEvent event);

  // Upgrades the component, from now on, whenever its desired version differs from the running one.
  // Called as soon as it is certain that the running version will not be undone. `committed` is the
  // id of the upgrade that has brought the running version; it is empty if there was no such
  // upgrade. `failure` is the reason why the last upgrade failed; it is empty if none failed.
  void settle(const std::string& committed, const std::string& failure,
              const std::vector<Capsule>& evidence = {});
  // Continues an upgrade to a desired version that an earlier process of fleet-agent has begun. The
  // caller calls this instead of settle() if that upgrade is still under way. `attempt` is the id
  // of the upgrade. `has_stopped` says that the old version has been asked to stop.
  void resume(const std::string& attempt, bool has_stopped);
  [[nodiscard]] bool is_settled() const { return settled_; }
  // Handles the upgrader's report that the upgrade `id` waits for a confirmation. Ignores the
  // report unless `id` is the current upgrade to the component's desired version.
  void gate_reached(const std::string& id);
  // Handles the end of an upgrade, which may have been begun for a desired version, by a command,
  // or by somebody on the machine.
  void upgrade_ended(const UpgradeEnded& ended);

  // Aborts all downloads, since this process ends. The next process of fleet-agent continues them.
  void leave() { fetcher_.leave(); }

  void runs(const std::string& version);

  [[nodiscard]] const std::string& name() const { return settings_.name; }
  [[nodiscard]] const NodeLedger* ledger() const {
    return commander_ ? &commander_->ledger() : nullptr;
  }
  // Returns the id of the upgrade that this component last requested of the upgrader.
  [[nodiscard]] const std::string& asked() const {
    return wish_reports_ ? machine_.upgrade().attempt : commander_->ledger().upgrade.id;
  }
  // Returns the id of the upgrade in the component's record `node/ID/upgrade/COMPONENT`. An earlier
  // process may have begun that upgrade. Returns an empty string if there is no such record, or if
  // the upgrade is not for a desired version.
  [[nodiscard]] std::string attempt_recorded() const;

 private:
  [[nodiscard]] std::string key(KeyKind kind) const;
  void look_at_wish();
  void look_at_command();
  void feed(const WishEvent& event);
  void attempt_ended(const std::string& why, const std::vector<Capsule>& evidence = {});
  void perform(const FetchRelease& fetch);
  void perform(const AskUpgrade& ask);
  void perform(const ConfirmUpgrade& confirm);
  void confirm_attempt(const std::string& attempt, const std::string& before);
  void perform(const CancelUpgrade& cancel);
  void cancel_attempt(const std::string& reason, int tries);
  void perform(const ReportUpgrade& report);
  void perform(const ForgetUpgrade& forget);
  void perform(const Save& save);
  void perform(const Ask& ask);
  void perform(const Report& report);
  void perform(const DoPrepare& prepare);
  void perform(const BeginUpgrade& begin);
  void perform(const SendCommit& commit);
  void perform(const GoBack& back);
  void perform(const PassGate& pass);
  void perform(const Reboot& reboot);
  [[nodiscard]] std::vector<Capsule> evidence_of_prepare(const std::string& error) const {
    return error.empty() ? std::vector<Capsule>{} : desk_.evidence_of("prepare", error);
  }
  void commit_now(const std::string& upgrade);
  void save_until_done(const NodeLedger& ledger);
  // A release that has to be fetched and tested. `then` is called with an empty string when the
  // release is on disk and has passed its self-test, or else with the reason for the failure.
  struct Wanted {
    std::string version = {};
    std::string digest = {};
    bool downgrade = false;
    std::function<void(const std::string& error)> then;
  };
  void prepare(const Wanted& wanted);
  void prepare_on_disk(const Wanted& wanted);
  void take_release(const Wanted& wanted, const Reply<Reading>& reply);
  void test(const Wanted& wanted, const std::string& executable);
  void expect_deadline();

  NodeDesk& desk_;
  Settings settings_;
  Hands hands_;
  Fetcher fetcher_;
  LedgerFile file_;
  std::optional<NodeCommander> commander_;
  WishMachine machine_;
  bool settled_ = false;
  // True if the last upgrade was for a desired version and not for a command. The WishMachine,
  // which decides about desired versions, then writes the record `upgrade`.
  bool wish_reports_ = false;
  std::string running_;
  std::string last_command_;
  std::string asked_;   // the id of the last requested upgrade to a desired version
  std::string before_;  // the version that ran before the upgrade of the last command
  // The id of the last upgrade whose new version became the desired one in the directory of
  // releases. If that upgrade fails, the old version becomes the desired one again, and this id is
  // cleared.
  std::string desired_;
  // The id and the revision of the command that was read last. A command is passed to the
  // NodeCommander only if one of the two has changed.
  std::pair<std::string, Revision> seen_;
  std::unique_ptr<Timer> deadline_;
  std::unique_ptr<Timer> save_;
  std::unique_ptr<Timer> confirm_;
  std::unique_ptr<Timer> cancel_;
  // If the store did not answer a request for a release's record, one of these timers repeats the
  // request after a pause. The keys are consecutive numbers.
  std::map<std::uint64_t, std::unique_ptr<Timer>> reads_;
  std::uint64_t next_read_ = 0;
};

}  // namespace fleet

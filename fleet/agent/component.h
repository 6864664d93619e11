// One component of a node: it connects the store with the program that upgrades the component.
// NodeCommander decides about commands, and this class carries them out: disk, store, releases. The
// owner supplies the functions that call the upgrader.
#pragma once

#include <uv.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fleet/agent/fetcher.h"
#include "fleet/agent/kept_records.h"
#include "fleet/agent/ledger_file.h"
#include "fleet/model/keys.h"
#include "fleet/model/node_commander.h"
#include "fleet/model/record_text.h"
#include "fleet/model/wish_machine.h"
#include "fleet/store/mirror.h"
#include "fleet/store/store.h"
#include "fleet/store/timers.h"

namespace fleet {

// The objects and facts that all components of a node share.
struct NodeDesk {
  std::string node;
  std::string instance;  // the id of this process
  std::string boot_id;
  Store& store;
  Timers& timers;
  Mirror& mirror;                     // of all records below the node's key
  KeptRecords& records;               // written as long as the record `active` is ours
  Revision active = 0;                // the revision of our record `active`; 0 if we are idle
  std::function<void()> reboot = {};  // reboots the machine
  std::string reboot_asked = {};      // a file, which exists when a program has asked for a reboot
  bool is_doubtful = false;           // while true, nothing new is begun
  // This machine's trouble with each component that has one.
  std::map<std::string, std::string> troubles = {};
  std::function<void()> troubled = {};  // called when `troubles` has changed

  // Sets the trouble with a component; an empty `why` ends it.
  void set_trouble(const std::string& component, const std::string& why);

  void log(const std::string& text) const;
  // Returns the record, or no value if it is absent or damaged; a damaged record is logged.
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
    std::string executable = {};
    bool gate = false;  // true: the new version waits at the gate for `confirm`
    Ms trial_ms = 0;    // if not 0, only SendCommit commits the upgrade, within this time
  };
  // The functions that send requests to this component's upgrader. Each returns why the request
  // could not be sent, or an empty text if it was sent.
  struct Hands {
    std::function<std::string(const Request& request)> ask;
    std::function<std::string(const std::string& id)> confirm;
    std::function<std::string(const std::string& id)> commit;
    std::function<std::string(const std::string& id, const std::string& reason)> go_back;
  };
  struct Settings {
    std::string name = {};
    Fetcher::Settings releases = {};
    std::string ledger = {};  // the path of the ledger's file
    // If this has no value, releases are not tested: a release is judged by its own start.
    std::optional<std::vector<std::string>> test_arguments = {};
  };

  Component(uv_loop_t& loop, NodeDesk& desk, Settings settings, Hands hands);

  // Reads from disk the work that an earlier process began; that process must have ended.
  [[nodiscard]] agent_protocol::Result<NodeLedger> ledger_on_disk() const { return file_.read(); }
  // Makes this instance act from now on. `running` is the version that runs.
  void begin(NodeLedger ledger, const Restarted& restarted, const std::string& running);
  [[nodiscard]] bool has_begun() const { return commander_.has_value(); }
  // Returns the last command of the earlier process until begin() has been called.
  [[nodiscard]] const std::string& last_command() const { return last_command_; }

  // Looks for work in the mirror, which has changed. Called only while the node is active.
  void look();
  void take(NodeEvent event);

  // Ends the trial of this instance: it stays active. `committed` names the upgrade that led to it,
  // and `failure` says why the last upgrade failed.
  void settle(const std::string& committed, const std::string& failure);
  [[nodiscard]] bool is_settled() const { return settled_; }
  // Takes the upgrader's report about an upgrade, which anybody may have begun.
  void gate_reached(const std::string& id);
  void upgrade_ended(const UpgradeEnded& ended);

  // Lets the next process finish the downloads, since this process ends.
  void leave() { fetcher_.leave(); }

  void runs(const std::string& version);

  [[nodiscard]] const std::string& name() const { return settings_.name; }
  [[nodiscard]] const NodeLedger* ledger() const {
    return commander_ ? &commander_->ledger() : nullptr;
  }
  // Returns the id of the upgrade that was requested last.
  [[nodiscard]] const std::string& asked() const {
    return wish_reports_ ? machine_.upgrade().attempt : commander_->ledger().upgrade.id;
  }
  // Returns the id of a wish's upgrade that the earlier process began, as the store has it, or an
  // empty text.
  [[nodiscard]] std::string attempt_recorded() const;

 private:
  [[nodiscard]] std::string key(KeyKind kind) const;
  void look_at_wish();
  void look_at_command();
  void feed(const WishEvent& event);
  void perform(const FetchRelease& fetch);
  void perform(const AskUpgrade& ask);
  void perform(const ConfirmUpgrade& confirm);
  void perform(const CancelUpgrade& cancel);
  void perform(const ReportUpgrade& report);
  void perform(const Save& save);
  void perform(const Ask& ask);
  void perform(const Report& report);
  void perform(const DoPrepare& prepare);
  void perform(const BeginUpgrade& begin);
  void perform(const SendCommit& commit);
  void perform(const GoBack& back);
  void perform(const PassGate& pass);
  void perform(const Reboot& reboot);
  void commit_now(const std::string& upgrade);
  void save_until_done(const NodeLedger& ledger);
  // A release that is to be fetched and tested. `then` is called with an empty text when the
  // release is here and tested, or with the reason why it is not.
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
  // True if the last upgrade is for a wish: then the WishMachine reports its progress.
  bool wish_reports_ = false;
  std::string running_;
  std::string last_command_;
  std::string asked_;    // the upgrade for a wish that the upgrader was asked for last
  std::string before_;   // the version that ran before a command's upgrade
  std::string desired_;  // the upgrade whose version is `desired` in the releases' directory
  std::pair<std::string, Revision> seen_;  // the command that was seen last, and its revision
  std::unique_ptr<Timer> deadline_;
  std::unique_ptr<Timer> save_;
};

}  // namespace fleet

// One component of a node between the store and whoever upgrades it: what is wished of it, what it
// is told to do, what it answers. Carries out what WishMachine decides; how its upgrader is asked
// is its owner's.
#pragma once

#include <uv.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fleet/agent/fetcher.h"
#include "fleet/agent/journal.h"
#include "fleet/agent/kept_records.h"
#include "fleet/model/keys.h"
#include "fleet/model/node_records.h"
#include "fleet/model/record_text.h"
#include "fleet/model/wish_machine.h"
#include "fleet/store/mirror.h"
#include "fleet/store/store.h"
#include "fleet/store/timers.h"

namespace fleet {

// What all components of a node share.
struct NodeDesk {
  std::string node;
  std::string instance;  // this process
  Store& store;
  Timers& timers;
  Mirror& mirror;        // of all that is below the node
  KeptRecords& records;  // written while `active` is ours
  Revision active = 0;   // ours; 0: it is not, and nothing is done

  void log(const std::string& text) const;
  // None: absent, or damaged, which is as good as absent and is said.
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
  // How its upgrader is asked. Each gives why it cannot be; empty: it has been.
  struct Hands {
    std::function<std::string(const std::string& attempt, const std::string& executable)> ask;
    std::function<std::string(const std::string& attempt)> confirm;
    std::function<std::string(const std::string& attempt, const std::string& reason)> cancel;
  };
  struct Settings {
    std::string name = {};
    Fetcher::Settings releases = {};
    std::string journal = {};  // a file
    // None: a release is not tested, but judged by its own start.
    std::optional<std::vector<std::string>> test_arguments = {};
  };

  Component(uv_loop_t& loop, NodeDesk& desk, Settings settings, Hands hands);

  // The mirror has changed, and this node acts.
  void look();

  // Whoever acts now acts for good; `committed` names the upgrade that led to it, `failure` says
  // why the last one failed.
  void settle(const std::string& version, const std::string& committed, const std::string& failure);
  void gate_reached(const std::string& attempt);
  void upgrade_failed(const std::string& attempt, const std::string& error);
  // Before this process somebody may have begun to obey: looks at what was written down.
  void remember() { journal_.read(); }

  [[nodiscard]] bool is_settled() const { return settled_; }
  [[nodiscard]] const std::string& name() const { return settings_.name; }
  [[nodiscard]] const std::string& begun() const { return journal_.begun(); }
  // The attempt under way, or the last.
  [[nodiscard]] const Upgrade& upgrade() const { return machine_.upgrade(); }
  // What the store says of the last one.
  [[nodiscard]] Upgrade recorded() const;

 private:
  [[nodiscard]] std::string key(KeyKind kind) const;
  void look_at_command();
  void check_command(const Command& command, Revision revision);
  void obey_stop(const Command& command);
  void answer(const std::string& result);

  void feed(const WishEvent& event);
  void perform(const FetchRelease& fetch);
  void perform(const AskUpgrade& ask);
  void perform(const ConfirmUpgrade& confirm);
  void perform(const CancelUpgrade& cancel);
  void perform(const ReportUpgrade& report);
  void take_release(const FetchRelease& fetch, const Reply<Reading>& reply);
  void ask_for(const std::string& executable);

  NodeDesk& desk_;
  Settings settings_;
  Hands hands_;
  Fetcher fetcher_;
  Journal journal_;
  WishMachine machine_;
  bool settled_ = false;
  std::string version_;
  std::string executable_;  // of what was fetched last
  std::string checking_;    // the command whose right is being asked for
  std::unique_ptr<Timer> retry_;
};

}  // namespace fleet

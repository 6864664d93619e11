// A node as the store sees it: only the part of fleet-agent that decides about commands, with a
// client of the store, without an upgrader, a disk or a network. Work that takes time on a real
// machine takes none here.
#pragma once

#include <uv.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "fleet/model/node_commander.h"
#include "fleet/store/etcd_store.h"
#include "fleet/store/mirror.h"
#include "fleet/store/uv_timers.h"

namespace fleet::test {

class SimNode {
 public:
  struct Observer {
    std::function<void()> registered;
    std::function<void(const Command&)> ordered;             // the node has read a command
    std::function<void(const NodeLedger&)> answered;         // the node's report is in the store
    std::function<void(const std::string& words)> troubled;  // the store was too slow for the node
  };

  SimNode(uv_loop_t& loop, const EtcdStore::Settings& store, std::string name, Observer observer);
  SimNode(const SimNode&) = delete;
  SimNode& operator=(const SimNode&) = delete;
  ~SimNode() = default;

  // Writes the records that a fleet-agent writes when it begins to act.
  void enter();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::size_t writes() const { return writes_; }
  [[nodiscard]] std::size_t questions() const { return questions_; }

 private:
  void look();
  void take(const NodeEvent& event);
  void later(const NodeEvent& event);
  void expect_deadline();
  void write_versions(const std::string& version);

  void perform(const Save& save);
  void perform(const Ask& ask);
  void perform(const Report& report);
  void perform(const DoPrepare& order);
  void perform(const BeginUpgrade& begin);
  void perform(const SendCommit& commit);
  void perform(const GoBack& back);
  void perform(const PassGate&) {}
  void perform(const Reboot&) {}

  std::string name_;
  Observer observer_;
  UvTimers timers_;
  EtcdStore store_;
  Mirror mirror_;
  NodeCommander commander_;
  std::pair<std::string, Revision> seen_;
  std::string version_ = "1.0.0";
  std::string upgrades_to_;
  std::size_t writes_ = 0;
  std::size_t questions_ = 0;
  std::unique_ptr<Timer> deadline_;
  std::vector<std::unique_ptr<Timer>> soon_;
};

}  // namespace fleet::test

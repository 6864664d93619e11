// One node and its surroundings as a single value: a disk, an upgrader, a fleet-agent, and a store
// with a driver that orders the commands of a rollout. An exploration copies this value, and makes
// one step at a time with each copy. fleet-agent may be killed between any two of its actions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model/node_commander.h"
#include "tests/together/fleet/test_store.h"

namespace fleet_test {

// An error that is planted in fleet-agent's actions. The checks of the exploration must find it.
enum class NodeSeeded { none, acts_before_save, reports_before_save, forgets_answers, no_question };

struct NodeSetup {
  std::vector<fleet::CommandAction> script = {};  // the driver's orders, in sequence
  int kills = 0;
  int unknowns = 0;  // how many answers of the store may get lost
  int stops = 0;
  bool may_fail = false;  // the new version may die during its trial
  // If true, the old version stops slowly, and the upgrade cannot be cancelled meanwhile.
  bool hands_over = false;
  // How often the driver may give the last order of the script early, before the node has answered
  // `apply`.
  int aborts = 0;
  NodeSeeded seeded = NodeSeeded::none;
};

class NodeWorld {
 public:
  explicit NodeWorld(const NodeSetup& setup);

  enum class Move {
    perform,  // carries out the next action of fleet-agent
    // Commits fleet-agent's next transaction, but the store's answer is lost.
    perform_unheard,
    // Does not commit fleet-agent's next transaction, and reports its outcome as unknown.
    lose,
    // Kills fleet-agent. Its remaining actions are lost.
    kill,
    hand_over,  // the upgrader tells the old version to stop
    activate,   // the upgrader activates the new version
    fail,
    expire,  // the trial ends
    commit,
    go_back,
    fetched,
    stop,
    let_go,
    abort,
    time_passes,
  };
  [[nodiscard]] std::vector<Move> steps() const;
  void make(Move move);

  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] std::string wrong_end() const;
  [[nodiscard]] std::string result() const;  // the answer to the last command
  // Returns the answer to the last command and the phase of the upgrade, as in `done, done`.
  [[nodiscard]] std::string end() const;
  [[nodiscard]] std::string words() const;

 private:
  void start();
  void tell(const fleet::NodeEvent& event);
  void drive();
  void see_command();
  void abort_rollout();
  void activate();
  void lose();
  void put_command(fleet::CommandAction action, int attempt);
  void perform(bool heard);
  void perform_store(const fleet::Transaction& transaction, bool question, bool heard);
  void end_upgrade(fleet::UpgradeEnding ending, bool expired);
  void begin_upgrade(const fleet::BeginUpgrade& wanted);
  void judge_report(const fleet::Transaction& report);
  void is_wrong(const std::string& what);
  [[nodiscard]] std::optional<fleet::Answer> answer() const;
  [[nodiscard]] fleet::UpgradePhase upgrade_phase() const;

  NodeSetup setup_;
  TestStore store_;
  fleet::NodeLedger disk_;
  std::optional<fleet::NodeCommander> agent_;
  std::vector<fleet::NodeAction> asked_;
  int instance_ = 0;
  std::size_t at_ = 0;  // the index of the current order in the script
  int attempt_ = 1;
  std::string ordered_;
  bool over_ = false;

  // The state of the upgrader. A kill of fleet-agent leaves it unchanged, except `fetching_`.
  std::map<std::string, int> done_;
  std::string on_trial_;
  bool handing_over_ = false;
  bool activated_ = false;
  bool commits_ = false;
  bool goes_back_ = false;
  std::string ended_;
  fleet::UpgradeEnding ending_ = fleet::UpgradeEnding::failed;
  bool expired_ = false;
  // The id of the command whose release fleet-agent is fetching now.
  std::string fetching_;
  fleet::Ms activated_at_ = 0;

  fleet::Ms now_ = 0;
  std::string wrong_;
};

}  // namespace fleet_test

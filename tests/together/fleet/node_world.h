// One node with everything around it, as one value that can be copied, printed and moved on by one
// step: a disk, an upgrader, a store with a driver that orders the commands of a rollout, and a
// fleet-agent that may be killed between any two of its actions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model/node_commander.h"
#include "tests/together/fleet/test_store.h"

namespace fleet_test {

// An error that is put into fleet-agent's actions on purpose. The world's checks must find it.
enum class NodeSeeded { none, acts_before_save, reports_before_save, forgets_answers, no_question };

struct NodeSetup {
  std::vector<fleet::CommandAction> script = {};  // the driver's orders, one after the other
  int kills = 0;
  int unknowns = 0;  // how many answers of the store may be lost
  int stops = 0;
  bool may_fail = false;  // the new version may die at any moment of its trial
  // The old version stops slowly, and meanwhile the upgrade cannot be cancelled.
  bool hands_over = false;
  // How often the driver may skip to the script's last order before the node has answered `apply`.
  int aborts = 0;
  NodeSeeded seeded = NodeSeeded::none;
};

class NodeWorld {
 public:
  explicit NodeWorld(const NodeSetup& setup);

  enum class Move {
    perform,          // carries out the next action of fleet-agent
    perform_unheard,  // carries out the next action; the store's answer is lost
    lose,             // does not carry out the next action, and reports its outcome as unknown
    kill,             // kills fleet-agent, with the actions that are not carried out yet
    hand_over,        // the upgrader tells the old version to stop
    activate,         // the upgrader activates the new version
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
  [[nodiscard]] std::string result() const;  // returns the answer to the last command
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
  std::size_t at_ = 0;  // the index of the present order in the script
  int attempt_ = 1;
  std::string ordered_;
  bool over_ = false;

  // The state of the upgrader and the disk, which outlives fleet-agent.
  std::map<std::string, int> done_;  // how often each action was carried out, such as `prepare ID`
  std::string on_trial_;
  bool handing_over_ = false;
  bool activated_ = false;
  bool commits_ = false;
  bool goes_back_ = false;
  std::string ended_;
  fleet::UpgradeEnding ending_ = fleet::UpgradeEnding::failed;
  bool expired_ = false;
  std::string fetching_;  // the command for which fleet-agent fetches a release now
  fleet::Ms activated_at_ = 0;

  fleet::Ms now_ = 0;
  std::string wrong_;
};

}  // namespace fleet_test

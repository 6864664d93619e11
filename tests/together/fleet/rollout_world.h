// A rollout with everything that takes part in it, as one value that can be copied, printed and
// moved on by one step. It has a store, a driver that may be killed, a killed driver that wakes too
// late, good and bad nodes, and a person. Every transaction is judged before it is committed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fleet/model/rollout_driver.h"
#include "tests/together/fleet/test_store.h"

namespace fleet_test {

enum class Nature {
  good,
  bad_prepare,    // the release cannot be fetched
  bad_start,      // the new version dies at its activation
  bad_soak,       // the new version dies during its soak
  silent,         // the node never answers
  lost_at_apply,  // the node stops answering at `apply`
  lost_at_confirm,
  interrupted_once,  // the outcome of the node's first `apply` is unknown
  bad_undo,          // the node's previous version does not start any more
};

// The part of a simulated node's state that its records do not show.
struct NodeDouble {
  Nature nature = Nature::good;
  bool on_trial = false;
  bool soaked = false;
  bool committed = false;
  bool undoes = false;  // the upgrade on trial is part of an undo
  std::string answered = {};
  std::map<std::string, int> executed = {};

  bool operator==(const NodeDouble&) const = default;
};

// An error that is put into the driver's writes on purpose. The world's checks must find it.
enum class Seeded {
  none,
  no_fence,
  no_stop,
  no_revision,
  no_stage,
  confirm_early,
  not_apart,
  keep_wish,
  undo_elsewhere,
  confirm_unjudged
};

struct Faults {
  int kills = 0;      // how often the driver may be killed
  int unknowns = 0;   // how many answers of the store may be lost
  int abandoned = 0;  // how many nodes may go back because no confirmation came
  int orders = 0;     // how many orders the person may give
  // How often the watch may hold back its report of a person's write, and of all later writes.
  int lags = 0;
};

struct WorldSetup {
  std::vector<Nature> nodes = {};
  std::int64_t batch = 1;
  std::int64_t max_failed = 1;
  Faults faults = {};
  std::vector<fleet::RolloutOrder> orders = {};  // the orders that the person may give
  bool person_stops = false;                     // whether the person may set `stop`
  std::vector<std::string> sites = {};  // the nodes' sites; a batch has at most one node of each
  bool max_failed_unsaid = false;
  bool undo = false;  // whether the rollout has --undo
  bool has_gate = false;
  std::int64_t bake_ms = 0;
  std::vector<fleet::GateSays> gate_says = {};  // the answers that the gate may give
  Seeded seeded = Seeded::none;
};

class RolloutWorld {
 public:
  explicit RolloutWorld(const WorldSetup& setup);

  enum class Move {
    deliver,           // carries out the driver's action, and reports the outcome
    done_unheard,      // commits the driver's transaction; the store's answer is lost
    not_done_unheard,  // does not commit the transaction; the outcome stays unknown
    late_unheard,      // reports the outcome as unknown; the transaction may arrive later
    late_arrives,
    kill,         // kills the driver before its action and erases its key; another driver begins
    kill_done,    // kills the driver after its action
    freeze,       // like `kill`, but the killed driver's transaction arrives later
    node_acts,    // the node carries out its command, soaks, or fails
    node_leaves,  // the node goes back because no confirmation came
    person_orders,
    person_stops,
    person_lets_go,
    gate_answers,
    watch_reports,  // the watch reports the writes that it has held back
    time_passes,
  };
  struct Step {
    Move move = Move::deliver;
    std::size_t which = 0;  // the index of the node, of the person's order or of the gate's answer
  };

  // Returns the moves that are possible now. If there are none, nothing will ever change.
  [[nodiscard]] std::vector<Step> steps() const;
  void make(const Step& step);

  // Returns the first fault that was found, or an empty text.
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  // Returns in words how the rollout has ended.
  [[nodiscard]] std::string end() const;
  // Returns what is wrong with the end of the rollout, or an empty text. Must be called when
  // steps() is empty.
  [[nodiscard]] std::string wrong_end() const;

  [[nodiscard]] const fleet::Rollout& rollout() const;
  [[nodiscard]] const std::map<std::string, NodeDouble>& nodes() const { return nodes_; }
  [[nodiscard]] std::size_t commits() const { return commits_; }
  // Returns a text about the whole world. Two worlds have the same text if they differ only in the
  // numbers of revisions, and the order of the revisions is the same.
  [[nodiscard]] std::string words() const;

 private:
  struct Late {
    fleet::Transaction transaction = {};
    fleet::Revision fence = 0;
    bool zombie = false;
  };

  void begin_driver();
  void tell(const fleet::DriverEvent& event);
  void tell_changes();
  void report();
  fleet::Outcome commit(const fleet::Transaction& transaction, fleet::Revision fence);
  void deliver();
  void pass_time();
  void replace_driver();
  void answer_gates(fleet::GateSays says);
  void write(const std::string& key, const std::string& value);
  void change_rollout(fleet::RolloutOrder order);

  // Returns the node's present command, or null if it has none.
  [[nodiscard]] const fleet::Command* command_of(const std::string& node) const;
  [[nodiscard]] bool can_act(const std::string& node) const;
  void node_acts(const std::string& node);
  void handle(const std::string& node, NodeDouble& self, const fleet::Command& command);
  void upgrade_is(const std::string& node, fleet::UpgradePhase phase, const std::string& error,
                  const fleet::Answer* answer);

  void judge(const fleet::Transaction& transaction, fleet::Revision fence);
  void judge_order(const std::string& node, const fleet::Command& command);
  void judge_verdict(const std::string& node, const fleet::Command& command);
  void judge_undo(const std::string& node, const fleet::Command& command);
  [[nodiscard]] std::string wrong_undo() const;
  void is_wrong(const std::string& what);
  void seed(fleet::Transaction& transaction);
  [[nodiscard]] std::optional<fleet::RolloutNode> record(const std::string& node) const;
  [[nodiscard]] std::vector<std::string> batch_of(const std::string& node) const;
  [[nodiscard]] std::uint64_t batch_number(const std::string& node) const;
  void judge_place(const std::string& node, const std::string& order);

  WorldSetup setup_;
  Faults left_;
  TestStore store_;
  std::map<std::string, NodeDouble> nodes_;
  std::vector<std::string> ids_;
  std::optional<fleet::RolloutDriver> driver_;
  std::optional<fleet::DriverAction> asked_;    // the driver's action that is not answered yet
  std::optional<fleet::AskGates> asked_gates_;  // the questions to gates that are not answered yet
  // The gate's last answer to this driver about the present batch.
  fleet::GateSays gate_said_ = fleet::GateSays::unknown;
  std::vector<Late> late_;
  fleet::Ms now_ = 0;
  int drivers_ = 0;
  std::size_t commits_ = 0;
  bool lags_ = false;  // the watch holds reports back
  std::vector<TestStore::Change> unreported_;
  bool resting_ = false;  // time has passed, and the driver has not acted
  std::string wrong_;
  // The records that were read last, each with its revision, so that none is parsed twice.
  mutable std::pair<fleet::Revision, fleet::Rollout> rollout_read_;
  mutable std::map<std::string, std::pair<fleet::Revision, fleet::Command>> commands_read_;
};

}  // namespace fleet_test

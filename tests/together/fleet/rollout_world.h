// A rollout and its participants as a single value: a store, a driver that may be killed or frozen,
// good and bad nodes, and a person who gives orders. An exploration copies this value, and makes
// one step at a time with each copy. Every transaction is checked before it is committed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fleet/model/drivers/drivers.h"
#include "tests/together/fleet/test_store.h"

namespace fleet_test {

enum class Nature {
  good,
  bad_prepare,    // the release cannot be fetched
  bad_start,      // the new version dies at its activation
  bad_soak,       // the new version dies during its soak
  silent,         // the node never answers
  lost_at_apply,  // the node is silent after its `apply`
  lost_at_confirm,
  interrupted_once,  // the node's first `apply` is interrupted
  bad_undo,          // the old version no longer starts, so an undo fails
};

// The part of a simulated node's state that is not in its records.
struct NodeDouble {
  Nature nature = Nature::good;
  bool on_trial = false;
  bool soaked = false;
  bool committed = false;
  bool undoes = false;  // an undo has ordered the version that the node now tries
  bool absent = false;  // the node is cut off: it hears and does nothing, and its lease has ended
  bool was_absent = false;
  bool forgotten = false;  // a person has erased the node's records at some time
  // A person has removed the node, by `fleetctl forget`, before its part in the rollout had ended,
  // and the driver knows it. The node has not returned since.
  bool gone = false;
  std::string answered = {};
  std::map<std::string, int> executed = {};

  bool operator==(const NodeDouble&) const = default;
};

// A bug that is injected into what the driver writes. The checks of the exploration must find this
// bug.
enum class Seeded {
  none,
  no_fence,
  no_stop,
  no_revision,
  no_stage,
  confirm_early,
  not_apart,
  keep_wish,
  lose_pin,
  undo_elsewhere,
  confirm_unjudged,
  blame_good
};

struct Faults {
  int kills = 0;      // how often the driver may be killed
  int unknowns = 0;   // how many answers of the store may get lost
  int abandoned = 0;  // how many nodes may miss their confirmation
  int orders = 0;     // how many orders the person may give
  // How often the driver's watch of the store may lag. A lag begins at a write of a person or node.
  // From this write on, the watch reports no change until the step `watch_reports`.
  int lags = 0;
  int absences = 0;  // how often a node may be cut off for a time
};

struct WorldSetup {
  std::vector<Nature> nodes = {};
  std::int64_t batch = 1;
  std::int64_t max_failed = 1;
  Faults faults = {};
  std::vector<fleet::RolloutOrder> orders = {};  // orders that the person may give
  bool person_stops = false;                     // the person may write the record `stop`
  bool person_pins = false;     // the person may give a node a desired version of its own
  bool person_forgets = false;  // the person may erase the records of a node that is cut off
  // The site of each node. A batch may have only one node of a site.
  std::vector<std::string> sites = {};
  bool max_failed_unsaid = false;
  bool undo = false;  // whether the rollout has --undo
  bool has_gate = false;
  std::int64_t bake_ms = 0;
  std::vector<fleet::GateSays> gate_says = {};  // answers that the gate may give
  Seeded seeded = Seeded::none;
};

class RolloutWorld {
 public:
  explicit RolloutWorld(const WorldSetup& setup);

  enum class Move {
    deliver,       // performs the driver's action, and tells the driver the outcome
    done_unheard,  // commits the transaction; the answer is lost
    // Drops the driver's transaction. Its outcome is reported as unknown.
    not_done_unheard,
    // Delays the driver's transaction, which may arrive later. Its outcome is reported as unknown.
    late_unheard,
    late_arrives,
    // Kills the driver before its action is performed, and erases the driver's key. A new driver
    // begins.
    kill,
    // Kills the driver after the store has handled its transaction. A new driver begins.
    kill_done,
    // Like `kill`, but the killed driver's transaction is not lost: it arrives at the store later,
    // after the new driver has begun.
    freeze,
    // The node makes its next step: it carries out its command, reports that the new version has
    // run long enough (the end of its soak), or fails.
    node_acts,
    // The node goes back to the old version by itself, since it was not confirmed in time.
    node_leaves,
    node_vanishes,
    node_returns,
    person_orders,
    person_stops,
    person_lets_go,
    person_pins,
    person_forgets,
    gate_answers,
    watch_reports,  // a lagging watch reports the writes that it has held back
    time_passes,
  };
  struct Step {
    Move move = Move::deliver;
    // The index of the node, of the person's order or of the gate's answer, depending on `move`.
    std::size_t which = 0;
  };

  // Returns the steps that are possible now. If no step is possible, the rollout stays as it is for
  // ever.
  [[nodiscard]] std::vector<Step> steps() const;
  void make(const Step& step);

  // Returns the first fault that the checks have found, or an empty text.
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  // Returns a name for the way in which the rollout has ended.
  [[nodiscard]] std::string end() const;
  // Returns what is wrong with the end of the rollout, or an empty text. May only be called when
  // steps() is empty.
  [[nodiscard]] std::string wrong_end() const;

  [[nodiscard]] const fleet::Rollout& rollout() const;
  [[nodiscard]] const std::map<std::string, NodeDouble>& nodes() const { return nodes_; }
  [[nodiscard]] std::size_t commits() const { return commits_; }
  // Returns a text that describes the whole state. The text shows only the order of the records'
  // revisions, and not the revisions themselves. So two states have the same text if they differ
  // only in revisions, and the order of the revisions is the same.
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
  void pin(const std::string& node);
  void add_steps_of_nodes(std::vector<Step>& some) const;
  void add_steps_of_person(std::vector<Step>& some) const;
  void person_acts(const Step& step);
  void node_vanishes(const std::string& node);
  void node_returns(const std::string& node);
  void forget(const std::string& node);
  void register_node(const std::string& node);

  // Returns the node's current command, or null if it has none.
  [[nodiscard]] const fleet::Command* command_of(const std::string& node) const;
  [[nodiscard]] const fleet::Command* due_command_of(const std::string& node) const;
  [[nodiscard]] bool can_act(const std::string& node) const;
  void node_acts(const std::string& node);
  void node_leaves(const std::string& node);
  void handle(const std::string& node, NodeDouble& self, const fleet::Command& command);
  void upgrade_is(const std::string& node, fleet::UpgradePhase phase, const std::string& error,
                  const fleet::Answer* answer);

  void judge(const fleet::Transaction& transaction, fleet::Revision fence);
  void judge_order(const std::string& node, const fleet::Command& command);
  void judge_verdict(const std::string& node, const fleet::Command& command);
  void judge_undo(const std::string& node, const fleet::Command& command);
  void judge_wish(const std::string& key);
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
  // The driver's current action. The driver has not been told the action's outcome yet.
  std::optional<fleet::DriverAction> asked_;
  // The driver's request to ask the rollout's gates (questions such as one to Prometheus), until
  // the gates have answered.
  std::optional<fleet::AskGates> asked_gates_;
  // The most recent answer of the rollout's gate (a question such as one to Prometheus) to this
  // driver for the current batch.
  fleet::GateSays gate_said_ = fleet::GateSays::unknown;
  std::vector<Late> late_;
  fleet::Ms now_ = 0;
  int drivers_ = 0;
  std::size_t commits_ = 0;
  bool lags_ = false;  // the watch holds back its reports
  std::vector<TestStore::Change> unreported_;
  bool resting_ = false;  // the driver has let a hundred deadlines pass without an action
  std::string wrong_;
  // The last parsed record of the rollout and the last parsed commands, with their revisions, so
  // that no record is parsed twice.
  mutable std::pair<fleet::Revision, fleet::Rollout> rollout_read_;
  mutable std::map<std::string, std::pair<fleet::Revision, fleet::Command>> commands_read_;
};

}  // namespace fleet_test

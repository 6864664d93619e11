// A rollout with all that takes part in it, as one value that can be copied, printed and moved on
// by one step: a store, a driver that may be killed and one that wakes too late, nodes that are
// good or bad in one way each, and a person. Every transaction is judged before it is committed.
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
  bad_start,      // dies at activation
  bad_soak,       // dies while it is observed
  silent,         // never answers
  lost_at_apply,  // answers no more from there on
  lost_at_confirm,
  interrupted_once,  // its first `apply` cannot be known to have happened
};

// What a node double remembers besides what it has written.
struct NodeDouble {
  Nature nature = Nature::good;
  bool on_trial = false;
  bool soaked = false;
  bool committed = false;
  std::string answered = {};
  std::map<std::string, int> executed = {};

  bool operator==(const NodeDouble&) const = default;
};

// An error seeded in what the driver writes; each must be found by what the world judges.
enum class Seeded { none, no_fence, no_stop, no_revision, no_stage, confirm_early, not_apart };

struct Faults {
  int kills = 0;      // of the driver
  int unknowns = 0;   // answers of the store that do not come
  int abandoned = 0;  // nodes that go back before they are confirmed
  int orders = 0;     // of a person
};

struct WorldSetup {
  std::vector<Nature> nodes = {};
  std::int64_t batch = 1;
  std::int64_t max_failed = 1;
  Faults faults = {};
  std::vector<fleet::RolloutOrder> orders = {};  // what the person may ask for
  bool person_stops = false;                     // and whether it may set `stop`
  std::vector<std::string> sites = {};           // of the nodes; at most one of each is in a batch
  bool max_failed_unsaid = false;
  Seeded seeded = Seeded::none;
};

class RolloutWorld {
 public:
  explicit RolloutWorld(const WorldSetup& setup);

  enum class Move {
    deliver,           // what the driver asked for is done, and it is told
    done_unheard,      // a transaction is committed, and the answer is lost
    not_done_unheard,  // it is not, and the answer is lost
    late_unheard,      // it is still on its way, and the driver is told nothing
    late_arrives,
    kill,         // what it asked for is lost, its key is erased, another begins
    kill_done,    // what it asked for is done first
    freeze,       // what it asked for is still on its way
    node_acts,    // handles its command, soaks, or fails
    node_leaves,  // goes back for want of a confirmation
    person_orders,
    person_stops,
    person_lets_go,
    time_passes,
  };
  struct Step {
    Move move = Move::deliver;
    std::size_t which = 0;  // of the nodes, or of the orders
  };

  // What may happen now; empty: nothing ever happens any more.
  [[nodiscard]] std::vector<Step> steps() const;
  void make(const Step& step);

  // The first fault that was found, or empty.
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  // How it has ended.
  [[nodiscard]] std::string end() const;
  // What is wrong with an end at which nothing happens any more.
  [[nodiscard]] std::string wrong_end() const;

  [[nodiscard]] const fleet::Rollout& rollout() const;
  [[nodiscard]] const std::map<std::string, NodeDouble>& nodes() const { return nodes_; }
  [[nodiscard]] std::size_t commits() const { return commits_; }
  // Equal for worlds in which the same may happen: revisions by their order alone.
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
  fleet::Outcome commit(const fleet::Transaction& transaction, fleet::Revision fence);
  void deliver();
  void pass_time();
  void replace_driver();
  void write(const std::string& key, const std::string& value);
  void change_rollout(fleet::RolloutOrder order);

  // What the node is ordered to do; null: nothing.
  [[nodiscard]] const fleet::Command* command_of(const std::string& node) const;
  [[nodiscard]] bool can_act(const std::string& node) const;
  void node_acts(const std::string& node);
  void handle(const std::string& node, NodeDouble& self, const fleet::Command& command);
  void upgrade_is(const std::string& node, fleet::UpgradePhase phase, const std::string& error,
                  const fleet::Answer* answer);

  void judge(const fleet::Transaction& transaction, fleet::Revision fence);
  void judge_order(const std::string& node, const fleet::Command& command);
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
  std::optional<fleet::DriverAction> asked_;  // by the driver, and not answered yet
  std::vector<Late> late_;
  fleet::Ms now_ = 0;
  int drivers_ = 0;
  std::size_t commits_ = 0;
  bool resting_ = false;  // time has passed, and nothing came of it
  std::string wrong_;
  // What was read last, and when it was written.
  mutable std::pair<fleet::Revision, fleet::Rollout> rollout_read_;
  mutable std::map<std::string, std::pair<fleet::Revision, fleet::Command>> commands_read_;
};

}  // namespace fleet_test

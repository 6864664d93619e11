// The records about the desired version of one component, as a controller sees them: the desired
// version of the cell, and the records of each node that has the component. A wish is one write of
// the cell's desired version; writing the same version again makes a new wish.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "fleet/model/cell_records.h"
#include "fleet/model/node_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The name of the component fleet-agent. An upgrade of fleet-agent shows in the records of its
// instances, and an upgrade of any other component in the record node/ID/upgrade/COMPONENT.
inline constexpr std::string_view own_component = "agent";

template <class Record>
struct Seen {
  Record record = {};
  Revision revision = 0;  // the record's revision; 0 if the record is absent

  bool operator==(const Seen&) const = default;
};

struct DesiredNode {
  std::string running = {};
  Seen<Active> active = {};
  // The living processes of fleet-agent, by id.
  std::map<std::string, Seen<Instance>> instances = {};
  Seen<Upgrade> upgrade = {};
  Seen<Desired> desired = {};
  Seen<Claim> claim = {};
  Seen<Command> command = {};

  bool operator==(const DesiredNode&) const = default;
};

// Returns the version without its build metadata (`+...`), since two releases cannot differ in that
// alone.
[[nodiscard]] std::string_view without_build(std::string_view version);
[[nodiscard]] bool is_same_version(std::string_view version, std::string_view other);

// The desired version of the cell, and the revision at which it was written. If the same version is
// written again, all nodes try it again.
struct CellWish {
  Desired desired = {};
  Revision revision = 0;

  // Returns `desired-REVISION`, the trace in the record by which a node gets the order to move.
  [[nodiscard]] std::string trace() const;

  bool operator==(const CellWish&) const = default;
};

class DesiredView {
 public:
  explicit DesiredView(std::string component) : component_(std::move(component)) {}

  [[nodiscard]] const std::string& component() const { return component_; }
  [[nodiscard]] const std::map<std::string, DesiredNode>& nodes() const { return nodes_; }
  [[nodiscard]] bool is_stopped() const { return stopped_; }

  // Returns the desired version of the cell. Returns no value if there is none, or if no node may
  // move to it now.
  [[nodiscard]] std::optional<CellWish> wish() const;

  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  void take_all(const Reading& reading);

  // Returns the nodes whose records have changed since the last call, or no value if all records
  // were read anew.
  [[nodiscard]] std::optional<std::set<std::string>> take_changed();

 private:
  DesiredNode& changed(const std::string& id);

  std::string component_;
  Seen<Desired> wish_;
  std::map<std::string, DesiredNode> nodes_;
  bool stopped_ = false;
  std::set<std::string> changed_;
  bool all_changed_ = true;
};

// The following functions find out from a node's records how far the node has come towards a
// desired version. A node moves to the version that its own record node/ID/desired/COMPONENT names.
// Each write of that record begins one attempt.

[[nodiscard]] bool runs(const DesiredNode& node, const std::string& version);

// Returns the phase of the node's attempt at the version that its own record names, or `unknown` if
// the node has not begun it.
[[nodiscard]] UpgradePhase phase_of(const DesiredNode& node);

[[nodiscard]] bool is_ended(UpgradePhase phase);

// Returns whether a controller has ever given the node the order to move for this wish, which is
// one write of the cell's desired version. The result stays true if a controller has taken the
// order back. So a node gets the order for one wish only once.
[[nodiscard]] bool is_told(const DesiredNode& node, const CellWish& wish);

// Returns whether the node has got the order to move to the desired version, does not run the
// version yet, and has not failed.
[[nodiscard]] bool is_under_way(const DesiredNode& node, const CellWish& wish);

// Returns whether the node has failed to move to the desired version, or has taken too long, so
// that a controller has taken back the order.
[[nodiscard]] bool has_failed(const DesiredNode& node, const CellWish& wish);

// Returns the id of the command to stop the old version for this attempt.
[[nodiscard]] std::string stop_id(const DesiredNode& node);

}  // namespace fleet

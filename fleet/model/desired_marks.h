// Keeps the observations of the controller that drives the desired version of a component, and
// lists of the nodes to which an order can be given. If a record changes, only the node of that
// record is examined again, so the cost does not grow with the number of nodes. Pure.
//
// The observations are not in the store, so another controller that takes over begins to observe
// anew.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "fleet/model/desired_view.h"
#include "fleet/model/time.h"

namespace fleet {

class DesiredMarks {
 public:
  // Updates the observations and lists for the nodes whose records have changed since the last
  // call. The caller calls this after each change, always with the same view.
  void look(DesiredView& view, Ms now);

  // ---- the numbers of nodes

  [[nodiscard]] std::int64_t all() const { return all_; }  // how many nodes have the component
  [[nodiscard]] std::int64_t under_way() const { return under_way_; }
  [[nodiscard]] std::int64_t failed() const { return failed_; }
  [[nodiscard]] std::int64_t committed() const { return committed_; }

  // ---- the nodes that may get an order, judged by their own records alone

  using ByTime = std::set<std::pair<Ms, std::string>>;

  // The nodes that may get the order to move. A node is in `waiting` instead of `beginning` if a
  // new version waits there beside the old one, but another version is desired by now.
  [[nodiscard]] const std::set<std::string>& beginning() const { return beginning_; }
  [[nodiscard]] const std::set<std::string>& waiting() const { return waiting_; }
  // The nodes that have got their order, and whose new version does not wait beside the old one
  // yet, with the times at which this controller first saw their orders.
  [[nodiscard]] const ByTime& coming() const { return coming_; }
  // The nodes whose new version waits beside the old one, ready to replace it, with the times since
  // which this controller has seen that.
  [[nodiscard]] const ByTime& at_gate() const { return at_gate_; }
  // Returns the new version that may replace the old one on this node: the id of the new instance
  // of fleet-agent or, for another component, the id of the attempt whose new version waits beside
  // the old one. The new version must be the desired one, ready, and of the same boot. The returned
  // time is the time since which this controller has seen the new version in this state. Returns no
  // value if there is no such version.
  [[nodiscard]] std::optional<std::pair<Ms, std::string>> successor(const std::string& id,
                                                                    const DesiredNode& node) const;

  // ---- windows

  // Notes that the node's maintenance window is closed, so that nothing may begin on the node. The
  // window opens at the time `until`. Without this value, only a changed record can open the
  // window.
  void close(const std::string& id, std::optional<Ms> until);
  [[nodiscard]] bool is_closed(const std::string& id) const { return closed_.contains(id); }
  // Returns when the first of the closed windows opens.
  [[nodiscard]] std::optional<Ms> opens_at() const { return opens_at_; }
  // Forgets which windows are closed. Called when a record of a window has changed, or a closed
  // window may be open by now.
  void reopen();

  // Returns the whole state as a text. Tests compare these texts to find out whether two states are
  // equal.
  [[nodiscard]] std::string words(Ms now) const;

 private:
  // The lists and counts in which a node is entered, so that it can be removed from them later.
  struct Standing {
    bool has_component = false;
    bool is_under_way = false;
    bool has_failed = false;
    bool is_committed = false;
    bool may_begin = false;
    bool waits = false;
    std::optional<Ms> coming = {};
    std::optional<Ms> at_gate = {};
  };

  void look_at(const DesiredView& view, const std::string& id, Ms now);
  void observe(const std::string& id, const DesiredNode& node, Ms now);
  [[nodiscard]] Standing standing_of(const std::string& id, const DesiredNode& node) const;
  void count(const std::string& id, const Standing& standing, bool is_in);
  void list_beginning(const std::string& id, const Standing& standing);

  std::string component_;
  std::optional<CellWish> wish_;
  // For each node, its instances that are ready and alive. The value has the version of the
  // instance, and the time since when this controller has seen the instance so. For a component
  // other than fleet-agent, the only key is the empty text: it stands for the new version that
  // waits beside the old one, and the value has the id of the attempt in place of a version.
  std::map<std::string, std::map<std::string, std::pair<Ms, std::string>>> ready_;
  // For each node that has a record node/ID/desired/COMPONENT: its revision, and the time at which
  // this controller first saw the record at that revision.
  std::map<std::string, std::pair<Revision, Ms>> told_;
  std::map<std::string, std::optional<Ms>> closed_;
  std::optional<Ms> opens_at_;

  std::map<std::string, Standing> standings_;
  std::int64_t all_ = 0;
  std::int64_t under_way_ = 0;
  std::int64_t failed_ = 0;
  std::int64_t committed_ = 0;
  std::set<std::string> beginning_;
  std::set<std::string> waiting_;
  ByTime coming_;
  ByTime at_gate_;
};

}  // namespace fleet

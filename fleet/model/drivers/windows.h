// Maintenance windows: the times at which an upgrade may begin. Apart from these windows, no
// decision about an upgrade depends on a wall clock. WindowView knows the windows of a cell, from
// the records that the driver of a rollout or plan has read.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/node_records.h"
#include "fleet/model/records/time.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// The longest window: a week. A longer window that opens every week would never close.
inline constexpr std::int64_t window_seconds_max = 7 * 86'400;
// A window with this time zone opens by each node's own time zone.
inline constexpr std::string_view site_local = "site-local";

// Returns what is wrong with the window, or no value if it is valid.
[[nodiscard]] std::optional<std::string> why_no_window(const Window& window);

// The member `ends` of the opening of a window that is always open.
inline constexpr UnixSeconds never_ends = std::numeric_limits<UnixSeconds>::max();

struct OpenWindow {
  UnixSeconds begins = 0;
  UnixSeconds ends = 0;  // never_ends if the window is always open from `begins` on

  bool operator==(const OpenWindow&) const = default;
};

// Returns when the window is open: the opening that contains the moment `now`, or otherwise the
// next opening. Returns no value if the window is not valid.
//
// A window opens when local time reaches its start. If clocks are put forward and skip the start,
// the window opens when clocks that were not put forward would show the start. If clocks show the
// start twice, the window opens at the first time. A change of clocks does not change how long the
// window stays open.
[[nodiscard]] std::optional<OpenWindow> next_window(const Window& window, const TimeZone& zone,
                                                    UnixSeconds now);

// Returns the first moment, from `from` on, at which an upgrade that takes `takes_seconds` may
// begin: the window must be open, and stay open for that long. Returns no value if there is no such
// moment within eight days, in which each day of the week begins.
[[nodiscard]] std::optional<UnixSeconds> first_moment(const Window& window, const TimeZone& zone,
                                                      UnixSeconds from, std::int64_t takes_seconds);

// Returns a duration as a string such as `1d4h18s`, or `0s` if no time is left.
[[nodiscard]] std::string countdown(std::int64_t seconds);

// ---- the maintenance windows of a cell

// A node's group is the value of its label `group`. This label is in the node's record of identity,
// or the node itself reports it. The node's window is the record window/GROUP, or window/all if
// there is no window/GROUP. On a node without a window, an upgrade may begin at any time. A window
// that cannot be read, or whose time zone is unknown, counts as closed.

// The name of the window for all nodes whose group has no window.
inline constexpr std::string_view window_of_all = "all";
// The name of the label that puts a node into a group.
inline constexpr std::string_view group_label = "group";

// Returns the time zone of this name in tzdata. The call may read a file.
using ZoneBook = std::function<Result<TimeZone>(const std::string& name)>;

struct Opening {
  bool is_open = true;
  // When the window opens. No value if the window is open, or if it cannot open before a record,
  // the wall clock or tzdata has changed: see `why`.
  std::optional<Ms> until = {};
  std::string why = {};  // why the window is closed

  bool operator==(const Opening&) const = default;
};

// The maintenance windows of a cell, from the records that a driver has read. WindowView says
// whether an upgrade may begin on a node now, and if not, when it may begin.
class WindowView {
 public:
  explicit WindowView(ZoneBook zones) : zones_(std::move(zones)) {}

  // Tells the view which time the wall clock shows at the moment `now`. From then on, time zones
  // are looked up anew, since tzdata may have been updated.
  void set_wall(UnixSeconds shown, Ms now);

  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  void take_all(const Reading& reading);
  // Takes the group and the time zone of a node from `info`, in place of the node's records. The
  // labels in the node's identity must already override the labels in `info`.
  void take_node(const std::string& node, const NodeInfo& info);

  // Returns a counter that grows with each changed record and each call of set_wall(). If the
  // counter has grown, earlier results of opening() may be wrong.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }

  // Returns whether an upgrade that takes the time `takes` may begin now on this node, or on all
  // these nodes together. Without such a moment in the next eight days, `until` has no value.
  [[nodiscard]] Opening opening(const std::string& node, Ms takes, Ms now) const;
  [[nodiscard]] Opening opening(const std::vector<std::string>& nodes, Ms takes, Ms now) const;

 private:
  struct Held {
    std::string group = {};
    Window window = {};
    std::string damage = {};
  };
  struct Node {
    std::string group = {};
    std::string time_zone = {};
  };

  [[nodiscard]] Node known(const std::string& node) const;
  [[nodiscard]] const Held* window_of(const Node& node) const;
  [[nodiscard]] static const std::string& zone_name(const Held& held, const Node& node);
  [[nodiscard]] Opening common_opening(const std::vector<std::string>& nodes, const Opening& last,
                                       Ms takes, Ms now) const;
  [[nodiscard]] Opening opening(const Held& held, const Node& node, Ms takes, Ms now) const;
  // Returns whether the window is open, for nodes in the time zone `zone`.
  [[nodiscard]] Opening opening(const Held& held, const std::string& zone, Ms takes, Ms now) const;
  [[nodiscard]] const Result<TimeZone>& zone_of(const std::string& name) const;

  ZoneBook zones_;
  std::uint64_t changes_ = 0;
  // Caches, since a cell has far more nodes than windows and time zones. A time zone is kept until
  // the next set_wall(), and an answer as long as opening() is called with the same `now`.
  mutable std::map<std::string, Result<TimeZone>> known_zones_;
  mutable std::map<std::tuple<std::string, std::string, Ms>, Opening>
      answers_;  // the answers by group, time zone and `takes`
  mutable Ms answered_at_ = 0;
  std::map<std::string, Held> windows_;  // the windows, by the names of their groups
  std::map<std::string, Node> nodes_;
  // The groups in the nodes' records of identity, by the names of the nodes. They override the
  // groups that the nodes themselves report.
  std::map<std::string, std::string> given_groups_;
  std::optional<std::pair<UnixSeconds, Ms>> clock_;
};

}  // namespace fleet

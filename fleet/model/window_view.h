// The cell's windows as a driver sees them: whether something may begin on a node now, and when it
// may next.
//
// A node's group is its label `group`; its window is window/GROUP, or where there is none
// window/all; without either everything may begin at any time. A window that cannot be read, or
// whose time zone nobody knows, is closed: somebody meant to hold something back.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "fleet/model/time.h"
#include "fleet/model/transaction.h"
#include "fleet/model/windows.h"

namespace fleet {

// The window of all nodes whose group has none.
inline constexpr std::string_view window_of_all = "all";
// The label by which a node is of a group.
inline constexpr std::string_view group_label = "group";

// The time zone that tzdata has by this name. It may open a file.
using ZoneBook = std::function<Result<TimeZone>(const std::string& name)>;

struct Opening {
  bool is_open = true;
  std::optional<Ms> until = {};  // it is closed until then; none: until a record changes
  std::string why = {};          // it is closed

  bool operator==(const Opening&) const = default;
};

class WindowView {
 public:
  explicit WindowView(ZoneBook zones) : zones_(std::move(zones)) {}

  // Tells the time of the wall clock at this moment. Time zones that were looked up before are
  // looked up anew after this: tzdata may have been updated.
  void set_wall(UnixSeconds shown, Ms now);

  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  void take_all(const Reading& reading);

  // Whether what takes so long may begin now on this node; or on all of these.
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

  [[nodiscard]] const Held* window_of(const Node& node) const;
  [[nodiscard]] Opening opening(const Held& held, const Node& node, Ms takes, Ms now) const;
  // Of all nodes with this window and this time zone.
  [[nodiscard]] Opening opening(const Held& held, const std::string& zone, Ms takes, Ms now) const;
  [[nodiscard]] const Result<TimeZone>& zone_of(const std::string& name) const;

  ZoneBook zones_;
  // Each zone is looked up once until the wall clock is heard again, and each answer is worked out
  // once for a moment: a cell has far more nodes than windows and time zones.
  mutable std::map<std::string, Result<TimeZone>> known_zones_;
  mutable std::map<std::tuple<std::string, std::string, Ms>, Opening>
      answers_;  // group, zone, takes
  mutable Ms answered_at_ = 0;
  std::map<std::string, Held> windows_;  // by group
  std::map<std::string, Node> nodes_;
  std::optional<std::pair<UnixSeconds, Ms>> clock_;
};

}  // namespace fleet

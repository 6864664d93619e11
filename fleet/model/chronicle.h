// This file writes the cell's history: the controller that holds the key `driver/events` writes an
// event for each change that matters to people. The numbers of the events have no gap.
// ChronicleTask is the task of a driver: see driver.h.
//
// An event depends only on the changed record and on the last event of the same subject. (An event
// `degraded` also names the rollouts that may be the cause.) So a controller that takes over reads
// all records, and writes the missing events for those that have changed since the last event. If a
// record was changed and changed back while no controller held the key, no event is written for
// these two changes.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fleet/model/cell_records.h"
#include "fleet/model/driver_events.h"
#include "fleet/model/failure_causes.h"
#include "fleet/model/retention.h"
#include "fleet/model/settings.h"
#include "fleet/model/time.h"

namespace fleet {

inline constexpr std::string_view events_id = "events";
// After the first new event, the controller collects events for this time, and then writes them
// together. So a rollout of a thousand nodes costs only a few transactions a second, however fast
// it goes.
inline constexpr Ms event_gather_ms = 500;
// A node counts as silent if it had no living fleet-agent for this time. A restart of fleet-agent
// takes less time.
inline constexpr Ms silence_ms = 30'000;
// How often the driver erases old events.
inline constexpr Ms event_prune_ms = 3'600'000;

class ChronicleTask {
 public:
  // Returns the date and time `seconds_ago` seconds ago, as a string. Each event has its time in
  // the same form, so a comparison of strings shows which events are too old.
  using TimeText = std::function<std::string(std::int64_t seconds_ago)>;

  explicit ChronicleTask(TimeText time) : time_(std::move(time)) {}

  [[nodiscard]] std::string name() const { return "the history"; }
  [[nodiscard]] std::string key() const;
  [[nodiscard]] std::vector<std::string> prefixes() const;

  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  void take_all(const Reading& reading);

  void wall_shows(UnixSeconds, Ms) {}  // ignored: history is written at any time
  [[nodiscard]] DriverStep next(Revision fence, Ms now);
  void granted(LeaseId) {}
  [[nodiscard]] bool deny(const std::string&) { return false; }
  [[nodiscard]] std::string words(Ms now) const;
  // Returns for how many subjects of events, such as rollouts and instances, this task knows the
  // last event. Tests check that this number does not grow for ever.
  [[nodiscard]] std::size_t subjects() const { return told_.size(); }

 private:
  void take_event(std::uint64_t number, const KeyValue& record);
  void forget_event(std::uint64_t number);
  void note(FleetEvent event);
  [[nodiscard]] const FleetEvent* last_of(const std::string& subject) const;
  [[nodiscard]] bool has_an_end(const FleetEvent& event) const;
  void take_instance(const std::string& node, const std::string& instance);
  void take_node_absent(const std::string& node);
  void expect_silence(const std::string& node);
  void expect_no_silence(const std::string& node);
  void look_for_silence(Ms now);
  [[nodiscard]] std::vector<std::string> too_old() const;
  [[nodiscard]] std::vector<const KeyValue*> notes_in_order() const;
  [[nodiscard]] Write writing(Revision fence, const std::vector<std::string>& old);

  TimeText time_;
  CellSettings settings_;
  struct Kept {
    std::string time = {};
    std::string subject = {};
  };
  struct Told {
    std::uint64_t number = 0;
    FleetEvent event = {};
  };

  std::map<std::uint64_t, Kept> events_;   // all events in the store, by their numbers
  std::map<std::string, KeyValue> notes_;  // by key, the notes of orders that are not events yet
  std::map<std::string, Told> told_;       // for each subject, the last event
  std::deque<FleetEvent> pending_;
  // For each subject of events, such as a rollout, how many of its events are in pending_.
  std::map<std::string, std::size_t> waiting_;
  // True while take_all() reads a record whose change is older than the last change that the
  // history reports. No event is written for such a record.
  bool takes_old_ = false;
  // For each node, its living processes of fleet-agent, by id.
  std::map<std::string, std::set<std::string>> instances_;
  // Nodes that have no living fleet-agent, and for which no event `silent` is written yet. The
  // functions that handle a changed record do not know the time, so they only add the node to
  // quiet_. look_for_silence() then moves the node to quiet_since_, with the time of the move. So
  // look_for_silence() examines only such nodes, not all nodes.
  std::set<std::string> quiet_;
  std::set<std::pair<Ms, std::string>> quiet_since_;
  // For each node in quiet_since_, the time in its entry. quiet_since_ is sorted by time, so this
  // time is needed to find the entry of a node.
  std::map<std::string, Ms> since_;
  BakeSuspects suspects_;
  std::uint64_t last_ = 0;
  std::optional<Ms> gathers_until_;
  Retention retention_;
  bool retains_ = false;  // true if there may be ended rollouts or plans to erase
  Ms prune_at_ = 0;
};

}  // namespace fleet

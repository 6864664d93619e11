// This file writes the cell's history: an event for each change that matters to people. Only one
// controller writes events, the one that holds the key `driver/events`. The numbers of the events
// have no gap. ChronicleTask is the task of a driver: see driver.h.
//
// An event depends only on the changed record and on the last event of the same subject, such as a
// rollout or a node. (An event `degraded` also names the rollouts that may be the cause.) So a
// controller that takes over from another one reads all records, and writes the missing events for
// records that have changed since the last event. If a record was changed and changed back while no
// controller held the key, no event is written for these two changes.
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

#include "fleet/model/drivers/driver_events.h"
#include "fleet/model/history/retention.h"
#include "fleet/model/reasons/failure_causes.h"
#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/settings.h"
#include "fleet/model/records/time.h"

namespace fleet {

inline constexpr std::string_view events_id = "events";
// After the first new event, the controller collects events for this time, and then writes them
// together. So even a fast rollout of a thousand nodes costs only a few transactions a second.
inline constexpr Ms event_gather_ms = 500;
// A node counts as silent when no fleet-agent has run on the node for this time. A restart of
// fleet-agent takes less time.
inline constexpr Ms silence_ms = 30'000;
// The time between two searches for events that are old enough to be erased.
inline constexpr Ms event_prune_ms = 3'600'000;

class ChronicleTask {
 public:
  // Returns the date and time of the moment `seconds_ago` seconds ago. The events have their times
  // in the same form, and the form is such that earlier times are smaller strings.
  using TimeText = std::function<std::string(std::int64_t seconds_ago)>;

  explicit ChronicleTask(TimeText time) : time_(std::move(time)) {}

  [[nodiscard]] std::string name() const { return "the history"; }
  [[nodiscard]] std::string key() const;
  [[nodiscard]] std::vector<std::string> prefixes() const;

  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  void take_all(const Reading& reading);

  void wall_shows(UnixSeconds, Ms) {}  // the history has no maintenance window
  [[nodiscard]] DriverStep next(Revision fence, Ms now);
  void granted(LeaseId) {}
  [[nodiscard]] bool deny(const std::string&) { return false; }
  [[nodiscard]] std::string words(Ms now) const;
  // Returns the number of subjects, such as rollouts and instances, whose last event this task
  // knows. Tests check that this number does not grow for ever.
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
  std::optional<std::string> epoch_;  // the record `epoch`
  struct Kept {
    std::string time = {};
    std::string subject = {};
  };
  struct Told {
    std::uint64_t number = 0;
    FleetEvent event = {};
  };

  std::map<std::uint64_t, Kept> events_;  // all events in the store, by their numbers
  // The notes that are not events yet, by their keys. A note is the record of an order by a person
  // who may not write events.
  std::map<std::string, KeyValue> notes_;
  std::map<std::string, Told> told_;  // the last written event of each subject
  std::deque<FleetEvent> pending_;    // the events that are not written yet, the oldest first
  // For each subject with events in pending_, the number of these events.
  std::map<std::string, std::size_t> pending_count_;
  // True while take_all() reads a record that was last changed before the latest change in the
  // history. No event is written for such a record.
  bool takes_old_ = false;
  // For each node, its running processes of fleet-agent, by id.
  std::map<std::string, std::set<std::string>> instances_;
  // The nodes on which no fleet-agent runs, and whose silence the history does not report yet. A
  // node is first in newly_quiet_, since the functions that handle a changed record do not know the
  // time. look_for_silence() then moves it to quiet_since_, with the time of this move.
  std::set<std::string> newly_quiet_;
  std::set<std::pair<Ms, std::string>> quiet_since_;
  // The time in quiet_since_ for each node there. It is needed to find the node's entry, since
  // quiet_since_ is sorted by time.
  std::map<std::string, Ms> since_;
  BakeSuspects suspects_;
  std::uint64_t last_ = 0;
  std::optional<Ms> gathers_until_;
  Retention retention_;
  bool retains_ = false;  // true if there may be old rollouts or plans to erase
  Ms prune_at_ = 0;
};

}  // namespace fleet

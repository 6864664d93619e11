// Writes the cell's history: the controller that holds the key `driver/events` writes an event for
// each change that matters, numbered without a gap. A task of a driver: see driver.h.
//
// The words of an event are decided from the changed record and from the last event of the same
// subject. So a controller that takes over reads all records that were written since the last
// event, and writes the events that are missing. A change that was undone while nobody held the key
// gets no event.
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
#include "fleet/model/retention.h"
#include "fleet/model/settings.h"
#include "fleet/model/time_zone.h"

namespace fleet {

inline constexpr std::string_view events_id = "events";
// Events that come within this time are written together: a rollout of a thousand nodes costs a few
// transactions a second, however fast it goes.
inline constexpr Ms event_gather_ms = 500;
// The time without an instance after which a node counts as silent: longer than a restart takes.
inline constexpr Ms silence_ms = 30'000;
// The time between two looks for events that are too old.
inline constexpr Ms event_prune_ms = 3'600'000;

class ChronicleTask {
 public:
  // Returns the time of day `seconds_ago` seconds ago, as a text for records. Events show such a
  // text, and old events whose time lies before one are erased.
  using TimeText = std::function<std::string(std::int64_t seconds_ago)>;

  explicit ChronicleTask(TimeText time) : time_(std::move(time)) {}

  [[nodiscard]] std::string name() const { return "the history"; }
  [[nodiscard]] std::string key() const;
  [[nodiscard]] std::vector<std::string> prefixes() const;

  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  void take_all(const Reading& reading);

  void wall_shows(UnixSeconds, Ms) {}  // windows do not matter: history is written at any time
  [[nodiscard]] DriverStep next(Revision fence, Ms now);
  void granted(LeaseId) {}
  [[nodiscard]] bool deny(const std::string&) { return false; }
  [[nodiscard]] std::string words(Ms now) const;
  // Returns the number of subjects whose last event is known.
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

  std::map<std::uint64_t, Kept> events_;   // all events in the store
  std::map<std::string, KeyValue> notes_;  // noted orders that are not events yet
  std::map<std::string, Told> told_;       // the last event of each subject
  std::deque<FleetEvent> pending_;
  // The number of pending events of each subject.
  std::map<std::string, std::size_t> waiting_;
  bool takes_old_ = false;  // true while records are taken in whose events exist already
  // for each node, its instances that live
  std::map<std::string, std::set<std::string>> instances_;
  // Nodes without an instance that have no event `silent` yet. quiet_ holds those that no look has
  // found yet, quiet_since_ the others, by the time of the look that found them. The work for a
  // change depends on the number of these nodes, not on the number of all nodes.
  std::set<std::string> quiet_;
  std::set<std::pair<Ms, std::string>> quiet_since_;
  std::map<std::string, Ms> since_;  // for each node, its time in quiet_since_
  std::uint64_t last_ = 0;
  std::optional<Ms> gathers_until_;
  Retention retention_;
  bool retains_ = false;  // whether to look for rollouts and plans that have ended
  Ms prune_at_ = 0;
};

}  // namespace fleet

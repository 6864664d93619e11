// The cell's history: whoever holds the key `driver/events` writes an event for each change that
// matters, numbered without a gap. A task of a driver: see driver.h.
//
// The words of an event are decided from the record as it is and from the last event of the same
// subject: whoever takes this over looks at all that was written since the last event, and tells
// what was not told. Changes that came and went while nobody held the key are not told.
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
// A node without an instance for so long is silent; one that starts anew is not.
inline constexpr Ms silence_ms = 30'000;
// Between two looks at what is too old.
inline constexpr Ms event_prune_ms = 3'600'000;

class ChronicleTask {
 public:
  // The time of day as records show it, so many seconds ago: it is shown, and compared with the
  // times of events that are to be forgotten.
  using TimeText = std::function<std::string(std::int64_t seconds_ago)>;

  explicit ChronicleTask(TimeText time) : time_(std::move(time)) {}

  [[nodiscard]] std::string name() const { return "the history"; }
  [[nodiscard]] std::string key() const;
  [[nodiscard]] std::vector<std::string> prefixes() const;

  void take(const KeyValue& record);
  void take_absent(const std::string& key);
  void take_all(const Reading& reading);

  void wall_shows(UnixSeconds, Ms) {}  // history is written at any time
  [[nodiscard]] DriverStep next(Revision fence, Ms now);
  void granted(LeaseId) {}
  [[nodiscard]] bool deny(const std::string&) { return false; }
  [[nodiscard]] std::string words(Ms now) const;
  // Of how many it is known what was told last.
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

  std::map<std::uint64_t, Kept> events_;   // that there are
  std::map<std::string, KeyValue> notes_;  // of orders, that are not events yet
  std::map<std::string, Told> told_;       // the last of each subject
  std::deque<FleetEvent> pending_;
  std::map<std::string, std::size_t> waiting_;  // subject: how many of its events are pending
  bool takes_old_ = false;  // records that were told of long ago are taken in: they are no news
  std::map<std::string, std::set<std::string>> instances_;  // node: those that live
  // Nodes without an instance that are not told to be silent yet: those that were not looked at,
  // and the others by when that was. A change costs what these are, not what all nodes are.
  std::set<std::string> quiet_;
  std::set<std::pair<Ms, std::string>> quiet_since_;
  std::map<std::string, Ms> since_;  // node: its place in quiet_since_
  std::uint64_t last_ = 0;
  std::optional<Ms> gathers_until_;
  Retention retention_;
  bool retains_ = false;  // ended rollouts and plans are to be looked at
  Ms prune_at_ = 0;
};

}  // namespace fleet

// The cell's history: whoever holds the key `driver/events` writes an event for each change that
// matters, numbered without a gap. A task of a driver: see driver.h.
//
// What an event tells is decided from the record as it is and from the last event of the same
// subject: whoever takes this over looks at all that was written since the last event, and tells
// what was not told. Changes that came and went while nobody held the key are not told.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fleet/model/cell_records.h"
#include "fleet/model/driver_events.h"
#include "fleet/model/settings.h"
#include "fleet/model/time_zone.h"

namespace fleet {

inline constexpr std::string_view events_id = "events";
// What comes within this time is written together: a rollout of a thousand nodes costs a few
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

 private:
  void take_event(std::uint64_t number, const KeyValue& record);
  void forget_event(std::uint64_t number);
  void note(FleetEvent event);
  [[nodiscard]] const FleetEvent* last_of(const std::string& subject) const;
  void look_for_silence(Ms now);
  [[nodiscard]] std::vector<std::string> too_old() const;
  [[nodiscard]] Write writing(Revision fence, const std::vector<std::string>& old);

  TimeText time_;
  CellSettings settings_;
  std::map<std::uint64_t, std::string> times_;  // of the events that there are
  std::map<std::string, FleetEvent> told_;      // the last of each subject
  std::vector<FleetEvent> pending_;
  std::map<std::string, std::set<std::string>> instances_;  // node: those that live
  std::map<std::string, std::optional<Ms>> silent_since_;   // none: not looked at yet
  std::uint64_t last_ = 0;
  std::optional<Ms> gathers_until_;
  Ms prune_at_ = 0;
};

}  // namespace fleet

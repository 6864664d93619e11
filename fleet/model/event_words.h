// The part of a record that belongs to history, as an event. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "fleet/model/cell_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

// No value if it says nothing of that kind. The same is said of a record until something that
// matters changes in it, so that whoever knows the last event of a subject knows whether this is
// news. Without the time.
[[nodiscard]] std::optional<FleetEvent> event_of(const KeyValue& record);
// That the key is gone.
[[nodiscard]] std::optional<FleetEvent> event_of_absence(std::string_view key);

// A node that was told to be silent, or to report again.
[[nodiscard]] FleetEvent event_of_silence(std::string_view node, bool silent);

// Whether people are told at once: a success, a failure or a halt.
[[nodiscard]] bool is_notable(const FleetEvent& event);

// The event of a note: a person who may not write events has noted an order. If the note cannot be
// read, the event says so. A person may note anything, so the event proves nothing.
[[nodiscard]] FleetEvent event_of_note(const KeyValue& record, const std::string& time);

// The number of the last event among the cell's records; 0 if there is none.
[[nodiscard]] std::uint64_t last_event(const std::map<std::string, KeyValue, std::less<>>& records);

// Whether this person has ordered it: NAME, or ROLE:NAME as in a certificate.
[[nodiscard]] bool is_by(const FleetEvent& event, std::string_view name);
// Whether an event of this subject is about `asked`, or about a record below it: `node/n10` is not
// about `node/n1`.
[[nodiscard]] bool is_about(std::string_view subject, std::string_view asked);

}  // namespace fleet

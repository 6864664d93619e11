// Makes an event of the history from a changed record, if the change is of interest to people.
// Pure.
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

// Returns the event for a changed record, without the event's time, or no value if the history has
// no events for such records. The event differs from the last event of the same subject only if
// something has changed that people want to know.
[[nodiscard]] std::optional<FleetEvent> event_of(const KeyValue& record);
// Returns the event for a key that was erased, or no value if the history has no events for such
// keys.
[[nodiscard]] std::optional<FleetEvent> event_of_absence(std::string_view key);

// Returns the event for a node that has become silent or, if `silent` is false, that reports again.
[[nodiscard]] FleetEvent event_of_silence(std::string_view node, bool silent);

// Returns whether people are notified of the event at once: it is a success, a failure or a halt.
[[nodiscard]] bool is_notable(const FleetEvent& event);

// Adds the event with this number to a transaction. The store refuses the transaction if another
// event already has the number.
void add_event(Transaction& transaction, const FleetEvent& event, std::uint64_t number);
// Adds the event to a transaction as a note, for a person or program that may not write events. The
// controller that writes the history later makes an event from the note.
void add_note(Transaction& transaction, const FleetEvent& event);

// Returns the event for a note, by which a person who may not write events has recorded an order.
// If the note cannot be read, the event's text says so. Since anybody may write a note, the event
// is not marked as proved.
[[nodiscard]] FleetEvent event_of_note(const KeyValue& record, const std::string& time);

// Returns the number of the last event among the cell's records, or 0 if there is none.
[[nodiscard]] std::uint64_t last_event(const std::map<std::string, KeyValue, std::less<>>& records);

// Returns whether the person `name` ordered the change that the event reports. `name` is NAME, or
// ROLE:NAME as in a certificate.
[[nodiscard]] bool is_by(const FleetEvent& event, std::string_view name);
// Returns whether an event of this subject is about the record `asked` or a record below it. An
// event about `node/n10` is not about `node/n1`.
[[nodiscard]] bool is_about(std::string_view subject, std::string_view asked);

}  // namespace fleet

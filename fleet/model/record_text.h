// Turns a record into its text in the store, and back. A text that is read may come from a newer or
// older program, or from a broken or hostile one. It becomes either a whole record, or a Refusal
// with the reason.
//
// A text is accepted if it is one JSON object in UTF-8 of at most 64 KiB, nested at most 16 deep
// (which is checked before it is parsed), whose member `"v"` is absent or 1. An unknown member is
// ignored, an absent one has its default, and an unknown text of an enumeration is read as
// `unknown`. A text is refused if it has a later version, a member of the wrong type, a repeated
// member, a name that cannot be in a key, or a number out of its range (record_rules.h). Texts for
// people are cut (record_brief.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model/cell_records.h"
#include "fleet/model/join_records.h"
#include "fleet/model/node_records.h"
#include "fleet/model/plan_records.h"
#include "fleet/model/rollout_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

using agent_protocol::Refusal;
using agent_protocol::Result;

inline constexpr int records_version = 1;
inline constexpr std::size_t record_nesting_max = 16;

// Parses the JSON text of a record. `Record` is the type of any record that this directory defines.
template <class Record>
[[nodiscard]] Result<Record> read_record(std::string_view text);

// Returns the record at `key`, or no value if the record is absent or cannot be read.
template <class Record>
[[nodiscard]] std::optional<Record> record_there(
    const std::map<std::string, KeyValue, std::less<>>& records, std::string_view key) {
  const KeyValue* found = record_at(records, key);
  if (found == nullptr) return std::nullopt;
  const auto read = read_record<Record>(found->value);
  return read ? std::optional<Record>(read.value()) : std::nullopt;
}

// Returns the record as one line of JSON, without a newline. Cuts texts and lists to the lengths
// that a reader accepts (record_brief.h). The line may still be too long for the store: see
// why_not_taken().
template <class Record>
[[nodiscard]] std::string write_record(const Record& record);

// Returns the names of a record's members, `v` first. With this list, unknown names can be refused
// in a text that a person has written. For a record that is a flat map, returns only `v`. There is
// a list for RolloutTerms too, since people write them.
template <class Record>
[[nodiscard]] std::vector<std::string> member_names();

}  // namespace fleet

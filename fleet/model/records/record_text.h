// This file writes a record as the JSON text that the store has, and reads such a text. A text may
// have been written by a newer or older version of this program, or by a broken or hostile program.
// read_record() returns either a complete record, or a Refusal with the reason.
//
// A text is accepted if it is one JSON object in UTF-8 of at most 64 KiB, nested at most 16 deep,
// whose member `"v"` is absent or 1. The nesting is checked before the text is parsed. An unknown
// member is ignored, an absent member gets its default, and an unknown value of an enumeration is
// read as `unknown`. A text is refused if `"v"` is a later version, a member has the wrong type or
// occurs twice, a name is not valid in a key, or a number is out of its range (record_rules.h).
// Strings for people are cut: see brief().
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/node_records.h"
#include "fleet/model/records/plan_records.h"
#include "fleet/model/records/rollout_records.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

using agent_protocol::Refusal;
using agent_protocol::Result;

inline constexpr int records_version = 1;
inline constexpr std::size_t record_nesting_max = 16;

// Parses the JSON text of a record. `Record` can be the type of any record that this directory
// defines.
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

// Returns the record as one line of JSON, without a newline. Cuts strings with brief(), and lists
// to the lengths that a reader accepts. The line may still be too long for the store: see
// why_not_taken().
template <class Record>
[[nodiscard]] std::string write_record(const Record& record);

// Returns the names of a record's members. The first is always `v`, the version of the format. With
// this list, a caller can refuse unknown members in JSON that a person has written. The members of
// a record that is a flat map have no fixed names, so only `v` is returned. `Record` may also be
// RolloutTerms, which is not a record, but is written by people, too.
template <class Record>
[[nodiscard]] std::vector<std::string> member_names();

// ---- how long strings and lists of names in a record may be

// Strings and lists of names are shortened to the lengths that a record may have. Otherwise a long
// string from a node, a hook or a person could make a record too long for the store.

// The limit for a message for people: an error, a reason, the last line of a hook's output. The
// complete message is in the log of the program that wrote it.
inline constexpr std::size_t text_bytes_max = 1'024;
// The limit for a short string that is only shown to people: a reported version, the name of a
// person, a time.
inline constexpr std::size_t label_bytes_max = 255;
// The most nodes that a list names. The other nodes are only counted.
inline constexpr std::size_t names_kept = 20;

// Returns `text`, cut so that its JSON form is at most `bytes_max` bytes long. If `text` was cut,
// the result ends with "...". A byte that is not valid UTF-8 becomes `?`.
[[nodiscard]] std::string brief(std::string_view text, std::size_t bytes_max = text_bytes_max);

// Returns the names as one string: `n1, n2, n3`. If there are more than names_kept names, the
// string has only the first names_kept: `n1, n2, and 2980 more`.
[[nodiscard]] std::string listed(const std::vector<std::string>& names);

// Returns a number with its noun, such as `1 node` or `2 nodes`.
[[nodiscard]] std::string counted(std::integral auto number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

// Cuts the list to its first names_kept names, and each name to label_bytes_max bytes. Before that,
// raises `count` to the length of the list if `count` is smaller. So `count` still counts all names
// when the list is cut a second time.
void keep_some(std::vector<std::string>& names, std::int64_t& count);

}  // namespace fleet

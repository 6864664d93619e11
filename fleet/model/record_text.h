// A record as the text that stands in the store, and back. The texts that are read were written by
// others, maybe younger, older, broken or hostile: it is a record or a sentence that says why it is
// none, and never anything in between.
//
// Read: at most 64 KiB, nested at most 16 deep (looked at before anything is parsed), one JSON
// object in UTF-8, `"v"` absent or 1. A member that is not known is ignored, one that is absent has
// its default, an enumeration's unknown text reads as `unknown`. Refused: a later version, a member
// of another type, a member twice, a name that could not stand in a key, a number that nothing can
// be counted with (record_rules.h). Texts for people are cut (record_brief.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model/cell_records.h"
#include "fleet/model/node_records.h"
#include "fleet/model/plan_records.h"
#include "fleet/model/rollout_records.h"

namespace fleet {

using agent_protocol::Refusal;
using agent_protocol::Result;

inline constexpr int records_version = 1;
inline constexpr std::size_t record_nesting_max = 16;

// Exists for each record of this directory.
template <class Record>
[[nodiscard]] Result<Record> read_record(std::string_view text);

// One line without a newline, its texts and lists cut to what is read again (record_brief.h).
// Whether it is too long for the store all the same, why_not_taken() says.
template <class Record>
[[nodiscard]] std::string write_record(const Record& record);

// The names of a record's members, `v` first: whatever else a person writes is a mistake.
// Of records that are flat maps, `v` alone. Exists for RolloutTerms too, which people write.
template <class Record>
[[nodiscard]] std::vector<std::string> member_names();

}  // namespace fleet

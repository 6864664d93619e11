// Reads one record of the store, for commands that show or change the record.
#pragma once

#include <optional>
#include <string>

#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/model/record_text.h"

namespace fleetctl {

template <class Record>
struct OneRecord {
  std::optional<Record> record = std::nullopt;  // no value if the record is absent or damaged
  fleet::Revision revision = 0;                 // the record's revision; 0 if the record is absent
  std::string damage = {};                      // why the record cannot be read; empty if it can
};

// Reads the record at `key` into `one`. If the store does not answer, prints the reason, and
// returns an exit status other than exit_done. An absent or damaged record is no error here.
template <class Record>
[[nodiscard]] int read_one(Asker& asker, const std::string& key, OneRecord<Record>& one) {
  const auto reply = asker.read({key});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const fleet::KeyValue* found = std::get<fleet::Reading>(reply).find(key);
  if (found == nullptr) return exit_done;
  one.revision = found->modified;
  const auto record = fleet::read_record<Record>(found->value);
  if (record) {
    one.record = record.value();
  } else {
    one.damage = record.reason();
  }
  return exit_done;
}

}  // namespace fleetctl

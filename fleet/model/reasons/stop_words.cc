#include "fleet/model/reasons/stop_words.h"

#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/record_text.h"

namespace fleet {

std::string stop_words(const std::string& stop) {
  const auto record = read_record<Stop>(stop);
  if (!record) return "; the record " + record.reason();
  const auto& [who, why, since] = record.value();
  return (since.empty() ? "" : ", since " + since) + (who.empty() ? "" : " by " + who) +
         (why.empty() ? "" : ": " + why);
}

std::string why_nothing_begins(const std::string& stop) {
  return "nothing may begin now" + stop_words(stop) + "; fleetctl stop off ends the stop";
}

std::string words_after_stop(const std::string* epoch) {
  const auto record = read_record<Epoch>(epoch == nullptr ? "{}" : *epoch);
  if (epoch == nullptr || (record && record.value().accepted)) return "everything may begin again";
  return "the stop is over, but no node acts before fleetctl accept-epoch accepts the restored "
         "store";
}

}  // namespace fleet

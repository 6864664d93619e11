#include "fleet/model/records/transaction.h"

#include <algorithm>
#include <set>

namespace fleet {
namespace {

std::string revision_words(Revision revision) {
  return revision == 0 ? "absent" : std::to_string(revision);
}

bool below(const std::string& key, const Erase& erase) {
  return erase.subtree ? key.starts_with(erase.key) : key == erase.key;
}

std::optional<std::string> why_key(const std::string& key) {
  if (key.empty()) return "a key is empty";
  if (key.size() > key_bytes_max) return "a key is longer than " + std::to_string(key_bytes_max);
  return std::nullopt;
}

std::optional<std::string> why_size(const Transaction& transaction) {
  if (transaction.compares.size() > operations_max) {
    return std::to_string(transaction.compares.size()) + " compares; at most " +
           std::to_string(operations_max);
  }
  const std::size_t writes = transaction.puts.size() + transaction.erases.size();
  if (writes > operations_max) {
    return std::to_string(writes) + " writes; at most " + std::to_string(operations_max);
  }
  std::size_t bytes = 0;
  for (const Put& put : transaction.puts) {
    if (put.value.size() > value_bytes_max) {
      return put.key + " has " + std::to_string(put.value.size()) + " bytes; at most " +
             std::to_string(value_bytes_max);
    }
    bytes += put.key.size() + put.value.size();
  }
  if (bytes > transaction_bytes_max) {
    return std::to_string(bytes) + " bytes; at most " + std::to_string(transaction_bytes_max);
  }
  return std::nullopt;
}

}  // namespace

const KeyValue* Reading::find(std::string_view key) const {
  for (const KeyValue& record : found) {
    if (record.key == key) return &record;
  }
  return nullptr;
}

void put_in_order(Reading& reading) {
  std::ranges::stable_sort(reading.found, {}, &KeyValue::key);
  const auto end =
      std::unique(reading.found.begin(), reading.found.end(),
                  [](const KeyValue& one, const KeyValue& other) { return one.key == other.key; });
  reading.found.erase(end, reading.found.end());
}

std::optional<std::string> why_not_taken(const Transaction& transaction) {
  if (auto why = why_size(transaction)) return why;
  for (const Compare& compare : transaction.compares) {
    if (auto why = why_key(compare.key)) return why;
    if (compare.revision < 0) return compare.key + " is compared with a negative revision";
  }
  std::set<std::string_view> written;
  for (const Put& put : transaction.puts) {
    if (auto why = why_key(put.key)) return why;
    if (!written.insert(put.key).second) return put.key + " is written twice";
  }
  for (const Erase& erase : transaction.erases) {
    if (auto why = why_key(erase.key)) return why;
    if (erase.subtree && !erase.key.ends_with('/')) return erase.key + " does not end in /";
    for (const Put& put : transaction.puts) {
      if (below(put.key, erase)) return put.key + " is written and erased";
    }
  }
  return std::nullopt;
}

std::string words(const Transaction& transaction) {
  std::string text = transaction.compares.empty() ? "always" : "if";
  for (const Compare& compare : transaction.compares) {
    text += " " + compare.key + (compare.of == Compare::Of::created ? " created@" : "@") +
            revision_words(compare.revision);
  }
  text += ":";
  for (const Put& put : transaction.puts) {
    text += " put " + put.key + "=" + put.value;
    if (put.lease != 0) text += " (lease " + std::to_string(put.lease) + ")";
  }
  for (const Erase& erase : transaction.erases) {
    text += " erase " + erase.key + (erase.subtree ? "*" : "");
  }
  return text;
}

std::string words(const Outcome& outcome) {
  struct {
    std::string operator()(const Committed& done) const {
      return "committed at " + std::to_string(done.revision);
    }
    std::string operator()(const Refused&) const { return "refused: a compare did not hold"; }
    std::string operator()(const Unknown& unknown) const { return "unknown: " + unknown.reason; }
    std::string operator()(const Denied& denied) const { return "denied: " + denied.reason; }
  } say;
  return std::visit(say, outcome);
}

}  // namespace fleet

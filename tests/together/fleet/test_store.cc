#include "tests/together/fleet/test_store.h"

#include <cctype>
#include <iterator>
#include <set>

namespace fleet_test {

using namespace fleet;

bool TestStore::would_commit(const Transaction& transaction) const {
  for (const Compare& compare : transaction.compares) {
    const KeyValue* found = find(compare.key);
    const bool created = compare.of == Compare::Of::created;
    const Revision is = found == nullptr ? 0 : created ? found->created : found->modified;
    if (is != compare.revision) return false;
  }
  for (const Put& put : transaction.puts) {
    if (ended_.contains(put.lease)) return false;
  }
  return true;
}

Outcome TestStore::commit(const Transaction& transaction) {
  changes_.clear();
  if (const auto why = why_not_taken(transaction)) return Denied{*why};
  if (!would_commit(transaction)) return Refused{};
  if (transaction.puts.empty() && transaction.erases.empty()) return Committed{revision_};
  ++revision_;
  for (const Erase& erase : transaction.erases) {
    auto record = records_.lower_bound(erase.key);
    while (record != records_.end() &&
           (erase.subtree ? record->first.starts_with(erase.key) : record->first == erase.key)) {
      changes_.push_back({{.key = record->first, .modified = revision_}, true});
      record = records_.erase(record);
    }
  }
  for (const Put& put : transaction.puts) {
    KeyValue& record = records_[put.key];
    record = {put.key, put.value, record.created == 0 ? revision_ : record.created, revision_,
              put.lease};
    changes_.push_back({record, false});
  }
  return Committed{revision_};
}

Reading TestStore::read(const std::vector<std::string>& prefixes) const {
  Reading reading{.revision = revision_};
  for (const auto& [key, record] : records_) {
    for (const std::string& prefix : prefixes) {
      const bool below = prefix.ends_with('/') && key.starts_with(prefix);
      if (!below && key != prefix) continue;
      reading.found.push_back(record);
      break;
    }
  }
  return reading;
}

const KeyValue* TestStore::find(const std::string& key) const {
  const auto found = records_.find(key);
  return found == records_.end() ? nullptr : &found->second;
}

void TestStore::put(const std::string& key, const std::string& value, LeaseId lease) {
  static_cast<void>(commit({.puts = {{.key = key, .value = value, .lease = lease}}}));
}

void TestStore::erase(const std::string& key) {
  static_cast<void>(commit({.erases = {{.key = key}}}));
}

void TestStore::end_lease(LeaseId lease) {
  Transaction all;
  for (const auto& [key, record] : records_) {
    if (record.lease == lease) all.erases.push_back({.key = key});
  }
  ended_.insert(lease);
  static_cast<void>(commit(all));
}

std::string by_rank(const std::string& text) {
  struct Place {
    std::size_t begin;
    std::size_t end;
    long long number;
  };
  std::vector<Place> places;
  std::set<long long> numbers;
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at + 1)) {
    std::size_t end = at + 1;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0)
      ++end;
    if (end == at + 1) continue;
    places.push_back({at + 1, end, std::stoll(text.substr(at + 1, end - at - 1))});
    numbers.insert(places.back().number);
  }
  std::string ranked;
  std::size_t copied = 0;
  for (const Place& place : places) {
    ranked.append(text, copied, place.begin - copied);
    ranked += std::to_string(std::distance(numbers.begin(), numbers.find(place.number)));
    copied = place.end;
  }
  return ranked.append(text, copied);
}

}  // namespace fleet_test

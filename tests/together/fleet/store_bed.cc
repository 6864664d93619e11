#include "tests/together/fleet/store_bed.h"

#include <stdexcept>

namespace fleet::test {
namespace {

template <class Value>
Value must(const Reply<Value>& answer) {
  if (const auto* trouble = std::get_if<Trouble>(&answer))
    throw std::runtime_error(trouble->reason);
  return std::get<Value>(answer);
}

template <class Value, class Ask>
Value answer_to(StoreBed& bed, const Ask& ask) {
  const auto answer = std::make_shared<std::optional<Value>>();
  ask([answer](Value value) { *answer = std::move(value); });
  if (!bed.wait([&] { return answer->has_value(); }, std::chrono::seconds(120)))
    throw std::runtime_error("a question was never answered");
  return **answer;
}

}  // namespace

void StoreBed::pass(std::chrono::milliseconds time) {
  bool over = false;
  const auto timer = timers().after(time, [&over] { over = true; });
  while (!over) {
    turn();
  }
}

Reply<Reading> StoreBed::read_answer(Store& store, const Keys& keys) {
  return answer_to<Reply<Reading>>(*this, [&](auto then) { store.read(keys, then); });
}

Reading StoreBed::read(const Keys& keys) {
  return must(read_answer(other(), keys));
}

Outcome StoreBed::commit(Store& store, const Transaction& transaction) {
  return answer_to<Outcome>(*this, [&](auto then) { store.commit(transaction, then); });
}

StoreBed::Pending StoreBed::begin_commit(Transaction transaction) {
  const auto pending = std::make_shared<std::optional<Outcome>>();
  store().commit(std::move(transaction), [pending](Outcome outcome) { *pending = outcome; });
  return pending;
}

Lease StoreBed::grant(std::chrono::seconds ttl) {
  return must(answer_to<Reply<Lease>>(*this, [&](auto then) { store().grant(ttl, then); }));
}

LeaseState StoreBed::keep_alive(LeaseId lease) {
  return must(
      answer_to<Reply<LeaseState>>(*this, [&](auto then) { store().keep_alive(lease, then); }));
}

LeaseState StoreBed::revoke(LeaseId lease) {
  return must(answer_to<Reply<LeaseState>>(*this, [&](auto then) { store().revoke(lease, then); }));
}

Transaction put(const std::string& key, const std::string& value, LeaseId lease) {
  return Transaction{.puts = {Put{key, value, lease}}};
}

Transaction erase(const std::string& key, bool subtree) {
  return Transaction{.erases = {Erase{key, subtree}}};
}

Transaction given(Transaction transaction, const std::string& key, Revision revision) {
  transaction.compares.push_back(Compare{.key = key, .revision = revision});
  return transaction;
}

Transaction both(Transaction one, const Transaction& other) {
  one.compares.insert(one.compares.end(), other.compares.begin(), other.compares.end());
  one.puts.insert(one.puts.end(), other.puts.begin(), other.puts.end());
  one.erases.insert(one.erases.end(), other.erases.begin(), other.erases.end());
  return one;
}

Revision committed(const Outcome& outcome) {
  const auto* done = std::get_if<Committed>(&outcome);
  return done == nullptr ? 0 : done->revision;
}

}  // namespace fleet::test

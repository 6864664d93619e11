#include "tests/together/fleet/register_play.h"

#include <algorithm>
#include <map>
#include <utility>

namespace fleet::test {
namespace {

constexpr std::uint64_t keys = 3;
constexpr std::uint64_t pause_ms_max = 4;

}  // namespace

void Judge::saw(const Changes& changes) {
  history_.insert(history_.end(), changes.changes.begin(), changes.changes.end());
}

std::size_t Judge::acknowledged() const {
  return static_cast<std::size_t>(std::count_if(wrote_.begin(), wrote_.end(), [](const Wrote& w) {
    return std::holds_alternative<Committed>(w.outcome);
  }));
}

std::size_t Judge::unknown() const {
  return static_cast<std::size_t>(std::count_if(wrote_.begin(), wrote_.end(), [](const Wrote& w) {
    return std::holds_alternative<Unknown>(w.outcome);
  }));
}

std::vector<std::string> Judge::violations() const {
  std::vector<std::string> broken;
  // For each written value, the revisions of the changes that have written it.
  std::map<std::string, std::vector<Revision>> places;
  // For the revision of each change, the revision of the previous change of the same key.
  std::map<Revision, Revision> before;
  std::map<std::string, Revision> last;
  for (const Change& change : history_) {
    places[change.now.value].push_back(change.now.modified);
    before[change.now.modified] = std::exchange(last[change.now.key], change.now.modified);
  }
  for (const Wrote& wrote : wrote_) {
    const auto& found = places[wrote.value];
    const std::string what = wrote.value + " (" + words(wrote.outcome) + ")";
    if (found.size() > 1) broken.push_back("twice: " + what);
    for (const Revision at : found) {
      if (before.at(at) != wrote.compared) broken.push_back("over another's: " + what);
    }
    if (const auto* done = std::get_if<Committed>(&wrote.outcome)) {
      if (found.empty()) broken.push_back("lost: " + what);
      if (!found.empty() && found.front() != done->revision) broken.push_back("elsewhere: " + what);
      continue;
    }
    const bool may_be_there = std::holds_alternative<Unknown>(wrote.outcome);
    if (!may_be_there && !found.empty()) broken.push_back("refused, and written: " + what);
  }
  for (const Read& read : read_) {
    if (read.revision < read.known)
      broken.push_back("stale: " + read.key + " as of " + std::to_string(read.revision) +
                       ", after " + std::to_string(read.known));
  }
  return broken;
}

RegisterClient::RegisterClient(Store& store, Timers& timers, Board& board, std::uint64_t seed)
    : store_(store), timers_(timers), board_(board), chance_(seed) {
  begin();
}

void RegisterClient::begin() {
  timer_ = nullptr;
  idle_ = board_.over;
  if (idle_) return;
  read(board_.prefix + std::to_string(chance_() % keys));
}

void RegisterClient::read(const std::string& key) {
  store_.read({key}, [this, key, known = board_.known](const Reply<Reading>& answer) {
    const auto* reading = std::get_if<Reading>(&answer);
    if (reading == nullptr) return pause();
    board_.judge.saw(Read{key, reading->revision, known});
    learn(reading->revision);
    const KeyValue now = reading->found.empty() ? KeyValue{.key = key} : reading->found.front();
    if (chance_() % 4 == 0) return ask(now);
    write(now);
  });
}

// Asks the store whether the key still has this revision, with a transaction that compares and
// writes nothing. If the store commits the transaction, the key must have this revision at the time
// of the answer, and not only earlier.
void RegisterClient::ask(const KeyValue& now) {
  const Transaction question{.compares = {Compare{.key = now.key, .revision = now.modified}}};
  store_.commit(question, [this, key = now.key, known = board_.known](const Outcome& outcome) {
    if (const auto* holds = std::get_if<Committed>(&outcome)) {
      board_.judge.saw(Read{key, holds->revision, known});
      learn(holds->revision);
    }
    pause();
  });
}

void RegisterClient::write(const KeyValue& now) {
  Wrote wrote{.key = now.key,
              .value = std::to_string(++board_.values),
              .compared = now.modified,
              .outcome = {}};
  Transaction transaction{.compares = {Compare{.key = now.key, .revision = now.modified}},
                          .puts = {Put{wrote.key, wrote.value}}};
  store_.commit(std::move(transaction), [this, wrote](const Outcome& outcome) mutable {
    wrote.outcome = outcome;
    if (const auto* done = std::get_if<Committed>(&outcome)) learn(done->revision);
    board_.judge.saw(std::move(wrote));
    pause();
  });
}

void RegisterClient::learn(Revision revision) {
  board_.known = std::max(board_.known, revision);
}

void RegisterClient::pause() {
  timer_ = timers_.after(Timers::Milliseconds(static_cast<std::int64_t>(chance_() % pause_ms_max)),
                         [this] { begin(); });
}

}  // namespace fleet::test

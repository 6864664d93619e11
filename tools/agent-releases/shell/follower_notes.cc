#include "tools/agent-releases/shell/follower_notes.h"

#include "tools/agent-releases/shell/ledger_file.h"

namespace agent_releases {
namespace {

using namespace std::chrono_literals;
using Clock = Wakeups::Clock;

constexpr auto pause = 1s;

}  // namespace

Result<std::vector<Entry>> FollowerNotes::with_kept(const Directory& directory) const {
  auto ledger = read_ledger(directory);
  if (ledger) ledger.value().insert(ledger.value().end(), kept_.begin(), kept_.end());
  return ledger;
}

// Appends the entry to the ledger. If endings of earlier upgrades could not be written yet, they
// are appended first, since they are older.
Outcome FollowerNotes::note(const Directory& directory, const Entry& entry) {
  while (!kept_.empty()) {
    if (const Outcome noted = append_to_ledger(directory, kept_.front()); !noted) return noted;
    kept_.erase(kept_.begin());
  }
  return append_to_ledger(directory, entry);
}

Outcome FollowerNotes::note_ending(const Directory& directory, const Entry& entry) {
  Outcome noted = note(directory, entry);
  if (noted) return noted;
  if (kept_.size() == kept_endings_max) kept_.erase(kept_.begin());
  kept_.push_back(entry);
  next_try_ = Clock::now() + pause;
  return noted;
}

std::optional<Clock::time_point> FollowerNotes::next_try() const {
  return kept_.empty() ? std::nullopt : std::optional(next_try_);
}

void FollowerNotes::try_again(const Directory& directory) {
  next_try_ = Clock::now() + pause;
  while (!kept_.empty() && append_to_ledger(directory, kept_.front()))
    kept_.erase(kept_.begin());
}

}  // namespace agent_releases

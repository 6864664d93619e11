// Writes a follower's entries into the ledger. Never waits for the ledger's lock, because the
// follower's agent is at work. If an ending cannot be written now, it is kept in memory, counts as
// written, and is written later.
#pragma once

#include <optional>
#include <vector>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/ledger.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/follower_wakeups.h"

namespace agent_releases {

// The most endings that are kept in memory while they cannot be written. If there are more, the
// oldest is dropped.
inline constexpr std::size_t kept_endings_max = 64;

class FollowerNotes {
 public:
  // Returns the entries of the ledger's file, followed by those that are kept in memory.
  [[nodiscard]] Result<std::vector<Entry>> with_kept(const Directory& directory) const;

  // Appends the entry durably. If that fails, the entry is not kept.
  [[nodiscard]] Outcome note(const Directory& directory, const Entry& entry);

  // Appends the entry of an ending. If that fails, keeps the entry in memory and returns the
  // reason.
  [[nodiscard]] Outcome note_ending(const Directory& directory, const Entry& entry);

  // Returns the time at which to try again to write the kept entries, or nothing if there are none.
  [[nodiscard]] std::optional<Wakeups::Clock::time_point> next_try() const;
  void try_again(const Directory& directory);

 private:
  std::vector<Entry> kept_;
  Wakeups::Clock::time_point next_try_{};
};

}  // namespace agent_releases

// Writes a follower's entries into the ledger. Never waits for the ledger's lock, because the
// follower's agent is serving. An ending that cannot be written now is kept in memory, counts as
// written, and is written later.
#pragma once

#include <optional>
#include <vector>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/ledger.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/follower_wakeups.h"

namespace agent_releases {

// More would be endings of as many upgrades, none of which could be noted: the oldest goes.
inline constexpr std::size_t kept_endings_max = 64;

class FollowerNotes {
 public:
  // The ledger as it would be if all could be written.
  [[nodiscard]] Result<std::vector<Entry>> with_kept(const Directory& directory) const;

  // Afterwards the entry is durable, or it is not noted at all.
  [[nodiscard]] Outcome note(const Directory& directory, const Entry& entry);

  // Keeps the entry if it cannot be written, and says why.
  [[nodiscard]] Outcome note_ending(const Directory& directory, const Entry& entry);

  // When to try again to write what is kept; nothing where nothing is.
  [[nodiscard]] std::optional<Wakeups::Clock::time_point> next_try() const;
  void try_again(const Directory& directory);

 private:
  std::vector<Entry> kept_;
  Wakeups::Clock::time_point next_try_{};
};

}  // namespace agent_releases

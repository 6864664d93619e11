// Decides when fleet-signer may handle the next request after a write to the store: as soon as the
// local copy of the records contains the write or, if the write has failed, after a pause. This
// file does no input or output, and knows nothing of the requests.
#pragma once

#include <string>

#include "fleet/model/time.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The pause after a write that was refused, or whose outcome is unknown. The local copy of the
// records most likely catches up with the store in this time.
inline constexpr Ms write_pause_ms = 500;
// The longest pause after a write that the store has denied, for example because the store is full.
// The pauses double up to this limit, since a person has to act before such a write succeeds.
inline constexpr Ms write_pause_max_ms = 60'000;

class WritePace {
 public:
  struct Rest {
    Ms pause = 0;
    std::string line = {};  // a line for the log; empty if there is nothing new to say
  };

  // Notes the revision of the local copy, after each change of the copy. If the revision has become
  // smaller, the store was restored from a snapshot. The revision of the last write then belongs to
  // the old store, and is no longer waited for.
  void copied(Revision copy);
  // Returns whether the last write is newer than `copy`, the revision of the local copy. If so, the
  // local copy does not contain the write yet.
  [[nodiscard]] bool waits(Revision copy) const { return copy < awaited_; }

  // Handles the outcome of a write.
  void committed(Revision revision);
  // Returns how long to pause after a write that was not committed, and a line for the log. The
  // line is empty if it is the same as the last line that was returned, unless a write was
  // committed since. It is also empty if the write was refused, since another process of
  // fleet-signer may have answered the same request first.
  [[nodiscard]] Rest failed(const Outcome& outcome);
  // Called when a request cannot be answered before a person has acted. Returns how long to pause,
  // and the line `trouble` for the log. Until a write is committed, each pause after such a request
  // or after a denied write is twice as long as the last such pause, up to write_pause_max_ms. The
  // line is empty if it is the same as the last line that was returned, unless a write was
  // committed since.
  [[nodiscard]] Rest stuck(const std::string& trouble);

 private:
  // Returns `rest`, but with an empty line if its line is the same as the last line that was
  // returned.
  [[nodiscard]] Rest with_news(Rest rest);

  Revision awaited_ = 0;  // the revision of the last write
  Revision seen_ = 0;     // the last revision of the local copy
  Ms denied_pause_ = write_pause_ms;
  std::string line_;
};

}  // namespace fleet

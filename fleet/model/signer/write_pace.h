// Decides when fleet-signer may handle the next request after a write to the store. After a
// successful write, fleet-signer waits until its local copy of the records contains the write.
// After a failed write, it pauses. This file does no input or output.
#pragma once

#include <string>

#include "fleet/model/records/time.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// The pause after a write that was refused, or whose outcome is unknown. In this time, the local
// copy of the records usually gets the changes that it lacked.
inline constexpr Ms write_pause_ms = 500;
// If the store denies a write, for example because it is full, a person has to act. So the pause
// doubles after each denied write, up to this limit.
inline constexpr Ms write_pause_max_ms = 60'000;

class WritePace {
 public:
  struct Rest {
    Ms pause = 0;
    std::string line = {};  // a line for the log; empty if there is nothing new to say
  };

  // Called after each change of the local copy, with the copy's revision. If the revision has
  // become smaller, the store was restored from a snapshot without the last write. waits() then
  // returns false, since the copy will never contain this write.
  void copied(Revision copy);
  // Returns whether the local copy, whose revision is `copy`, does not contain the last write yet.
  [[nodiscard]] bool waits(Revision copy) const { return copy < awaited_; }

  // Records that a write was committed at this revision.
  void committed(Revision revision);
  // Called when a write was not committed. Returns how long to pause, and a line for the log. The
  // line is empty if the store has refused the write: another fleet-signer has probably answered
  // the request, which is no error. A line that failed() returned last time is not returned again
  // until a write is committed.
  [[nodiscard]] Rest failed(const Outcome& outcome);
  // Called when a request cannot be answered before a person has acted. Returns the same pause as
  // after a denied write, and `trouble` as the line for the log. The line is empty if `trouble` was
  // returned last time, and no write was committed since.
  [[nodiscard]] Rest stuck(const std::string& trouble);

 private:
  // Returns `rest`, but with an empty line if the line is the same as last time.
  [[nodiscard]] Rest with_news(Rest rest);

  Revision awaited_ = 0;  // the revision of the last write
  Revision seen_ = 0;     // the last revision of the local copy
  Ms denied_pause_ = write_pause_ms;
  std::string line_;
};

}  // namespace fleet

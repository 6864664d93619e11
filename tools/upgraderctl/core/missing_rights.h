// Decides when a command that waits for an upgrader ends because the caller may not read the
// control directory. Root may make the directory for a different user, first with mkdir (mode 0700)
// and then with chown. Between the two commands that user lacks the rights for a moment, which must
// not end the command.
#pragma once

#include <optional>

#include "agent-protocol/cpp/control/look.h"

namespace upgraderctl {

// For how long the rights must be missing until they count as missing for good. On a slow machine
// that boots, a script may need seconds between the commands mkdir and chown.
inline constexpr Duration missing_rights_longest = std::chrono::seconds{5};

class MissingRights {
 public:
  // Takes in the state of the control directory. Returns true if the rights are missing for good.
  [[nodiscard]] bool looked(const Look& look, Duration now);
  // Returns when to read the control directory again, even if nothing in it has changed by then.
  [[nodiscard]] std::optional<Duration> next_deadline() const;

 private:
  std::optional<Duration> since_;
};

}  // namespace upgraderctl

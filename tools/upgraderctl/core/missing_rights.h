// Decides when a command that waits for an upgrader ends because the caller may not read the
// control directory. Root may make the directory for a different user by two commands: mkdir (mode
// 0700), then chown. That user lacks the rights between the two commands, and this must not end the
// user's command.
#pragma once

#include <optional>

#include "agent-protocol/cpp/control/look.h"

namespace upgraderctl {

// A command ends when the rights have been missing for this long. On a slow machine that boots, a
// script may need seconds between the commands mkdir and chown.
inline constexpr Duration missing_rights_longest = std::chrono::seconds{5};

class MissingRights {
 public:
  // Records what was read of the control directory. Returns true if the rights to read it have been
  // missing for missing_rights_longest, so that the command must end.
  [[nodiscard]] bool looked(const Look& look, Duration now);
  // Returns when to read the control directory again, even if nothing in it has changed by then.
  [[nodiscard]] std::optional<Duration> next_deadline() const;

 private:
  std::optional<Duration> since_;
};

}  // namespace upgraderctl

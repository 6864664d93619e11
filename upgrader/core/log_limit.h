// The limit that keeps agents and requests from flooding the log. A notice is a log line that an
// agent, or a request in the control directory, can cause at will. For each agent and each kind of
// notice, at most one line a second is logged. Further notices are held back and counted, and the
// next logged line of that kind shows the count. The latest `status` that was held back is logged
// when the second is over. This file only decides what to log: log.h writes the lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "upgrader/core/action.h"

namespace upgrader {

// Returns the level at which a notice is logged: warning for a refused upgrade or request, and info
// for every other notice.
[[nodiscard]] LogLevel level_of(const Notice& notice);

// Minimum time between two shown lines of the same kind from the same agent.
inline constexpr Duration log_limit_period{1'000};

class LogLimit {
 public:
  // Returns the text to log now: the text of the notice, with the count of similar notices that
  // were held back. Returns nothing if this notice is held back, too.
  [[nodiscard]] std::optional<std::string> admit(const Notice& notice, Time now);

  // Returns when due() must be called next; nothing if no status is held back.
  [[nodiscard]] std::optional<Time> next_deadline() const;

  // Returns the held-back notices of `status` messages that are to be logged now: a second has
  // passed since the last `status` notice of the same agent was logged.
  [[nodiscard]] std::vector<Notice> due(Time now);

  // Returns the last held-back status of an agent that has ended, and the counts of its held-back
  // notices, to be logged now.
  [[nodiscard]] std::vector<Notice> forget(Generation generation);

 private:
  struct Record {
    Generation generation = 0;
    NoticeKind kind = NoticeKind::stray;
    Time shown{0};                // when the last notice was shown
    std::uint64_t held_back = 0;  // notices held back since then
    // the newest status that was held back since the time `shown`; absent if there is none
    std::optional<std::string> latest{};
  };

  std::vector<Record> records_;  // at most one for each agent and kind of notice
};

}  // namespace upgrader

// Keeps an agent from flooding the log: of each kind of notice at most one line a second for each
// agent. Held-back lines are counted, and the next line of that kind has the count; the latest
// held-back status is shown when the second is over. Only decides: log.h writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "upgrader/core/action.h"

namespace upgrader {

// Returns the level of a notice: a refused upgrade is a warning.
[[nodiscard]] LogLevel level_of(const Notice& notice);

// Minimum time between two shown lines of the same kind from the same agent.
inline constexpr Duration log_limit_period{1'000};

class LogLimit {
 public:
  // Returns the text to log now: the notice's, with the count of notices held back before it; or
  // nothing if this notice is held back.
  [[nodiscard]] std::optional<std::string> admit(const Notice& notice, Time now);

  // Returns the time at which due() will next return something; nothing if no status is held back.
  [[nodiscard]] std::optional<Time> next_deadline() const;

  // Returns the held-back statuses that are to be logged now, since a second has passed after the
  // last shown status of that agent.
  [[nodiscard]] std::vector<Notice> due(Time now);

  // The agent has ended: returns its last held-back status and the counts of its held-back notices,
  // to be logged now.
  [[nodiscard]] std::vector<Notice> forget(Generation generation);

 private:
  struct Record {
    Generation generation = 0;
    NoticeKind kind = NoticeKind::stray;
    Time shown{0};
    std::uint64_t held_back = 0;        // since the last line shown
    std::optional<std::string> latest;  // the newest held-back one, if they are statuses

    void show(Time now) {
      shown = now;
      held_back = 0;
      latest.reset();
    }
  };

  [[nodiscard]] Record* find(Generation generation, NoticeKind kind);

  std::vector<Record> records_;  // at most one for each kind and living agent
};

}  // namespace upgrader

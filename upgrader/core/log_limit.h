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

// How loud a notice is: a refused upgrade is a warning.
[[nodiscard]] LogLevel level_of(const Notice& notice);

// Minimum time between two shown lines of one kind of one agent.
inline constexpr Duration log_limit_period{1'000};

class LogLimit {
 public:
  // Returns the text to log now: the notice's, with the count of notices held back before it; or
  // nothing if this notice is held back.
  [[nodiscard]] std::optional<std::string> admit(const Notice& notice, Time now);

  // When due() will next have something. Nothing while no status is held back: no need to wake.
  [[nodiscard]] std::optional<Time> next_deadline() const;

  // The held-back statuses whose second is over, to be logged now.
  [[nodiscard]] std::vector<Notice> due(Time now);

  // The agent has ended: what was held back of it, the last status and the counts, to be logged
  // now.
  [[nodiscard]] std::vector<Notice> forget(Generation generation);

 private:
  struct Record {
    Generation generation = 0;
    NoticeKind kind = NoticeKind::stray;
    Time shown{0};
    std::uint64_t held_back = 0;        // since the last line shown
    std::optional<std::string> latest;  // of these, if they are statuses

    void show(Time now) {
      shown = now;
      held_back = 0;
      latest.reset();
    }
  };

  [[nodiscard]] Record* find(Generation generation, NoticeKind kind);

  std::vector<Record> records_;  // at most one a kind and living agent
};

}  // namespace upgrader

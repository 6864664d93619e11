// Keeps an agent from flooding the log: of each kind at most one line a second for each agent. What
// is held back is counted, and the count told with the next line of that kind; of held-back
// statuses the latest is shown when the second is over. Decides only: see log.h for the writing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "upgrader/time.h"

namespace upgrader {

enum class LimitedKind { stray, status, error };

inline constexpr Duration log_limit_period{1'000};

struct LimitedLine {
  std::int64_t generation = 0;
  LimitedKind kind = LimitedKind::stray;
  std::string text;

  bool operator==(const LimitedLine&) const = default;
};

class LogLimit {
 public:
  // What to log now for this line: the text, with the count of those held back before it. Nothing:
  // it is held back.
  [[nodiscard]] std::optional<std::string> admit(std::int64_t generation, LimitedKind kind,
                                                 std::string text, Time now);

  // When due() will next have something. Nothing while no status is held back: no need to wake.
  [[nodiscard]] std::optional<Time> next_deadline() const;

  // The held-back statuses whose second is over.
  [[nodiscard]] std::vector<LimitedLine> due(Time now);

  // The agent has ended: what was held back of it, the last status and the counts.
  [[nodiscard]] std::vector<LimitedLine> forget(std::int64_t generation);

 private:
  struct Record {
    Time shown{0};
    std::uint64_t held_back = 0;      // since the last line shown
    std::optional<std::string> text;  // the latest status of these
  };

  std::map<std::pair<std::int64_t, LimitedKind>, Record> records_;
};

}  // namespace upgrader

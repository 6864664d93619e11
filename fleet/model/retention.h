// Which rollouts and plans that have ended are kept, and what is left of the others.
//
// As soon as one has ended, a line of it is written to history/: what it ran, how it ended, who
// began it. Its own records go when that is longer ago than `settings keep`, but for those that
// somebody may still need:
//
//     the last 20 of each component, and the last 20 plans
//     the rollout of a component's highest version: a controller that watches releases must not
//                                                   begin it twice
//     rollouts that a plan has begun, while that plan has not ended well
//     plans that are halted: a person has to recover them
//     once/PLAN/STEP, always: what was done once for a version is not done again
//
// Of the lines the newest 10,000 stay, and those whose records are still there. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "fleet/model/cell_records.h"
#include "fleet/model/keys.h"
#include "fleet/model/settings.h"
#include "fleet/model/transaction.h"

namespace fleet {

inline constexpr std::size_t runs_kept_min = 20;
inline constexpr std::size_t lines_kept_max = 10'000;

class Retention {
 public:
  // The time so many seconds ago, as records show it.
  using TimeText = std::function<std::string(std::int64_t ago_s)>;

  void take(const ParsedKey& key, const KeyValue& record);
  void take_absent(const ParsedKey& key);

  // The next transaction, without the compare of the driver's key; no value if nothing is to be
  // done now. Each is small enough for the store, and compares the records on which it is decided.
  [[nodiscard]] std::optional<Transaction> next(const CellSettings& settings,
                                                const TimeText& time) const;

 private:
  // A rollout or a plan that has ended, by its subject: `rollout/r1`.
  struct Ended {
    Revision revision = 0;
    std::string group = {};    // rollouts of a component, or plans
    std::string version = {};  // of a rollout
    PastRun line = {};
  };
  struct Line {
    std::string run = {};
    std::string ended = {};
  };

  void take_run(const std::string& subject, std::optional<Ended> ended);
  void forget_line(std::uint64_t number);
  [[nodiscard]] std::optional<Transaction> write_lines(const TimeText& time) const;
  [[nodiscard]] std::optional<Transaction> erase_lines() const;
  [[nodiscard]] std::optional<Transaction> erase_run(const std::string& oldest) const;
  [[nodiscard]] Transaction erasing(const std::string& subject, const Ended& run) const;
  [[nodiscard]] bool is_needed(const std::string& subject, const Ended& run) const;

  std::map<std::string, Ended> ended_;
  std::set<std::string> unfinished_plans_;
  std::map<std::string, std::set<std::string>> members_;  // plan: nodes that have a record of it
  std::map<std::uint64_t, Line> lines_;
  std::map<std::string, std::uint64_t> line_of_;  // a run's
};

}  // namespace fleet

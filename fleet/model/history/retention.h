// This file decides which records of ended rollouts and plans are kept, and which are erased. A run
// is one execution of a rollout or plan.
//
// As soon as a run has ended, a record history/NUMBER is written, called a line: it names the
// version, the outcome of the run, and the person who began the run. The run's own records are
// erased when the run ended longer ago than the setting `keep` says. But these records are kept:
// - the last 20 ended rollouts of each component, and the last 20 ended plans;
// - the last rollout of a component's highest version, so that a controller that watches releases
//   does not roll this version out twice;
// - rollouts that a plan has begun, as long as that plan runs or is halted;
// - plans that are halted, since a person has to recover them;
// - each record once/PLAN/STEP, for ever: it says for which version the step was done, so that the
//   step is not done for this version again.
//
// The newest 10,000 lines are kept, and also the line of each run that still has its own records.
// This file does no input or output.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/settings.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

inline constexpr std::size_t runs_kept_min = 20;
inline constexpr std::size_t lines_kept_max = 10'000;

// Returns whether the reading contains a record history/NUMBER about a rollout or plan with this
// subject, such as `rollout/r1`. This record shows that the rollout or plan has ended, even if its
// own records are erased.
[[nodiscard]] bool is_in_history(std::string_view subject, const Reading& reading);

class Retention {
 public:
  // Returns the time `ago_s` seconds ago, as a string for records.
  using TimeText = std::function<std::string(std::int64_t ago_s)>;

  void take(const ParsedKey& key, const KeyValue& record);
  void take_absent(const ParsedKey& key);

  // Returns the next transaction, or no value if there is nothing to do now. A transaction that
  // writes lines, or erases the records of a run, also compares the revision of the run's own
  // record. The caller adds the compare of the driver's key.
  [[nodiscard]] std::optional<Transaction> next(const CellSettings& settings,
                                                const TimeText& time) const;

 private:
  // A run that has ended.
  struct Ended {
    Revision revision = 0;
    // The rollouts of one component are a group, and all plans are a group. The last runs of each
    // group are kept.
    std::string group = {};
    std::string version = {};  // the rollout's version; empty for a plan
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

  std::map<std::string, Ended> ended_;  // the ended runs, by their subjects, such as `rollout/r1`
  std::set<std::string> unfinished_plans_;
  // For each plan, the nodes that have a record node/ID/plan/NAME about it.
  std::map<std::string, std::set<std::string>> members_;
  std::map<std::uint64_t, Line> lines_;
  std::map<std::string, std::uint64_t> line_of_;  // the number of each run's line in history/
};

}  // namespace fleet

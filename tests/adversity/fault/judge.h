// The outcome of a fault, in a word, and whether it is the expected one, which stands in
// expectations.table for every call and error.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/adversity/fault/run.h"

namespace fault {

// `usual`: all went as without the fault. `kept(STAGE)`: the upgrade failed, and the very agent
// that was active serves on. `back(STAGE)`: it was fallen back. `moved`: the upgrade was committed
// on another road. `exitN`, `abort`, `killed`: the upgrader's end. Each but the last three with a
// working upgrader, which has just committed a further upgrade.
[[nodiscard]] std::string outcome_of(const Fault& fault, const Report& report,
                                     const Report& baseline);

class Expectations {
 public:
  // Reads expectations.table; throws where it is malformed.
  explicit Expectations(const std::string& path);

  // The errors that a call is to fail with; KILL is one. Throws for a call that has no row.
  [[nodiscard]] std::vector<std::string> errors_of(const Call& call) const;
  // "" if the outcome is among those that are expected, otherwise what was.
  [[nodiscard]] std::string why_not(const Fault& fault, Phase phase,
                                    const std::string& outcome) const;

 private:
  struct Row {
    std::string who;  // upgrader, child
    std::string call;
    std::vector<std::string> errors;
    std::vector<std::string> expected[4];  // by phase
  };
  [[nodiscard]] const Row* find(const std::string& who, const std::string& call,
                                const std::string& error) const;
  std::vector<Row> rows_;
};

// All that is wrong with a run that a fault was put into; empty if nothing is.
[[nodiscard]] std::vector<std::string> wrongs_of(const Fault& fault, const Report& report,
                                                 const Report& baseline,
                                                 const Expectations& expectations);

}  // namespace fault

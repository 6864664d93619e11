// The judge describes the outcome of a run with a fault in one word, and compares this outcome with
// expectations.table, which lists the expected outcomes for every system call and error.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/adversity/fault/run.h"

namespace fault {

// Returns the outcome of a run with a fault, in one word. At the end of a run, the test requests
// one more upgrade. If the upgrader has committed it, the outcome is one of these:
// * `usual`: the run went as without the fault.
// * `kept(STAGE)`: the upgrade with the fault failed, and the same agent stayed active.
// * `back(STAGE)`: the upgrade with the fault failed, and a fallback was started.
// * `moved`: the upgrade was committed, but in a different way than without the fault.
// If the upgrader has exited or died too early, the outcome is `exitN`, `abort`, `killed` or
// `signalN`. If it works but reads no requests of an operator, the outcome is `deaf`.
[[nodiscard]] std::string outcome_of(const Fault& fault, const Report& report,
                                     const Report& baseline);

class Expectations {
 public:
  // Reads expectations.table; throws if it is malformed.
  explicit Expectations(const std::string& path);

  // Returns the errors with which this system call is to fail, according to the table. KILL in this
  // list means that the process is killed when it makes the call. Throws if the table has no row
  // for the call.
  [[nodiscard]] std::vector<std::string> errors_of(const Call& call) const;
  // Returns "" if the table expects this outcome of the fault. Otherwise returns the expected
  // outcomes as text.
  [[nodiscard]] std::string why_not(const Fault& fault, Phase phase,
                                    const std::string& outcome) const;

 private:
  struct Row {
    std::string who;  // the process whose call failed: "upgrader" or "child"
    std::string call;
    std::vector<std::string> errors;
    std::vector<std::string> expected[4];  // the expected outcomes, by phase
  };
  [[nodiscard]] const Row* find(const std::string& who, const std::string& call,
                                const std::string& error) const;
  std::vector<Row> rows_;
};

// Returns all violations that a run with a fault has shown, in words.
[[nodiscard]] std::vector<std::string> wrongs_of(const Fault& fault, const Report& report,
                                                 const Report& baseline,
                                                 const Expectations& expectations);

}  // namespace fault

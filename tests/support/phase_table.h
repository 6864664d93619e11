// Reads the table of phases near the head of upgrader/core/supervisor.h, which lists the phases to
// which each phase may lead. Tests compare this table with the supervisor's steps.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace upgrader::test {

// A step from a phase to the next phase, as a pair of the phases' names.
using PhaseStep = std::pair<std::string, std::string>;

// Reads the table from the text of the header. In each phase's row, the column "goes on to" names
// the next phases. Returns one pair, the phase and a next phase, for each of these names.
[[nodiscard]] std::set<PhaseStep> steps_of_table(const std::string& header);

// Compares `table`, the steps that supervisor.h lists, with `taken`, the steps of a supervisor.
// Returns the differences as texts: the steps that are only in `table`, and those that are only in
// `taken`. `taken` must not include the steps of a shutdown, which supervisor.h describes in a
// sentence below its table.
[[nodiscard]] std::vector<std::string> differences(const std::set<PhaseStep>& table,
                                                   const std::set<PhaseStep>& taken);

}  // namespace upgrader::test

// Reads the table of phases at the head of upgrader/core/supervisor.h, for tests that compare it
// with the supervisor's steps: it lists the phases to which each phase may lead.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace upgrader::test {

// A step from one phase to another, by their names.
using PhaseStep = std::pair<std::string, std::string>;

// Reads the table from the text of the header. For each phase, the column "goes on to" names
// phases. Returns a pair of phases for each of these names.
[[nodiscard]] std::set<PhaseStep> steps_of_table(const std::string& header);

// Compares the table with the steps that were taken. Returns, as texts, the steps that are only in
// the table or only in `taken`. `taken` must not include the steps of a shutdown, which the
// sentence below the table describes.
[[nodiscard]] std::vector<std::string> differences(const std::set<PhaseStep>& table,
                                                   const std::set<PhaseStep>& taken);

}  // namespace upgrader::test

// The table of phases at the head of upgrader/core/supervisor.h, as data: from which phase an event
// may lead to which. For tests that compare it with what the supervisor does.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace upgrader::test {

// From one phase to another, by their names.
using PhaseStep = std::pair<std::string, std::string>;

// The rows of the table in this text of the header: each phase with every phase that its column
// "goes on to" names.
[[nodiscard]] std::set<PhaseStep> steps_of_table(const std::string& header);

// In words, what only one of them has. `taken` is without the steps of SIGTERM and SIGQUIT, which
// the table leaves to the sentence below it.
[[nodiscard]] std::vector<std::string> differences(const std::set<PhaseStep>& table,
                                                   const std::set<PhaseStep>& taken);

}  // namespace upgrader::test

// Measures a whole cell, part by part: nodes enter and stay without orders, rollouts run, a driver
// and the store's leader are killed, then a plan, windows, and a desired version.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace fleet::test {

// Prints a row of a table for each part, and a line for each process that it kills. Ends this
// process with 1 if a part does not end.
void measure_cell(const std::string& build, std::chrono::seconds rest, std::size_t nodes);

}  // namespace fleet::test

// Computes a figure, such as a median, from many measurements, and prints figures in tables.
#pragma once

#include <string>
#include <vector>

namespace benchmark {

// Returns the value below which `percent` percent of `values` lie. `values` must not be empty.
[[nodiscard]] double percentile(std::vector<double> values, double percent);
[[nodiscard]] double median(std::vector<double> values);

[[nodiscard]] std::string fixed(double value, int digits);

// Prints a row of a table, with its name on the left and the cells aligned on the right.
void print_row(const std::string& name, const std::vector<std::string>& cells);
void print_heading(const std::string& title, const std::string& explanation);

}  // namespace benchmark

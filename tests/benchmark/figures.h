// The sum of many measurements, and its text for people.
#pragma once

#include <string>
#include <vector>

namespace benchmark {

// The value below which `percent` per cent of `values` lie. `values` must not be empty.
[[nodiscard]] double percentile(std::vector<double> values, double percent);
[[nodiscard]] double median(std::vector<double> values);

[[nodiscard]] std::string fixed(double value, int digits);

// A row of a table: its name at the left, all else at the right of its column.
void print_row(const std::string& name, const std::vector<std::string>& cells);
void print_heading(const std::string& title, const std::string& explanation);

}  // namespace benchmark

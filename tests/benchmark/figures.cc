#include "tests/benchmark/figures.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace benchmark {

double percentile(std::vector<double> values, double percent) {
  std::sort(values.begin(), values.end());
  const double rank = percent / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(rank));
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], rank - std::floor(rank));
}

double median(std::vector<double> values) {
  return percentile(std::move(values), 50);
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

void print_row(const std::string& name, const std::vector<std::string>& cells) {
  std::printf("  %-26s", name.c_str());
  for (const std::string& cell : cells)
    std::printf("  %14s", cell.c_str());
  std::printf("\n");
  std::fflush(stdout);
}

void print_heading(const std::string& title, const std::string& explanation) {
  std::printf("\n%s\n%s\n\n", title.c_str(), explanation.c_str());
  std::fflush(stdout);
}

}  // namespace benchmark

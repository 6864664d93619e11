#include "tests/adversity/endurance/log_shapes.h"

#include <algorithm>
#include <cctype>
#include <fstream>

namespace endurance {
namespace {

std::size_t digits_at(std::string_view line) {
  std::size_t count = 0;
  while (count < line.size() && std::isdigit(static_cast<unsigned char>(line[count])) != 0)
    ++count;
  return count;
}

// Compares a log line with a shape that begins with `@`: the line must begin with `generation N` or
// `generation N (version V)`, and the rest of the line must have the rest of the shape.
bool matches_agent(std::string_view line, std::string_view rest) {
  constexpr std::string_view generation = "generation ";
  if (!line.starts_with(generation)) return false;
  line.remove_prefix(generation.size());
  const std::size_t digits = digits_at(line);
  if (digits == 0) return false;
  line.remove_prefix(digits);
  if (matches(line, rest)) return true;
  const std::size_t end = line.find(')');
  return line.starts_with(" (version ") && end != std::string_view::npos &&
         matches(line.substr(end + 1), rest);
}

}  // namespace

bool matches(std::string_view line, std::string_view shape) {
  while (!shape.empty()) {
    const char sign = shape[0];
    const std::string_view rest = shape.substr(1);
    if (sign == '@') return matches_agent(line, rest);
    if (sign == '*') {
      for (std::size_t taken = 1; taken <= line.size(); ++taken) {
        if (matches(line.substr(taken), rest)) return true;
      }
      return false;
    }
    const std::size_t taken = sign == '#' ? digits_at(line) : !line.empty() && line[0] == sign;
    if (taken == 0) return false;
    line.remove_prefix(taken);
    shape = rest;
  }
  return line.empty();
}

LogShapes::LogShapes(const std::string& table_path) {
  std::ifstream table(table_path);
  for (std::string line; std::getline(table, line);) {
    if (!line.empty() && !line.starts_with("# ")) shapes_.push_back(line);
  }
}

bool LogShapes::has(std::string_view line) const {
  return std::any_of(shapes_.begin(), shapes_.end(),
                     [line](const std::string& shape) { return matches(line, shape); });
}

}  // namespace endurance

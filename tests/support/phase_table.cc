#include "tests/support/phase_table.h"

#include <sstream>
#include <string_view>

#include "upgrader/core/state.h"

namespace upgrader::test {
namespace {

bool is_phase(std::string_view word) {
  for (int number = 0; number <= static_cast<int>(Phase::ended); ++number) {
    if (name_of(static_cast<Phase>(number)) == word) return true;
  }
  return false;
}

std::vector<std::string> names_in(const std::string& text) {
  constexpr std::string_view of_names = "abcdefghijklmnopqrstuvwxyz_";
  std::vector<std::string> words;
  for (std::size_t at = text.find_first_of(of_names); at != std::string::npos;) {
    const std::size_t end = text.find_first_not_of(of_names, at);
    words.push_back(text.substr(at, end - at));
    at = end == std::string::npos ? end : text.find_first_of(of_names, end);
  }
  return words;
}

}  // namespace

std::set<PhaseStep> steps_of_table(const std::string& header) {
  std::set<PhaseStep> steps;
  std::istringstream lines(header);
  std::size_t first_column = 0, last_column = 0;
  std::string from;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("// clang-format on")) break;
    if (last_column == 0) {
      const std::size_t title = line.find("goes on to");
      if (title == std::string::npos) continue;
      first_column = line.find("phase");
      last_column = title;
      continue;
    }
    if (line.size() > first_column && line[first_column] != ' ') {
      from = names_in(line.substr(first_column)).front();
    }
    if (line.size() <= last_column) continue;
    for (const std::string& word : names_in(line.substr(last_column)))
      if (is_phase(word)) steps.emplace(from, word);
  }
  return steps;
}

std::vector<std::string> differences(const std::set<PhaseStep>& table,
                                     const std::set<PhaseStep>& taken) {
  std::vector<std::string> found;
  for (const PhaseStep& step : taken) {
    if (!table.contains(step)) {
      found.push_back(step.first + " goes on to " + step.second +
                      ", which the table does not have");
    }
  }
  for (const PhaseStep& step : table) {
    if (!taken.contains(step)) {
      found.push_back("the table has " + step.first + " go on to " + step.second +
                      ", which it never does");
    }
  }
  return found;
}

}  // namespace upgrader::test

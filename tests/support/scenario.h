// A scenario: a story for the supervisor as text. Events stand flush left, the actions that answer
// them after "> ", the phase after "= ". See tests/decisions/scenario/README.md for the words.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace upgrader::test {

struct ScenarioOutcome {
  std::string text;    // the scenario, with the answers as they are now
  std::string phase;   // at its end
  std::string active;  // the active generation at its end, "-" for nobody, "exit N" after the end
  std::string told;    // the last ending of an upgrade and whom it was told
  std::string log;     // its log lines, each after how loud it is, or of which kind
  std::vector<std::string> mistakes;  // lines that could not be understood
};

// The text between a heading `## NAME` and the next, by name.
using Scenarios = std::map<std::string, std::string>;

// The files of scenarios in the tree: tests/decisions/scenario/SUBJECT.txt.
[[nodiscard]] std::vector<std::filesystem::path> scenario_files();

// The scenarios of one file. A name that a file has twice fails the program, with a line on
// standard error.
[[nodiscard]] Scenarios scenarios_in(const std::filesystem::path& file);

// Those of all files, likewise.
[[nodiscard]] Scenarios all_scenarios();

// Writes a file anew, with other texts for its scenarios.
void rewrite_scenarios(const std::filesystem::path& file, const Scenarios& texts);

// Plays the events of a scenario; its old answers are not looked at.
[[nodiscard]] ScenarioOutcome play(const std::string& scenario);

}  // namespace upgrader::test

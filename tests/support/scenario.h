// A scenario: a test of the supervisor as text. Events stand at the left margin. Below an event,
// each action that the event causes follows after "> ", and the phase after "= ".
// tests/decisions/scenario/README.md has the vocabulary.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace upgrader::test {

struct ScenarioOutcome {
  std::string text;   // the scenario, with the answers that the supervisor gives now
  std::string phase;  // the supervisor's phase at the end
  // The active agent's generation at the end, "-" if no agent is active, or "exit N" if the
  // upgrader has exited with status N.
  std::string active;
  // The last message that told an agent how an upgrade has ended, and the agent's generation, such
  // as "committed to 2"; "-" if there was no such message.
  std::string told;
  std::string log;                    // the log lines, each after its level or kind
  std::vector<std::string> mistakes;  // lines that could not be understood
};

// Scenarios by their names. In a file, a scenario is the text between a heading `## NAME` and the
// next heading.
using Scenarios = std::map<std::string, std::string>;

// Returns the paths of all files with scenarios, tests/decisions/scenario/SUBJECT.txt.
[[nodiscard]] std::vector<std::filesystem::path> scenario_files();

// Returns the scenarios of one file. If two scenarios have the same name, ends the program with a
// line on standard error.
[[nodiscard]] Scenarios scenarios_in(const std::filesystem::path& file);

// Returns the scenarios of all files. If two scenarios have the same name, ends the program.
[[nodiscard]] Scenarios all_scenarios();

// Rewrites a file with new texts for its scenarios.
void rewrite_scenarios(const std::filesystem::path& file, const Scenarios& texts);

// Passes the events of a scenario to a supervisor, and returns the supervisor's answers. Ignores
// the actions and phases that the text already has.
[[nodiscard]] ScenarioOutcome play(const std::string& scenario);

}  // namespace upgrader::test

// Plays every scenario of this directory. Compares the supervisor's answers with the answers in the
// scenario's file, and the end of the scenario with endings.table.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/support/phase_table.h"
#include "tests/support/scenario.h"
#include "tests/support/source_directory.h"
#include "tests/support/temporary_directory.h"

namespace scenario_test {

namespace {

namespace fs = std::filesystem;
using upgrader::test::all_scenarios;
using upgrader::test::play;
using upgrader::test::ScenarioOutcome;
using upgrader::test::Scenarios;

fs::path directory() {
  return fs::path(source_directory()) / "tests/decisions/scenario";
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(' ');
  const auto end = text.find_last_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// Returns the rows of endings.table, by the names of the scenarios. An example: "gate_late |
// running | 1 | upgrade_failed confirm to 1". The scenario `gate_late` ends in the phase `running`,
// and generation 1 is active. The last message about the end of an upgrade was `upgrade_failed`,
// with the stage `confirm`, to generation 1. If the upgrader has exited, the third column has its
// exit status, such as "exit 7".
std::map<std::string, std::string> table() {
  std::map<std::string, std::string> rows;
  std::istringstream lines(content_of(directory() / "endings.table"));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream cells(line);
    std::string name, row;
    std::getline(cells, name, '|');
    for (std::string cell; std::getline(cells, cell, '|');)
      row += trimmed(cell) + " | ";
    rows[trimmed(name)] = row;
  }
  return rows;
}

}  // namespace

TEST_CASE("every scenario is answered as it is written") {
  REQUIRE(all_scenarios().size() >= 60);
  for (const fs::path& file : upgrader::test::scenario_files()) {
    Scenarios answers = upgrader::test::scenarios_in(file);
    for (auto& [name, written] : answers) {
      INFO(name);
      const ScenarioOutcome outcome = play(written);

      CHECK(outcome.mistakes.empty());
      if (std::getenv("REWRITE") == nullptr) CHECK(outcome.text == written);
      written = outcome.text;
    }
    if (std::getenv("REWRITE") != nullptr) upgrader::test::rewrite_scenarios(file, answers);
  }
}

TEST_CASE("every scenario ends as the table says that was written by hand") {
  const auto rows = table();
  CHECK(rows.size() == all_scenarios().size());
  for (const auto& [name, text] : all_scenarios()) {
    INFO(name);
    const ScenarioOutcome outcome = play(text);

    REQUIRE(rows.count(name) == 1);
    CHECK(rows.at(name) == outcome.phase + " | " + outcome.active + " | " + outcome.told + " | ");
  }
}

TEST_CASE("no scenario goes from phase to phase otherwise than the table of supervisor.h says") {
  auto steps = upgrader::test::steps_of_table(
      content_of(fs::path(source_directory()) / "upgrader/core/supervisor.h"));
  REQUIRE(steps.size() >= 30);
  for (const auto& [name, text] : all_scenarios()) {
    std::istringstream lines(text);
    std::string event, phase;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("= ")) {
        if (!line.starts_with("> ")) event = line;
        continue;
      }
      const std::string next = line.substr(2);
      const bool signalled = event == "sigterm" || event == "sigquit";
      INFO(name << ": " << event << ": from " << phase << " to " << next);
      CHECK((phase.empty() || next == phase || signalled || steps.contains({phase, next})));
      phase = next;
    }
  }
}

TEST_CASE("a wrong answer and a line that makes no sense are noticed") {
  const ScenarioOutcome outcome = play("start\n> send 1 activate\n= running\ndance\n");

  CHECK(outcome.text == "start\n> spawn 1\n= starting\ndance\n= starting\n");
  CHECK(outcome.mistakes == std::vector<std::string>{"dance"});
}

}  // namespace scenario_test

// Plays every scenario of this directory and compares its answers, and its end with the table.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/support/phase_table.h"
#include "tests/support/scenario.h"

namespace {

namespace fs = std::filesystem;
using upgrader::test::play;
using upgrader::test::ScenarioOutcome;

fs::path directory() {
  return fs::path(SOURCE_DIRECTORY) / "tests/decisions/scenario";
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::set<fs::path> scenarios() {
  std::set<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory())) {
    if (entry.path().extension() == ".txt") found.insert(entry.path());
  }
  return found;
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(' ');
  const auto end = text.find_last_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// "name | phase | active | told"
std::map<std::string, std::string> table() {
  std::map<std::string, std::string> rows;
  std::istringstream lines(text_of(directory() / "endings.table"));
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
  REQUIRE(scenarios().size() >= 60);
  for (const fs::path& path : scenarios()) {
    DYNAMIC_SECTION(path.stem().string()) {
      const std::string written = text_of(path);

      const ScenarioOutcome outcome = play(written);

      CHECK(outcome.mistakes.empty());
      if (std::getenv("REWRITE") != nullptr) {
        std::ofstream(path) << outcome.text;
      } else {
        CHECK(outcome.text == written);
      }
    }
  }
}

TEST_CASE("every scenario ends as the table says that was written by hand") {
  const auto rows = table();
  CHECK(rows.size() == scenarios().size());
  for (const fs::path& path : scenarios()) {
    DYNAMIC_SECTION(path.stem().string()) {
      const ScenarioOutcome outcome = play(text_of(path));

      REQUIRE(rows.count(path.stem().string()) == 1);
      CHECK(rows.at(path.stem().string()) ==
            outcome.phase + " | " + outcome.active + " | " + outcome.told + " | ");
    }
  }
}

TEST_CASE("no scenario goes from phase to phase otherwise than the table of supervisor.h says") {
  auto steps = upgrader::test::steps_of_table(
      text_of(fs::path(SOURCE_DIRECTORY) / "upgrader/core/supervisor.h"));
  REQUIRE(steps.size() >= 30);
  for (const fs::path& path : scenarios()) {
    std::istringstream lines(text_of(path));
    std::string event, phase;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("= ")) {
        if (!line.starts_with("> ")) event = line;
        continue;
      }
      const std::string next = line.substr(2);
      const bool signalled = event == "sigterm" || event == "sigquit";
      INFO(path.stem().string() << ": " << event << ": from " << phase << " to " << next);
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

// What the log says in every scenario, compared with log.table; REWRITE=1 writes that, and the
// difference is to be read.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/support/scenario.h"

namespace {

namespace fs = std::filesystem;
using upgrader::test::play;

const char* const head =
    "# What the log says in each scenario of this directory. log_test.cc compares.\n";

fs::path directory() {
  return fs::path(SOURCE_DIRECTORY) / "tests/decisions/scenario";
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string log_of_all() {
  std::set<fs::path> scenarios;
  for (const auto& entry : fs::directory_iterator(directory())) {
    if (entry.path().extension() == ".txt") scenarios.insert(entry.path());
  }
  std::string all = head;
  for (const fs::path& path : scenarios) {
    all += "\n" + path.stem().string() + "\n";
    std::istringstream lines(play(text_of(path)).log);
    for (std::string line; std::getline(lines, line);)
      all += "  " + line + "\n";
  }
  return all;
}

}  // namespace

TEST_CASE("the log of every scenario is as it is written") {
  const fs::path table = directory() / "log.table";

  const std::string log = log_of_all();

  if (std::getenv("REWRITE") != nullptr) {
    std::ofstream(table) << log;
  } else {
    CHECK(log == text_of(table));
  }
}

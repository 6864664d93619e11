// Compares the log lines of every scenario with log.table. With REWRITE=1 in the environment,
// writes log.table anew from the log lines, and a person must then review the differences.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/scenario.h"
#include "tests/support/source_directory.h"
#include "tests/support/temporary_directory.h"

namespace log_test {

namespace {

namespace fs = std::filesystem;
using upgrader::test::play;

const char* const head =
    "# What the log says in each scenario of this directory. log_test.cc compares.\n";

fs::path directory() {
  return fs::path(source_directory()) / "tests/decisions/scenario";
}

std::string log_of_all() {
  std::string all = head;
  for (const auto& [name, text] : upgrader::test::all_scenarios()) {
    all += "\n" + name + "\n";
    std::istringstream lines(play(text).log);
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
    CHECK(log == content_of(table));
  }
}

}  // namespace log_test

// Tests that the model for the model checker spin (upgrade.pml) has the same phases as the
// supervisor, so that nobody can change the phases of only one of them.
#include <catch2/catch.hpp>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/source_directory.h"
#include "tests/support/temporary_directory.h"
#include "upgrader/core/state.h"

namespace phase_names_test {

namespace {

using Names = std::set<std::string>;

Names phases_of_supervisor() {
  Names names;
  for (int number = 0; number <= static_cast<int>(upgrader::Phase::ended); ++number)
    names.emplace(upgrader::name_of(static_cast<upgrader::Phase>(number)));
  return names;
}

// Returns the names between the braces of `mtype:phase = { ... }`.
Names phases_of_model() {
  const std::string model = content_of(source_directory() + "/tests/decisions/model/upgrade.pml");
  const std::size_t begin = model.find('{', model.find("mtype:phase = "));
  const std::size_t end = model.find('}', begin);
  REQUIRE(end != std::string::npos);
  std::string list = model.substr(begin + 1, end - begin - 1);
  for (char& character : list) {
    if (character == ',') character = ' ';
  }
  std::istringstream words(list);
  return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
}

}  // namespace

TEST_CASE("the model has the phases of the supervisor") {
  const Names phases = phases_of_supervisor();

  CHECK(phases.size() > 1);
  CHECK(phases_of_model() == phases);
}

}  // namespace phase_names_test

// A helper for tests that start programs: it checks a program as the upgrader does.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/program.h"

// Returns the program at a path; fails the test if the file there is not a program.
inline upgrader::Program program_of(const std::string& path, std::vector<std::string> args = {}) {
  auto checked = upgrader::check_program(path, path, std::move(args));
  if (!checked) FAIL(checked.reason());
  return std::move(checked.value());
}

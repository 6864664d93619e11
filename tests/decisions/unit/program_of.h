// A program that the upgrader would start, for tests of what is done with it.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/program.h"

// The program that the path names; the test fails where it is none.
inline upgrader::Program program_of(const std::string& path, std::vector<std::string> args = {}) {
  auto checked = upgrader::check_program(path, path, std::move(args));
  if (!checked) FAIL(checked.reason());
  return std::move(checked.value());
}

// Tests the list of programs whose files the upgrader keeps open: which number a program gets, and
// how long the list keeps it.
#include "upgrader/shell/programs.h"
#include "tests/decisions/unit/program_of.h"

#include <catch2/catch.hpp>

#include "tests/decisions/unit/processes.h"

namespace programs_test {

using namespace upgrader;

namespace {}  // namespace

TEST_CASE("a program is kept under the next number, and closed when it is named no more") {
  const auto before = descriptors_of(::getpid());
  Programs programs;
  CHECK(programs.add(program_of("/bin/true")) == 1);
  CHECK(programs.add(program_of("/bin/false")) == 2);
  CHECK(programs.add(program_of("/bin/cat")) == 3);
  CHECK(programs.at(2).name == "/bin/false");

  programs.keep_only({3, 1});
  CHECK(descriptors_of(::getpid()).size() == before.size() + 2);
  CHECK(programs.at(3).name == "/bin/cat");
  CHECK(programs.add(program_of("/bin/sh")) == 4);

  programs.keep_only({});
  CHECK(descriptors_of(::getpid()) == before);
}

}  // namespace programs_test

// Tests how the end of a process becomes a text for people, and an exit status.
#include "base/ending.h"

#include <catch2/catch.hpp>
#include <csignal>

namespace ending_test {

namespace {

using upgrader::Ending;
using upgrader::exit_status_of;
using upgrader::in_words;

struct Row {
  Ending ending;
  const char* words;
  int status;
};

const Row rows[] = {
    {{Ending::How::exited, 0}, "exited with status 0", 0},
    {{Ending::How::exited, 3}, "exited with status 3", 3},
    {{Ending::How::signalled, SIGSEGV}, "was killed by signal 11 (SIGSEGV)", 139},
    {{Ending::How::signalled, 64}, "was killed by signal 64", 192},
    {{Ending::How::unknown, 0}, "ended in an unknown way", 125},
};

}  // namespace

TEST_CASE("an ending is told in words, and has an exit status") {
  for (const Row& row : rows) {
    INFO(row.words);
    CHECK(in_words(row.ending) == row.words);
    CHECK(exit_status_of(row.ending) == row.status);
  }
}

TEST_CASE("an ending that nobody has filled in is unknown") {
  CHECK(Ending{} == Ending{Ending::How::unknown, 0});
}

}  // namespace ending_test

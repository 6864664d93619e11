// Tests the names of system errors, and which errors count as a temporary shortage.
#include "base/errno_name.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <set>

namespace errno_name_test {

using namespace upgrader;

TEST_CASE("an error is said in words, with its name; one without a name by its number") {
  CHECK(errno_name(ENOENT) == "ENOENT");
  CHECK(errno_name(ENOKEY) == "ENOKEY");
  CHECK(errno_name(9'999) == "E9999");
  CHECK(in_words(SystemError{EACCES}) == "Permission denied (EACCES)");
}

TEST_CASE("a lack of descriptors, memory or processes is a shortage, and nothing else is") {
  std::set<int> shortages;
  for (int error = 0; error < 200; ++error) {
    if (is_shortage(error)) shortages.insert(error);
  }

  CHECK(shortages == std::set<int>{EMFILE, ENFILE, ENOMEM, EAGAIN});
}

}  // namespace errno_name_test

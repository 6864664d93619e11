// Catch2's main(), compiled once for all test programs, because its compilation takes twenty
// seconds.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/failed_checks.h"

namespace {

// Removes all tests from Catch2's list except the tests of one file. A test program may have the
// tests of many files. If such a program is started through a link NAME_test, it runs only the
// tests of the file NAME_test.cc.
void keep_tests_of(const std::string& file) {
  const auto& all = Catch::getRegistryHub().getTestCaseRegistry().getAllTests();
  // Catch2 returns its list of tests only as a const reference. The list itself is not const, so it
  // may be changed after a const_cast.
  std::erase_if(const_cast<std::vector<Catch::TestCase>&>(all), [&](const Catch::TestCase& test) {
    return std::filesystem::path(test.lineInfo.file).stem() != file;
  });
}

class CheckListener : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo&) override {
    test_support::has_failed_check = false;
  }
  bool assertionEnded(const Catch::AssertionStats& stats) override {
    if (!stats.assertionResult.isOk()) test_support::has_failed_check = true;
    return false;
  }
};
CATCH_REGISTER_LISTENER(CheckListener)

}  // namespace

int main(int argc, char* argv[]) {
  const std::string name = std::filesystem::path(argc > 0 ? argv[0] : "").filename();
  const std::string program = std::filesystem::canonical("/proc/self/exe").filename();
  if (name.ends_with("_test") && name != program) keep_tests_of(name);
  return Catch::Session().run(argc, argv);
}

// Catch2's main, compiled once for all test programs: it takes twenty seconds.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace {

// Of a program that holds the tests of many files, those of one file are run by a link to it that
// is called as the file is: NAME_test. Without it there are no other tests: neither their names nor
// their tags count.
void keep_tests_of(const std::string& file) {
  const auto& all = Catch::getRegistryHub().getTestCaseRegistry().getAllTests();
  // No list but Catch2's own can be asked for, and it is not const.
  std::erase_if(const_cast<std::vector<Catch::TestCase>&>(all), [&](const Catch::TestCase& test) {
    return std::filesystem::path(test.lineInfo.file).stem() != file;
  });
}

}  // namespace

int main(int argc, char* argv[]) {
  const std::string name = std::filesystem::path(argc > 0 ? argv[0] : "").filename();
  const std::string program = std::filesystem::canonical("/proc/self/exe").filename();
  if (name.ends_with("_test") && name != program) keep_tests_of(name);
  return Catch::Session().run(argc, argv);
}

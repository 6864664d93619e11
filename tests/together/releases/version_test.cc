// Tests semantic versions: which texts are versions, their order, and how builds are treated.
#include <catch2/catch.hpp>

#include "agent-releases/version.h"

namespace version_test {

using agent_releases::Version;

namespace {

Version version(const std::string& text) {
  const auto parsed = Version::parse(text);
  INFO(text);
  REQUIRE(parsed);
  return *parsed;
}

}  // namespace

TEST_CASE("a version is written in one way only") {
  for (const char* text : {"0.0.0", "1.20.300", "1.0.0-rc.1", "1.0.0-0", "1.0.0-x-y-z.-",
                           "999999999999999999.0.0", "1.0.0-0a.00a"}) {
    CHECK(version(text).text() == text);
  }
  for (const char* text : {"",
                           "1",
                           "1.2",
                           "1.2.3.4",
                           "1.2.3.",
                           "v1.2.3",
                           "1.2.x",
                           "01.2.3",
                           "1..3",
                           " 1.2.3",
                           "1.2.3 ",
                           "-1.2.3",
                           "1.2.3-",
                           "1.2.3+",
                           "1.2.3-01",
                           "1.2.3-a..b",
                           "1.2.3-a.",
                           "1.2.3-a_b",
                           "1.2.3/..",
                           "1.2.3-\xC3\xA9",
                           "1000000000000000000.0.0",
                           "+1.2.3",
                           "1.2.3\n"}) {
    INFO(text);
    CHECK_FALSE(Version::parse(text));
  }
  CHECK_FALSE(Version::parse("1.2.3-" + std::string(200, 'a')));
}

TEST_CASE("versions are in the order that semver.org gives them") {
  const std::vector<std::string> ordered{
      "0.9.9",        "1.0.0-1",       "1.0.0-2",          "1.0.0-10",
      "1.0.0-alpha",  "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta",
      "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",       "1.0.0",
      "1.0.1",        "1.9.9",         "1.10.0",           "2.0.0"};
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      INFO(ordered[i] << " and " << ordered[j]);
      CHECK((version(ordered[i]) < version(ordered[j])) == (i < j));
      CHECK((version(ordered[i]) == version(ordered[j])) == (i == j));
    }
  }
}

TEST_CASE("a build is kept, and is in neither the path nor the order") {
  const Version built = version("1.2.3-rc.1+build.007");

  CHECK(built.build == "build.007");
  CHECK(built.text() == "1.2.3-rc.1");
  CHECK(built == version("1.2.3-rc.1+other"));
  CHECK(built.is_prerelease());
  CHECK_FALSE(version("1.2.3+build").is_prerelease());
}

}  // namespace version_test

// Which release is due: versions, the releases directory, what is desired, what has failed.
#include <catch2/catch.hpp>

#include "sample-agent/failures.h"
#include "sample-agent/releases.h"
#include "tests/unit/temporary_directory.h"

using namespace sample_agent;
namespace fs = std::filesystem;

namespace {

Version version(const std::string& text) {
  const auto parsed = parse_version(text);
  REQUIRE(parsed);
  return *parsed;
}

std::vector<std::string> names(const std::vector<Release>& releases) {
  std::vector<std::string> result;
  for (const Release& release : releases)
    result.push_back(to_string(release.version));
  return result;
}

std::vector<Release> releases_of(const std::vector<std::string>& versions) {
  std::vector<Release> releases;
  for (const std::string& text : versions)
    releases.push_back({version(text), {}});
  return releases;
}

using Texts = std::vector<std::string>;

// The version chosen, or "none".
std::string chosen(const Texts& there, const std::string& present,
                   const std::optional<std::string>& desired = {}, const Texts& failed = {}) {
  const auto has_failed = [&](const Release& release) {
    return std::ranges::find(failed, to_string(release.version)) != failed.end();
  };
  const auto wish = desired ? std::optional(version(*desired)) : std::nullopt;
  const auto release = choose_release(releases_of(there), wish, version(present), has_failed);
  return release ? to_string(release->version) : "none";
}

}  // namespace

TEST_CASE("a version is three numbers, written in one way") {
  CHECK(to_string(version("1.20.300")) == "1.20.300");
  CHECK(version("1.10.0") > version("1.9.9"));
  CHECK(version("2.0.0") > version("1.99.99"));
  for (const char* text : {"", "1", "1.2", "1.2.3.4", "1.2.3.", "v1.2.3", "1.2.x", "01.2.3", "1..3",
                           " 1.2.3", "1.2.3 ", "-1.2.3", "1.2.4294967296"}) {
    INFO(text);
    CHECK_FALSE(parse_version(text));
  }
}

TEST_CASE("only complete, executable files with a release's name count, in order of version") {
  const TemporaryDirectory directory;
  for (const char* name : {"agent-v1.10.0", "agent-v1.9.0", "agent-v1.2", "agent-v1.2.3.tmp",
                           ".agent-v1.2.4", "agent-v01.2.3", "other-v1.2.3", "desired"}) {
    directory.write(name, "#!");
  }
  directory.write("agent-v3.0.0", "#!", 0644);
  fs::create_directory(directory / "agent-v4.0.0");
  directory.link("agent-v5.0.0", "missing");

  const Releases releases(directory.path());

  CHECK(names(releases.list()) == Texts{"1.9.0", "1.10.0"});
  CHECK(releases.path(version("1.9.0")) == directory / "agent-v1.9.0");
}

TEST_CASE("a directory that is not there holds no releases") {
  const TemporaryDirectory directory;

  CHECK(Releases(directory / "missing").list().empty());
}

TEST_CASE("desired names a version on its first line, or nothing") {
  const TemporaryDirectory directory;
  const Releases releases(directory.path());
  CHECK_FALSE(releases.desired());

  directory.write("desired", "1.2.3\n");
  CHECK(releases.desired() == version("1.2.3"));
  directory.write("desired", "1.2.4");
  CHECK(releases.desired() == version("1.2.4"));
  directory.write("desired", "the newest\n");
  CHECK_FALSE(releases.desired());
}

TEST_CASE("the newest release is due if it is newer than the present one") {
  CHECK(chosen({"1.0.0", "2.0.0", "3.0.0"}, "2.0.0") == "3.0.0");
  CHECK(chosen({"1.0.0", "2.0.0"}, "2.0.0") == "none");
  CHECK(chosen({"1.0.0"}, "2.0.0") == "none");
  CHECK(chosen({}, "2.0.0") == "none");
}

TEST_CASE("the desired release is due, older or newer, and no other") {
  CHECK(chosen({"1.0.0", "2.0.0", "3.0.0"}, "2.0.0", "1.0.0") == "1.0.0");
  CHECK(chosen({"1.0.0", "2.0.0", "3.0.0"}, "1.0.0", "2.0.0") == "2.0.0");
  CHECK(chosen({"1.0.0", "2.0.0", "3.0.0"}, "2.0.0", "2.0.0") == "none");
  CHECK(chosen({"1.0.0", "3.0.0"}, "1.0.0", "2.0.0") == "none");
}

TEST_CASE("a release that has failed is passed over") {
  CHECK(chosen({"1.0.0", "2.0.0", "3.0.0"}, "1.0.0", {}, {"3.0.0"}) == "2.0.0");
  CHECK(chosen({"1.0.0", "2.0.0", "3.0.0"}, "2.0.0", {}, {"3.0.0"}) == "none");
  CHECK(chosen({"1.0.0", "2.0.0"}, "2.0.0", "1.0.0", {"1.0.0"}) == "none");
}

TEST_CASE("a failed release is remembered by the next agent, until its file changes") {
  const TemporaryDirectory directory;
  directory.write("agent-v1.2.3", "#!bad");
  const Releases releases(directory.path());
  const auto release = releases.find(version("1.2.3"));
  REQUIRE(release);
  {
    Failures failures(directory.path());
    failures.load();
    CHECK_FALSE(failures.contains(*release));
    REQUIRE(failures.remember(*release));
    CHECK(failures.contains(*release));
  }
  Failures failures(directory.path());
  failures.load();
  CHECK(failures.contains(*releases.find(version("1.2.3"))));

  SECTION("another size") {
    directory.write("agent-v1.2.3", "#!good");
  }
  SECTION("another time") {
    fs::last_write_time(directory / "agent-v1.2.3", fs::file_time_type{});
  }
  SECTION("another inode") {
    fs::copy_file(directory / "agent-v1.2.3", directory / "new");
    fs::last_write_time(directory / "new", fs::last_write_time(directory / "agent-v1.2.3"));
    fs::rename(directory / "new", directory / "agent-v1.2.3");
  }

  CHECK_FALSE(failures.contains(*releases.find(version("1.2.3"))));
}

TEST_CASE("of a release only the last failed file is remembered") {
  const TemporaryDirectory directory;
  Failures failures(directory.path());
  Release release{.version = version("1.0.0"), .identity = {}};
  REQUIRE(failures.remember(release));
  release.identity.size = 5;
  REQUIRE(failures.remember(release));

  CHECK(content_of(directory / "failures") == "1.0.0 0 0 0 5\n");
}

TEST_CASE("a limited number of failures is remembered, the last ones") {
  const TemporaryDirectory directory;
  std::string many;
  for (std::size_t number = 0; number < failures_max; ++number) {
    many += "1.0." + std::to_string(number) + " 0 0 0 0\n";
  }
  directory.write("failures", many);
  Failures failures(directory.path());
  failures.load();
  CHECK(failures.contains({.version = version("1.0.0"), .identity = {}}));

  REQUIRE(failures.remember({.version = version("2.0.0"), .identity = {}}));

  CHECK_FALSE(failures.contains({.version = version("1.0.0"), .identity = {}}));
  CHECK(failures.contains({.version = version("1.0.1"), .identity = {}}));
  CHECK(failures.contains({.version = version("2.0.0"), .identity = {}}));
}

TEST_CASE("lines that make no sense are no failures") {
  const TemporaryDirectory directory;
  directory.write("failures", "nonsense\n1.0.0 1 2 3\n1.0.0 1 2 3 4 5\n2.0.0 0 0 0 0\n");
  Failures failures(directory.path());

  failures.load();

  CHECK(failures.contains({.version = version("2.0.0"), .identity = {}}));
  CHECK_FALSE(failures.contains({.version = version("1.0.0"), .identity = {}}));
}

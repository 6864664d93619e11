// Tests the errno values with which the class Directory refuses an operation. The class's callers
// use these values to decide what to do next.
#include "tools/agent-releases/shell/directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/support/temporary_directory.h"

namespace directory_test {

using namespace agent_releases;

TEST_CASE("the refusal of a call has the errno of this call") {
  const TemporaryDirectory place;
  place.write("file", "");
  const auto directory = Directory::open(place / "");
  REQUIRE(directory);
  REQUIRE(directory.value().link("file", "link"));

  const auto absent = directory.value().open_file("absent", O_RDONLY);
  const auto link = directory.value().open_file("link", O_RDONLY);
  const auto twice = directory.value().link("file", "link");
  const auto kept =
      directory.value().rename("file", directory.value(), "link", Directory::Existing::keep);

  REQUIRE_FALSE(absent);
  CHECK(absent.refusal().error_number == ENOENT);
  CHECK(absent.refusal().trouble == Trouble::absent);
  CHECK(absent.reason().ends_with("/absent: No such file or directory"));
  REQUIRE_FALSE(link);
  CHECK(link.refusal().error_number == ELOOP);
  CHECK(link.refusal().trouble == Trouble::system);
  REQUIRE_FALSE(twice);
  CHECK(twice.refusal().error_number == EEXIST);
  REQUIRE_FALSE(kept);
  CHECK(kept.refusal().error_number == EEXIST);
}

TEST_CASE("a refusal has the errno from before the path was put together") {
  const TemporaryDirectory place;
  const auto directory = Directory::open(place / "");
  REQUIRE(directory);

  errno = ENOSPC;
  const Refusal refusal = refusal_from_errno("write", directory.value(), "file");

  CHECK(refusal.error_number == ENOSPC);
  CHECK(refusal.reason.starts_with("cannot write " + directory.value().path_of("file") + ": "));
  CHECK(refusal.reason.find("make room") != std::string::npos);
}

TEST_CASE("a directory has the mode that it is made with, whatever the umask is") {
  const TemporaryDirectory place;
  const auto directory = Directory::open(place / "");
  REQUIRE(directory);

  const mode_t before = ::umask(0777);
  const Outcome made = directory.value().make_directory("made", 0700);
  ::umask(before);

  REQUIRE(made);
  CHECK((directory.value().status("made").value()->st_mode & 07777U) == 0700U);
}

TEST_CASE("a refusal that no system call caused has no errno") {
  CHECK(Refusal{"it is no release"}.error_number == 0);
}

}  // namespace directory_test

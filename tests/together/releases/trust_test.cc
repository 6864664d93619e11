// Tests that agent-releases uses directories and keys only if they belong to root or to the caller,
// and no other user can write to them. A refusal must say how to correct the owner or the mode.
#include <pwd.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tools/agent-releases/shell/trust.h"

namespace trust_test {

using namespace agent_releases;

namespace {

// Returns the status of a directory that belongs to `user`.
struct stat directory_of(uid_t user, mode_t mode = 0755) {
  struct stat status {};
  status.st_uid = user;
  status.st_mode = S_IFDIR | mode;
  return status;
}

// Returns a user who has a name on this machine, and is neither root nor the caller.
const passwd& stranger() {
  for (const passwd* user = ::getpwent(); user != nullptr; user = ::getpwent()) {
    if (user->pw_uid != 0 && user->pw_uid != ::geteuid()) return *user;
  }
  FAIL("this machine has no user but root and the one who runs this");
  std::abort();
}

}  // namespace

TEST_CASE("a directory of root or of the caller is trusted if nobody else may write to it") {
  CHECK(check_owner(directory_of(0), "releases"));
  CHECK(check_owner(directory_of(::geteuid()), "releases"));
  CHECK(check_owner(directory_of(::geteuid(), 0770), "releases").reason() ==
        "releases can be written by others than its owner: chmod go-w releases");
}

TEST_CASE("a directory of another user is refused, with the command that runs as that user") {
  const passwd& agent = stranger();
  const std::string name = agent.pw_name;

  CHECK(check_owner(directory_of(agent.pw_uid), "releases").reason() ==
        "releases belongs to " + name + ", who is neither root nor the caller");
  CHECK(check_caller(directory_of(agent.pw_uid), "releases").reason() ==
        "releases belongs to " + name + ", who is neither root nor the caller: run this as " +
            name + ", by runuser -u " + name + " for example");
}

TEST_CASE("a directory above belongs to root or the caller, or is sticky where anybody may write") {
  const passwd& agent = stranger();

  CHECK(check_parent(directory_of(0), "/a", "/a/b"));
  CHECK(check_parent(directory_of(::geteuid(), 0775), "/a", "/a/b"));
  CHECK(check_parent(directory_of(0, 01777), "/a", "/a/b"));
  CHECK(check_parent(directory_of(0, 0777), "/a", "/a/b").reason() ==
        "/a/b is below /a, where anybody could replace it: chmod o-w /a");
  CHECK(check_parent(directory_of(agent.pw_uid), "/a", "/a/b").reason() ==
        "/a/b is below /a, which belongs to " + std::string(agent.pw_name) +
            ", who is neither root nor the caller and could replace it");
}

TEST_CASE("a user without a name is told by number") {
  const uid_t nameless = 3'999'999'999;
  REQUIRE(::getpwuid(nameless) == nullptr);

  CHECK(check_owner(directory_of(nameless), "releases").reason() ==
        "releases belongs to user 3999999999, who is neither root nor the caller");
}

}  // namespace trust_test

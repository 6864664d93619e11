// Tests which files a machine writes when it joins a cell. Includes cases in which an earlier
// `fleet-agent join` was interrupted, or the disk is full.
#include "fleet/agent/join_place.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>

#include "fleet/common/key_fingerprint.h"
#include "fleet/common/text_file.h"

namespace join_place_test {

namespace {

using namespace fleet;
using Catch::Matchers::Contains;

class Root {
 public:
  Root() { REQUIRE(mkdtemp(name_.data()) != nullptr); }
  ~Root() { std::filesystem::remove_all(name_); }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;
  [[nodiscard]] const std::string& path() const { return name_; }
  [[nodiscard]] std::string key(const std::string& name) const {
    return content_of_file(name_ + "/etc/fleet/keys/" + name);
  }

 private:
  std::string name_ = (std::filesystem::temp_directory_path() / "join.XXXXXX").string();
};

const JoinAnswer answer{.certificate = "C", .release_keys = {{"a.pub", "A"}, {"b.pub", "B"}}};
const TokenText token{.store = {"https://192.0.2.1:2379"},
                      .release_keys = {digest_of("A"), digest_of("B")}};

TEST_CASE("a machine that was ended between two keys of releases writes the others later") {
  const Root root;
  JoinPlace place(root.path(), "n1");
  REQUIRE(place.open().empty());
  REQUIRE(replace_file(root.path() + "/etc/fleet/keys/a.pub", "A", 0644).empty());
  CHECK(place.settle(token, "CA", answer).empty());
  CHECK(root.key("b.pub") == "B");
}

TEST_CASE("a machine that has other keys of releases keeps them, and takes none") {
  const Root root;
  JoinPlace place(root.path(), "n1");
  REQUIRE(place.open().empty());
  const std::string name = GENERATE("a.pub", "own.pub");
  REQUIRE(replace_file(root.path() + "/etc/fleet/keys/" + name, "own", 0644).empty());
  CHECK(place.settle(token, "CA", answer).empty());
  CHECK(root.key(name) == "own");
  CHECK(root.key("b.pub").empty());
}

TEST_CASE("a path that cannot be read as a file has no content") {
  const Root root;
  CHECK(content_of_file(root.path()).empty());
  CHECK(content_of_file(root.path() + "/none").empty());
  CHECK_FALSE(beginning_of_file(root.path(), 10));
  CHECK_FALSE(beginning_of_file(root.path() + "/none", 10));
  CHECK(replace_file(root.path() + "/file", std::string(100'000, 'x'), 0600).empty());
  CHECK(content_of_file(root.path() + "/file").size() == 100'000);
  CHECK(beginning_of_file(root.path() + "/file", 10).value().size() == 10);
  CHECK(beginning_of_file(root.path() + "/file", 1'000'000).value().size() == 100'000);
}

TEST_CASE("a file that does not fit on the disk is not written, and the reason is the disk's") {
  const Root root;
  const std::string path = root.path() + "/file";
  REQUIRE(replace_file(path, "old", 0600).empty());
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit little = before;
  little.rlim_cur = 5;
  setrlimit(RLIMIT_FSIZE, &little);
  errno = 0;
  const std::string why = replace_file(path, "0123456789", 0600);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_DFL);
  CHECK_THAT(why, Contains("too large"));
  CHECK(content_of_file(path) == "old");
  CHECK_FALSE(std::filesystem::exists(path + ".new"));
}

}  // namespace

}  // namespace join_place_test

// Tests the link of --relink. A commit must make the link lead to the new program, and a failed
// commit must leave the link as it was.
#include "upgrader/shell/relink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <set>

#include "tests/decisions/unit/processes.h"

namespace link_test {

using namespace upgrader;

namespace {

// A directory `releases` with two programs. link() makes the link `current` in this directory.
class Releases {
 public:
  Releases() {
    std::filesystem::create_directory(directory_ / "releases");
    first_ = directory_.write("releases/agent-v1", "#!/bin/true\n");
    second_ = directory_.write("releases/agent-v2", "#!/bin/true\n");
  }

  [[nodiscard]] const TemporaryDirectory& directory() const { return directory_; }
  [[nodiscard]] std::string path() const { return directory_ / "releases"; }
  [[nodiscard]] std::string first() const { return first_; }
  [[nodiscard]] std::string second() const { return second_; }
  [[nodiscard]] std::string current() const { return path() + "/current"; }
  [[nodiscard]] std::string target() const {
    return std::filesystem::read_symlink(current()).string();
  }

  [[nodiscard]] Link link(const std::string& target) const {
    std::filesystem::create_symlink(target, current());
    return open(current());
  }

  [[nodiscard]] static Link open(const std::string& path) {
    agent_protocol::Result<Link> opened = Link::open(path);
    if (!opened) FAIL(opened.reason());
    return std::move(opened.value());
  }

  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      found.insert(entry.path().filename().string());
    }
    return found;
  }

 private:
  TemporaryDirectory directory_;
  std::string first_;
  std::string second_;
};

const BeforeSync nothing = [] {};

const std::set<std::string> usual_names{"agent-v1", "agent-v2", "current"};

int error_of_opening(const std::string& path) {
  const agent_protocol::Result<Link> opened = Link::open(path);
  const agent_protocol::Refusal* const refusal = opened ? nullptr : &opened.refusal();
  return refusal != nullptr ? refusal->error_number : 0;
}

ino_t inode_of_link(const std::string& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_ino;
}

// Makes every later fsync() of the link's directory fail. Replaces the directory's descriptor by a
// descriptor that was opened with O_PATH, since fsync() refuses such a descriptor.
void spoil_sync(const std::string& directory) {
  for (const auto& [fd, target] : descriptors_of(::getpid())) {
    if (target != directory) continue;
    const OwnedFd bare(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(::dup3(bare.get(), fd, O_CLOEXEC) == fd);
    return;
  }
  FAIL("the link holds its directory open");
}

}  // namespace

TEST_CASE("only a symbolic link is taken") {
  const Releases releases;
  const Link link = releases.link("agent-v1");

  CHECK(link.committed() == "agent-v1");
  CHECK(error_of_opening(releases.current() + "/") == EINVAL);
  CHECK(error_of_opening(releases.first()) == EINVAL);
  CHECK(error_of_opening(releases.path()) == EINVAL);
  CHECK(error_of_opening(releases.path() + "/none") == ENOENT);
  CHECK(error_of_opening(releases.path() + "/none/none") == ENOENT);
  CHECK(error_of_opening(releases.first() + "/x") == ENOTDIR);
  CHECK(error_of_opening("") == EINVAL);
}

TEST_CASE("why a link is refused is said in words") {
  const Releases releases;
  const auto reason = [](const std::string& path) { return Link::open(path).refusal().reason; };

  CHECK(reason(releases.first()) ==
        releases.first() + ": is no symbolic link, which --relink needs");
  const std::string none = releases.path() + "/none";
  CHECK(reason(none) == none + ": No such file or directory (ENOENT)");
}

TEST_CASE("a link may be in the root directory") {
  for (const auto& entry : std::filesystem::directory_iterator("/")) {
    if (!entry.is_symlink()) continue;
    CHECK(Releases::open(entry.path()).committed() == std::filesystem::read_symlink(entry.path()));
  }
}

TEST_CASE("a link that leads nowhere is one all the same") {
  const Releases releases;

  const std::string target = GENERATE(std::string("none"), std::string("x"));

  CHECK(releases.link(target).committed() == target);
}

TEST_CASE("a commit makes a relative link relative and an absolute one absolute") {
  const Releases releases;
  const bool relative = GENERATE(true, false);
  Link link = releases.link(relative ? "agent-v1" : releases.first());

  CHECK(link.commit(program_of(releases.second()), nothing) == 0);

  CHECK(releases.target() == (relative ? "agent-v2" : releases.second()));
  CHECK(link.committed() == releases.target());
  CHECK(releases.names() == usual_names);
}

TEST_CASE("a relative link finds its way to any directory") {
  const Releases releases;
  std::filesystem::create_directories(releases.directory() / "releases-old/bin");
  std::filesystem::create_directories(releases.path() + "/v3/bin");
  const std::string beside = releases.directory().write("releases-old/bin/agent", "#!/bin/true\n");
  const std::string below = releases.directory().write("releases/v3/bin/agent", "#!/bin/true\n");
  const std::string above = releases.directory().write("agent", "#!/bin/true\n");
  Link link = releases.link("agent-v1");
  const auto committed = [&](const std::string& path) {
    CHECK(link.commit(program_of(path), nothing) == 0);
    CHECK(std::filesystem::canonical(releases.current()) == path);
    return releases.target();
  };

  CHECK(committed(beside) == "../releases-old/bin/agent");
  CHECK(committed(below) == "v3/bin/agent");
  CHECK(committed(above) == "../agent");
  CHECK(committed(std::filesystem::canonical("/bin/true").string()).starts_with("../"));
}

TEST_CASE("links in the way to the link or to the program are seen through") {
  const Releases releases;
  const std::string detour = releases.directory().link("detour", "releases");
  static_cast<void>(releases.link("agent-v1"));
  Link link = Releases::open(detour + "/current");

  CHECK(link.commit(program_of(detour + "/agent-v2"), nothing) == 0);

  CHECK(releases.target() == "agent-v2");
}

TEST_CASE("a link without a slash is in the present directory") {
  const Releases releases;
  static_cast<void>(releases.link("agent-v1"));
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(releases.path());
  Link link = Releases::open("current");
  std::filesystem::current_path(before);

  CHECK(link.commit(program_of(releases.second()), nothing) == 0);

  CHECK(releases.target() == "agent-v2");
}

TEST_CASE("a directory that AGENT's path no longer leads to is left alone") {
  const Releases releases;
  Link link = releases.link("../releases/agent-v1");
  const std::string away = releases.directory() / "away";
  std::filesystem::create_directory(away);
  std::filesystem::rename(releases.path(), away + "/moved");
  const std::string outside = releases.directory().write("outside", "#!/bin/true\n");

  CHECK(link.prove(program_of(outside), nothing) == ENOENT);
  CHECK(link.commit(program_of(outside), nothing) == ENOENT);
  std::filesystem::create_directory(releases.path());
  CHECK(link.prove(program_of(outside), nothing) == ESTALE);
  CHECK(link.commit(program_of(outside), nothing) == ESTALE);

  CHECK(std::filesystem::read_symlink(away + "/moved/current") == "../releases/agent-v1");
}

TEST_CASE("the proof replaces the link by one that names the same") {
  const Releases releases;
  const Link link = releases.link("agent-v1");
  const OwnedFd held(::open(releases.current().c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  const ino_t before = inode_of_link(releases.current());

  CHECK(link.prove(program_of(releases.second()), nothing) == 0);

  CHECK(inode_of_link(releases.current()) != before);
  CHECK(releases.target() == "agent-v1");
  CHECK(releases.names() == usual_names);
}

TEST_CASE("the proof keeps what somebody else has made of the link meanwhile") {
  const Releases releases;
  const Link link = releases.link("agent-v1");
  std::filesystem::remove(releases.current());
  std::filesystem::create_symlink("agent-v2", releases.current());

  CHECK(link.prove(program_of(releases.second()), nothing) == 0);

  CHECK(releases.target() == "agent-v2");
  CHECK(link.committed() == "agent-v1");
}

TEST_CASE("the proof fails where the program's path names another file by now") {
  const Releases releases;
  const Link link = releases.link("agent-v1");
  const Program second = program_of(releases.second());
  std::filesystem::rename(releases.directory().write("new", "#!/bin/true\n"), releases.second());

  CHECK(link.prove(second, nothing) == ESTALE);
  std::filesystem::remove(releases.second());
  CHECK(link.prove(second, nothing) == ENOENT);

  CHECK(releases.names() == std::set<std::string>{"agent-v1", "current"});
}

TEST_CASE("if the link may not be replaced, the proof fails, and so does the commit") {
  const Releases releases;
  Link link = releases.link("agent-v1");
  const Program second = program_of(releases.second());
  const bool sticky = GENERATE(true, false);
  const bool root = ::geteuid() == 0;
  // The rest of this test needs root: the link must belong to root, and a different user tries to
  // replace it. Without root, the link would belong to that user, who may replace it in every
  // writable directory.
  if (!root) return;
  REQUIRE(::chmod(releases.directory().path().c_str(), 0755) == 0);
  REQUIRE(::chmod(releases.path().c_str(), sticky ? 01777 : 0755) == 0);

  REQUIRE(::seteuid(65534) == 0);
  const int proof = link.prove(second, nothing);
  const int commit = link.commit(second, nothing);
  REQUIRE(::seteuid(0) == 0);

  CHECK(proof == (sticky ? EPERM : EACCES));
  CHECK(commit == (sticky ? EPERM : EACCES));
  CHECK(releases.target() == "agent-v1");
  CHECK(link.committed() == "agent-v1");
  CHECK(releases.names() == usual_names);
}

TEST_CASE("a program whose path names another file by now is not committed") {
  const Releases releases;
  Link link = releases.link("agent-v1");
  const Program second = program_of(releases.second());
  std::filesystem::rename(releases.directory().write("new", "#!/bin/true\n"), releases.second());

  CHECK(link.commit(second, nothing) == ESTALE);
  std::filesystem::remove(releases.second());
  CHECK(link.commit(second, nothing) == ENOENT);

  CHECK(releases.target() == "agent-v1");
  CHECK(link.committed() == "agent-v1");
}

TEST_CASE("a sync that fails after the rename puts the link back") {
  const Releases releases;
  Link link = releases.link("agent-v1");
  const Program second = program_of(releases.second());
  spoil_sync(releases.path());
  const OwnedFd held(::open(releases.current().c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  const ino_t before = inode_of_link(releases.current());

  CHECK(link.commit(second, nothing) == EBADF);

  CHECK(inode_of_link(releases.current()) != before);
  CHECK(releases.target() == "agent-v1");
  CHECK(link.committed() == "agent-v1");
  CHECK(releases.names() == usual_names);
}

TEST_CASE("a link that is no longer there, or no link, is not replaced") {
  const Releases releases;
  Link link = releases.link("agent-v1");
  const Program second = program_of(releases.second());
  std::filesystem::remove(releases.current());

  CHECK(link.prove(second, nothing) == ENOENT);
  CHECK(link.commit(second, nothing) == ENOENT);
  releases.directory().write("releases/current", "precious");
  CHECK(link.prove(second, nothing) == EINVAL);
  CHECK(link.commit(second, nothing) == EINVAL);
  CHECK(link.restore(nothing) == EINVAL);

  CHECK(content_of(releases.current()) == "precious");
}

TEST_CASE("a prepared link that a killed upgrader has left is replaced") {
  const Releases releases;
  Link link = releases.link("agent-v1");
  std::filesystem::create_symlink("nonsense", releases.path() + "/.current.upgrader");

  CHECK(link.commit(program_of(releases.second()), nothing) == 0);

  CHECK(releases.target() == "agent-v2");
  CHECK(releases.names() == usual_names);
}

TEST_CASE("somebody's file with the temporary's name is not touched") {
  const Releases releases;
  Link link = releases.link("agent-v1");
  const std::string path = releases.directory().write("releases/.current.upgrader", "precious");

  CHECK(link.prove(program_of(releases.second()), nothing) == EEXIST);
  CHECK(link.commit(program_of(releases.second()), nothing) == EEXIST);

  CHECK(content_of(path) == "precious");
  CHECK(releases.target() == "agent-v1");
}

TEST_CASE("a link with the longest name there is can be committed") {
  const Releases releases;
  const std::string path = releases.path() + "/" + std::string(255, 'n');
  std::filesystem::create_symlink("agent-v1", path);
  Link link = Releases::open(path);

  CHECK(link.prove(program_of(releases.second()), nothing) == 0);
  CHECK(link.commit(program_of(releases.second()), nothing) == 0);

  CHECK(std::filesystem::read_symlink(path) == "agent-v2");
}

TEST_CASE("a link in a directory that has been exchanged is not put back, and that is told") {
  const Releases releases;
  Link link = releases.link("agent-v1");
  std::filesystem::rename(releases.path(), releases.path() + "-before");
  std::filesystem::create_directory(releases.path());
  std::filesystem::create_symlink("agent-v2", releases.current());

  CHECK(link.restore(nothing) == ESTALE);
  CHECK(releases.target() == "agent-v2");
}

TEST_CASE("restoring puts back what was committed last, or was there at the start") {
  const Releases releases;
  Link link = releases.link("agent-v1");
  const ino_t before = inode_of_link(releases.current());
  CHECK(link.restore(nothing) == 0);
  CHECK(inode_of_link(releases.current()) == before);

  std::filesystem::remove(releases.current());
  CHECK(link.restore(nothing) == 0);
  CHECK(releases.target() == "agent-v1");

  REQUIRE(link.commit(program_of(releases.second()), nothing) == 0);
  std::filesystem::remove(releases.current());
  std::filesystem::create_symlink("agent-v3", releases.current());
  CHECK(link.restore(nothing) == 0);
  CHECK(releases.target() == "agent-v2");
  CHECK(releases.names() == usual_names);
}

TEST_CASE("a program that may not be read is committed too") {
  const Releases releases;
  Link link = releases.link("agent-v1");
  REQUIRE(::chmod(releases.directory().path().c_str(), 0755) == 0);
  REQUIRE(::chmod(releases.second().c_str(), 0111) == 0);
  const bool root = ::geteuid() == 0;
  if (root) REQUIRE(::seteuid(65534) == 0);
  const Program second = program_of(releases.second());
  if (root) REQUIRE(::seteuid(0) == 0);
  REQUIRE(second.kind == ExecutableKind::unreadable);

  CHECK(link.prove(second, nothing) == 0);
  CHECK(link.commit(second, nothing) == 0);

  CHECK(releases.target() == "agent-v2");
}

}  // namespace link_test

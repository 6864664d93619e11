// Tests --previous and --attempts while system calls fail, which is rare in reality. A commit that
// fails must leave AGENT's link and the link of --previous unchanged. If an agent's start cannot be
// counted, this failure must be logged.
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "base/lock.h"
#include "tests/decisions/unit/blocked_sigchld.h"
#include "tests/decisions/unit/failing_calls.h"
#include "tests/decisions/unit/processes.h"
#include "tests/decisions/unit/releases.h"
#include "tests/decisions/unit/run_outcome.h"
#include "upgrader/shell/attempts_file.h"
#include "upgrader/shell/init_system.h"
#include "upgrader/shell/loop.h"
#include "upgrader/shell/relink.h"

namespace failing_way_back_test {

using namespace upgrader;

TEST_CASE("a link of --previous that cannot be read is refused") {
  const Releases releases("two");
  const Failing failing(Call::readlinkat, EIO, 1);

  const auto opened = Link::open(releases.path, releases.previous);

  REQUIRE_FALSE(opened);
  CHECK(opened.refusal().error_number == EIO);
  CHECK(failing.fired());
}

TEST_CASE("a link of --previous on FAT, where there are none, is refused") {
  const Releases releases("two");
  file_system_told = 0x4d44;

  const auto opened = Link::open(releases.path, releases.previous);
  file_system_told.reset();

  REQUIRE_FALSE(opened);
  CHECK(opened.reason() ==
        "--previous=" + releases.previous + ": is on FAT, which has no symbolic links");
  CHECK(opened.refusal().error_number == EPERM);
}

TEST_CASE("if the directory of --previous cannot be written, the link says why") {
  const Releases releases("one");
  const Link link = releases.link_with_previous();
  {
    const Failing failing(Call::faccessat2, EROFS);
    CHECK(link.previous_stays() == EROFS);
    CHECK(failing.fired());
  }
  CHECK(link.previous_stays() == 0);
}

TEST_CASE("a commit that fails behind the link of --previous leaves that as it was, too") {
  const std::string before = GENERATE("", "two");
  const Releases releases(before);
  Link link = releases.link_with_previous();
  // Each row has a system call that fails in commit(), and the number of times that this call
  // succeeds before it fails. commit() makes its system calls in this order: it makes the new link
  // of --previous and syncs that link's directory; inspects the directory of AGENT's link, and the
  // executable; makes AGENT's new link; syncs the directory of AGENT's link.
  const auto [call, after] = GENERATE(table<Call, int>({{Call::symlinkat, 0},
                                                        {Call::fsync, 0},
                                                        {Call::fstat, 0},
                                                        {Call::stat, 0},
                                                        {Call::symlinkat, 1},
                                                        {Call::fsync, 1}}));
  const Program two = program_of(releases.two);
  {
    const Failing failing(call, EIO, after);
    CHECK(link.commit(two, nothing) == EIO);
    CHECK(failing.fired());
  }

  CHECK(Releases::target_of(releases.path) == "one");
  CHECK(Releases::target_of(releases.previous) == before);
  CHECK(link.commit(two, nothing) == 0);
  CHECK(Releases::target_of(releases.path) == "two");
  CHECK(Releases::target_of(releases.previous) == "one");
}

TEST_CASE("what was committed before is named as it was, where nothing says where it leads") {
  const Releases releases;
  Link link = releases.link_with_previous();
  const Program two = program_of(releases.two);
  // commit() first calls realpath() for the program that AGENT's link named, and then for the
  // directory of the link of --previous. `after` says how many of these two calls succeed before
  // one fails.
  const int after = GENERATE(0, 1);
  const Failing failing(Call::realpath, EACCES, after);

  CHECK(link.commit(two, nothing) == 0);

  CHECK(failing.fired());
  CHECK(Releases::target_of(releases.previous) == (after == 0 ? "one" : releases.one));
}

TEST_CASE("the link of --previous names the program, not the way to it through other links") {
  const Releases releases;
  releases.directory.link("newest", "one");
  const std::string by_name = releases.directory.link("by-name", "newest");
  Link link = std::move(Link::open(by_name, releases.previous).value());

  CHECK(link.commit(program_of(releases.two), nothing) == 0);

  CHECK(Releases::target_of(releases.previous) == "one");
}

TEST_CASE("an absolute link makes that of --previous absolute, and the same path moves it not") {
  const Releases releases;
  const std::string absolute = releases.directory.link("absolute", releases.one);
  Link link = std::move(Link::open(absolute, releases.previous).value());

  CHECK(link.commit(program_of(releases.one), nothing) == 0);
  CHECK(Releases::target_of(releases.previous) == "");
  CHECK(link.commit(program_of(releases.two), nothing) == 0);
  CHECK(Releases::target_of(releases.previous) == releases.one);
}

TEST_CASE("a link in the root directory leads to what is below that") {
  Entry link;
  REQUIRE(link.open("/no-such-link") == 0);

  CHECK(link.directory.way_to("/opt/agent") == "opt/agent");
}

TEST_CASE("if the path of a link's directory cannot be resolved, the link is made absolute") {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "here");
  Entry link;
  REQUIRE(link.open(directory / "here/link") == 0);
  CHECK(link.directory.way_to(directory / "one") == "../one");

  std::filesystem::remove(directory / "here");

  CHECK(link.directory.way_to(directory / "one") == directory / "one");
}

TEST_CASE("a directory whose path leads to another file system by now has been moved") {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "releases");
  const std::string path = directory.link("way", "releases");
  Entry link;
  REQUIRE(link.open(path + "/current") == 0);
  CHECK(link.directory.moved() == 0);

  std::filesystem::remove(path);
  directory.link("way", "/proc");

  CHECK(link.directory.moved() == ESTALE);
}

TEST_CASE("a path that leads to another file system by now does not name the program") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("agent", "#!/bin/true\n");
  const Program program = program_of(path);
  std::filesystem::remove(path);
  directory.link("agent", "/proc/version");

  CHECK(program.path_changed() == ESTALE);
}

TEST_CASE("a start that cannot be counted is told, and is no reason not to start") {
  const Releases releases;
  Options options;
  options.agent = releases.directory.link("agent", "/bin/false");
  options.relink = true;
  options.previous = releases.previous;
  options.attempts = 3;
  const auto call = GENERATE(Call::open, Call::openat);
  // Makes the counting of the agent's start fail, at one of two calls:
  // * The sixth open(), of the directory of the file of --attempts. The five before it open the
  //   directories of both links, the program (twice), and the program's loader.
  // * The third openat(), which would write the file of --attempts. The two before it read this
  //   file.
  const Failing failing(call, EMFILE, call == Call::open ? 5 : 2);

  const RunOutcome outcome = outcome_of_running(options);

  CHECK(failing.fired());
  CHECK(outcome.status == 1);
  CHECK(outcome.told.find("cannot count this start in " + releases.previous +
                          ".attempts: Too many open files (EMFILE)") != std::string::npos);
}

TEST_CASE("attempts are counted in one file, and in a new one if that cannot be written") {
  const TemporaryDirectory directory;
  AttemptsFile file;
  REQUIRE(file.open(directory / "previous") == 0);
  const auto inode = [&] {
    struct stat status {};
    REQUIRE(::lstat((directory / "previous.attempts").c_str(), &status) == 0);
    return status.st_ino;
  };
  REQUIRE(file.write({1, "/opt/agent", ""}) == 0);
  const ino_t first = inode();
  for (const int count : {2, 3, 4, 5})
    CHECK(file.write({count, "/opt/agent", ""}, count == 3) == 0);
  CHECK(inode() == first);
  CHECK(file.read() == Attempts{5, "/opt/agent", ""});
  {
    // AttemptsFile::write() opens the file twice: first to read it, and then to write it. Here,
    // either the second open or the write fails.
    const auto [call, after] = GENERATE(table<Call, int>({{Call::openat, 1}, {Call::write, 0}}));
    const Failing failing(call, EACCES, after);
    CHECK(file.write({6, "/opt/agent", ""}) == 0);
    CHECK(failing.fired());
  }
  CHECK(inode() != first);
  CHECK(file.read() == Attempts{6, "/opt/agent", ""});
}

TEST_CASE("a file of attempts without records, as older upgraders wrote it, counts as no starts") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("previous.attempts", "2 /opt/agent\nexited with 3\n");
  AttemptsFile file;
  REQUIRE(file.open(directory / "previous") == 0);
  CHECK(file.read() == Attempts{});

  CHECK(file.write({1, "/opt/agent", ""}) == 0);

  CHECK(file.read() == Attempts{1, "/opt/agent", ""});
  CHECK(std::filesystem::file_size(path) == 512);
}

TEST_CASE("a link in place of the file of attempts is not followed") {
  const TemporaryDirectory directory;
  const std::string other = directory.write("other", "");
  directory.link("previous.attempts", "other");
  AttemptsFile file;
  REQUIRE(file.open(directory / "previous") == 0);

  CHECK(file.write({1, "/opt/agent", ""}) == 0);

  CHECK(std::filesystem::file_size(other) == 0);
  CHECK(file.read() == Attempts{1, "/opt/agent", ""});
}

TEST_CASE("AGENT that is gone ends the upgrader with --relink as without") {
  Options options;
  options.agent = "/no-such-agent";
  options.relink = true;

  CHECK(outcome_of_running(options).status == 127);
}

TEST_CASE("AGENT that is gone is no reason not to wait for the lock, where there is a way back") {
  const Releases releases("one");
  Options options;
  options.agent = releases.directory.link("agent", "none");
  options.relink = true;
  options.previous = releases.previous;
  options.lock_file = releases.directory / "lock";
  options.lock_timeout = Duration(1);
  Lock holder(*options.lock_file, 91);
  REQUIRE(holder.try_lock() == 0);
  Lock lock(*options.lock_file, 90);

  const RunOutcome outcome = outcome_of_running(options, LogLevel::error, &lock);

  CHECK(outcome.status == 125);
  CHECK(outcome.told.find("cannot lock ") != std::string::npos);
}

}  // namespace failing_way_back_test

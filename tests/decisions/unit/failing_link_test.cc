// Tests the link of --relink and the lock of --lock while system calls fail, which is rare in
// reality. Each failure must be returned as an errno, and the link must stay as it was.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <functional>
#include <optional>

#include "base/lock.h"
#include "tests/decisions/unit/failing_calls.h"
#include "tests/decisions/unit/processes.h"
#include "tests/decisions/unit/releases.h"
#include "upgrader/shell/relink.h"

namespace failing_link_test {

using namespace upgrader;

namespace {

constexpr int lock_number = 90;

void leave_a_temporary(const Releases& releases) {
  releases.directory.link(".current.upgrader", "left");
}

bool is_tidy(const Releases& releases) {
  return !std::filesystem::is_symlink(releases.directory / ".current.upgrader");
}

int error_of_opening(const std::string& path) {
  const auto opened = Link::open(path);
  const auto* refusal = opened ? nullptr : &opened.refusal();
  return refusal != nullptr ? refusal->error_number : 0;
}

}  // namespace

TEST_CASE("a link whose directory cannot be opened is refused") {
  const Releases releases;
  const Failing failing(Call::open, EACCES);

  CHECK(error_of_opening(releases.path) == EACCES);
}

TEST_CASE("a link is found in the present directory too, also where that has no name") {
  const Releases releases;
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(releases.directory.path());
  {
    const Failing failing(Call::getcwd, ENOENT);
    CHECK(error_of_opening("current") == 0);
    CHECK(failing.fired());
  }
  std::filesystem::current_path(before);
  CHECK(error_of_opening("/no-such-link") == ENOENT);
}

TEST_CASE("a proof that cannot be had fails, and changes nothing") {
  const Releases releases;
  const Link link = releases.link();
  const Program two = program_of(releases.two);
  // Each row has a system call that fails in prove(), and the number of times that this call
  // succeeds before it fails. prove() makes its system calls in this order: it inspects the link's
  // directory, the executable and the link; makes the new link; inspects the executable's
  // directory; syncs the executable and the executable's directory.
  const auto [call, after] = GENERATE(table<Call, int>({{Call::fstat, 0},
                                                        {Call::stat, 0},
                                                        {Call::readlinkat, 0},
                                                        {Call::stat, 1},
                                                        {Call::symlinkat, 0},
                                                        {Call::stat, 2},
                                                        {Call::fsync, 0},
                                                        {Call::open, 0},
                                                        {Call::fsync, 1}}));
  {
    const Failing failing(call, EIO, after);
    CHECK(link.prove(two, nothing) == EIO);
    CHECK(failing.fired());
  }

  CHECK(releases.target() == "one");
  CHECK(link.prove(two, nothing) == 0);
  CHECK(releases.target() == "one");
  CHECK(is_tidy(releases));
}

TEST_CASE("a commit that cannot be made durable, or cannot be judged, fails and changes nothing") {
  Releases releases;
  Link link = releases.link();
  const Program two = program_of(releases.two);
  // Each row has a system call that fails in commit(), and the number of times that this call
  // succeeds before it fails. commit() makes its system calls in this order: it inspects the link's
  // directory and the executable; makes the new link and checks where it leads; syncs the link's
  // directory.
  const auto [call, after] = GENERATE(table<Call, int>({{Call::fstat, 0},
                                                        {Call::stat, 0},
                                                        {Call::stat, 1},
                                                        {Call::symlinkat, 0},
                                                        {Call::fstat, 1},
                                                        {Call::fsync, 0}}));
  {
    const Failing failing(call, EIO, after);
    CHECK(link.commit(two, nothing) == EIO);
    CHECK(failing.fired());
  }

  CHECK(releases.target() == "one");
  CHECK(link.commit(two, nothing) == 0);
  CHECK(releases.target() == "two");
  CHECK(is_tidy(releases));
}

TEST_CASE("a file system that syncs as a whole is synced as a whole") {
  const Releases releases;
  const Link link = releases.link();
  const Program two = program_of(releases.two);
  {
    const Failing failing(Call::fsync, EINVAL);
    CHECK(link.prove(two, nothing) == 0);
    CHECK(failing.fired());
  }
  const Failing failing(Call::fsync, EINVAL);
  const Failing whole(Call::syncfs, EIO);
  CHECK(link.prove(two, nothing) == EIO);
}

TEST_CASE("a directory that may not be read is synced with its whole file system, and no other") {
  const Releases releases;
  const Link link = releases.link();
  const Program two = program_of(releases.two);
  const int error = GENERATE(0, EIO);
  const Failing unreadable(Call::open, EACCES);
  const Failing all(Call::sync, 0);
  std::optional<Failing> whole;
  if (error != 0) whole.emplace(Call::syncfs, error);

  CHECK(link.prove(two, nothing) == error);

  CHECK(unreadable.fired());
  CHECK_FALSE(all.fired());
  CHECK((error == 0 || whole->fired()));
}

TEST_CASE("a program that may not be read is synced by a directory of its file system that may") {
  const Releases releases;
  const Link link = releases.link();
  std::optional<Failing> unreadable(std::in_place, Call::open, EACCES, 1);
  const Program two = program_of(releases.two);
  REQUIRE(two.kind == ExecutableKind::unreadable);
  unreadable.reset();
  {
    const Failing whole(Call::syncfs, EIO);
    CHECK(link.prove(two, nothing) == EIO);
  }
  {
    const Failing own_directory(Call::open, EACCES);
    const Failing files(Call::fsync, EIO);
    const Failing all(Call::sync, 0);
    CHECK(link.prove(two, nothing) == 0);
    CHECK(own_directory.fired());
    CHECK_FALSE(files.fired());
    CHECK_FALSE(all.fired());
  }
  {
    const Failing broken(Call::open, EIO);
    CHECK(link.prove(two, nothing) == EIO);
  }
  const Failing none(Call::open, EACCES, 0, 1'000);
  CHECK(link.prove(two, nothing) == EACCES);
}

TEST_CASE("the proof syncs the program and its way from the root, the commit the link alone") {
  Releases releases;
  Link link = releases.link();
  const Program two = program_of(releases.two);
  std::filesystem::path way = two.path;
  struct stat own {};
  REQUIRE(::stat(releases.directory.path().c_str(), &own) == 0);
  int expected = 1;
  for (struct stat status{}; way != "/"; ++expected) {
    way = way.parent_path();
    REQUIRE(::stat(way.c_str(), &status) == 0);
    if (status.st_dev != own.st_dev) break;
  }
  const auto syncs_of = [](const std::function<int()>& deed) {
    int syncs = 0;
    for (bool all = false; !all; ++syncs) {
      const Failing failing(Call::fsync, EIO, syncs);
      all = deed() == 0;
      CHECK(failing.fired() != all);
    }
    return syncs - 1;
  };

  CHECK(syncs_of([&] { return link.prove(two, nothing); }) == expected);
  CHECK(syncs_of([&] { return link.commit(two, nothing); }) == 1);
}

TEST_CASE("before each sync whoever wants to know is told") {
  Releases releases;
  Link link = releases.link();
  const Program two = program_of(releases.two);
  int told = 0;
  int synced = 0;
  at_fsync = [&] { CHECK(told == ++synced); };
  const BeforeSync tell = [&] { ++told; };

  CHECK(link.prove(two, tell) == 0);
  CHECK(told >= 2);
  CHECK(link.commit(two, tell) == 0);
  std::filesystem::remove(releases.path);
  CHECK(link.restore(tell) == 0);
  at_fsync = nullptr;

  CHECK(told == synced);
  told = 0;
  const Failing as_a_whole(Call::fsync, EINVAL);
  CHECK(link.commit(two, tell) == 0);
  CHECK(told == 2);
}

TEST_CASE("a temporary that cannot be taken away is told, and nothing is committed") {
  Releases releases;
  Link link = releases.link();
  leave_a_temporary(releases);
  const Failing failing(Call::unlinkat, EPERM);

  CHECK(link.commit(program_of(releases.two), nothing) == EPERM);

  CHECK(releases.target() == "one");
}

TEST_CASE("a link that cannot be put back is told") {
  Releases releases;
  const Link link = releases.link();
  std::filesystem::remove(releases.path);
  releases.directory.link("current", "two");
  {
    const Failing failing(Call::symlinkat, ENOSPC);
    CHECK(link.restore(nothing) == ENOSPC);
  }
  {
    const Failing failing(Call::readlinkat, EIO);
    CHECK(link.restore(nothing) == EIO);
  }

  {
    const Failing failing(Call::fsync, EIO);
    CHECK(link.restore(nothing) == EIO);
  }

  CHECK(link.restore(nothing) == 0);
  CHECK(releases.target() == "one");
}

TEST_CASE("a lock whose file cannot be looked at, read, or put at its number, is not taken") {
  const TemporaryDirectory directory;
  const auto [call, error] = GENERATE(table<Call, int>({{Call::fstat, EIO},
                                                        {Call::dup3, EBUSY},
                                                        {Call::flock, ENOLCK},
                                                        {Call::open, EMFILE},
                                                        {Call::pread, EIO}}));
  Lock lock(directory / "lock", lock_number);
  {
    // The first fstat() inspects the file that only reserves the lock's descriptor number. The
    // second fstat() inspects the lock's own file. If `call` is fstat(), the first fstat()
    // succeeds, and the second fails.
    const Failing failing(call, error, call == Call::fstat ? 1 : 0);
    CHECK(lock.try_lock() == error);
    CHECK(failing.fired());
  }
  CHECK(lock.try_lock() == 0);
}

TEST_CASE("a lock for which no place could be kept is taken all the same") {
  const TemporaryDirectory directory;
  const int lowest = ::dup(0);
  ::close(lowest);
  const int number = GENERATE_COPY(lowest, lock_number);
  const Failing failing(Call::fcntl, EMFILE);
  Lock lock(directory / "lock", number);

  CHECK(failing.fired());
  CHECK(lock.try_lock() == 0);
  CHECK(lock.holder_in_words().ends_with(" holds it"));
}

TEST_CASE("an interrupted attempt at a lock, or look at its file, is made again") {
  const TemporaryDirectory directory;
  Lock lock(directory / "lock", lock_number);
  const Failing failing(GENERATE(Call::flock, Call::pread), EINTR);

  CHECK(lock.try_lock() == 0);
  CHECK(failing.fired());
}

TEST_CASE("a lock is opened for writing where the file system locks nothing else") {
  const TemporaryDirectory directory;
  Lock lock(directory / "lock", lock_number);
  {
    const Failing failing(Call::flock, EBADF);
    CHECK(lock.try_lock() == 0);
    CHECK(failing.fired());
  }
  CHECK((::fcntl(lock_number, F_GETFL) & O_ACCMODE) == O_RDWR);
  const Failing always(Call::flock, EBADF, 0, 1'000);
  CHECK(Lock(directory / "other", lock_number + 1).try_lock() == EBADF);
}

TEST_CASE("a lock whose file is replaced again and again is not taken, nor tried for ever") {
  const TemporaryDirectory directory;
  Lock lock(directory / "lock", lock_number);
  const Failing failing(Call::fstatat, ENOENT, 0, 1'000);

  CHECK(lock.try_lock() == EWOULDBLOCK);
}

TEST_CASE("a file that cannot be emptied stays what the next one takes for a lock's") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("lock", "4194304 99999999999999999999\n", 0600);
  Lock lock(path, lock_number);
  const Failing failing(Call::ftruncate, EIO, 0, 2);

  CHECK(lock.try_lock() == 0);
  lock.write_holder();

  CHECK(failing.fired());
  CHECK(content_of(path) == "4194304 99999999999999999999\n");
}

TEST_CASE("a holder without a start time is judged by whether its process is there") {
  const TemporaryDirectory directory;
  const auto holder_in = [&](const std::string& content) {
    const std::string path = directory.write("lock", content);
    Lock lock(path, lock_number);
    const int other = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(::flock(other, LOCK_EX | LOCK_NB) == 0);
    CHECK(lock.try_lock() == EWOULDBLOCK);
    ::close(other);
    return lock.holder_in_words();
  };

  const std::string own = std::to_string(::getpid());
  CHECK(holder_in(own + " 0\n") == process_in_words(::getpid()) + " holds it");
  {
    const Failing others(Call::kill, EPERM);
    CHECK(holder_in("1 0\n") == process_in_words(1) + " holds it");
    CHECK(others.fired());
  }
  CHECK(holder_in("999999999 0\n").find("is gone") != std::string::npos);
}

TEST_CASE("if nothing is known of processes, no holder is said to be gone") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("lock", "1 5\n");
  const OwnedFd other(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(::flock(other.get(), LOCK_EX | LOCK_NB) == 0);
  Lock lock(path, lock_number);
  REQUIRE(lock.try_lock() == EWOULDBLOCK);
  // The first pread() reads the lock's file, and succeeds. The second and the third pread() are for
  // the start times of the holder and of this process in /proc. Both fail.
  const Failing of_holder(Call::pread, EIO, 1);
  const Failing of_us(Call::pread, EIO, 1);
  const Failing of_any(Call::opendir, ENOENT);

  CHECK(lock.holder_in_words() == "process 1 or an agent of it holds it");

  CHECK(of_holder.fired());
  CHECK(of_us.fired());
  CHECK(of_any.fired());
}

TEST_CASE("a process of which nothing can be read is neither named nor said to hold a lock") {
  const TemporaryDirectory directory;
  Lock lock(directory / "lock", lock_number);
  REQUIRE(lock.try_lock() == 0);
  {
    const Failing unnamed(Call::open, EMFILE);
    CHECK(process_in_words(::getpid()) == "process " + std::to_string(::getpid()));
  }
  {
    const Failing untold(Call::pread, EIO, 0, 1'000'000);
    CHECK(lock_holders(lock_number).empty());
  }
  {
    const Failing unseen(Call::stat, EACCES, 0, 1'000'000);
    CHECK(lock_holders(lock_number).empty());
  }
  CHECK(lock_holders(lock_number) == std::vector<pid_t>{::getpid()});
}

TEST_CASE("a start time is taken only from a line that has one") {
  CHECK_FALSE(start_time_in_stat("1 (a)S 1"));
  CHECK_FALSE(start_time_in_stat("1 (a) X 1"));
  CHECK_FALSE(start_time_in_stat("1 (a) S 1 2"));
}

TEST_CASE("a link whose directory has been moved is made to lead to the program all the same") {
  Releases releases;
  const TemporaryDirectory elsewhere;
  const bool is_resolved = GENERATE(true, false);
  // After the link's directory has been moved, the relative target `../two` is a different path.
  // `to_another` is true if a different program lies at this path, and false if no file does.
  const bool to_another = GENERATE(false, true);
  if (to_another) elsewhere.write("two", "#!/bin/true\n");
  const std::string agents = releases.directory / "agents";
  std::filesystem::create_directory(agents);
  std::filesystem::create_symlink("../one", agents + "/current");
  Link link = std::move(Link::open(agents + "/current").value());
  std::filesystem::rename(agents, elsewhere / "agents");
  std::filesystem::create_symlink(elsewhere / "agents", agents);
  const Program two = program_of(releases.two);
  std::optional<Failing> failing;
  if (!is_resolved) failing.emplace(Call::realpath, EACCES);

  CHECK(link.commit(two, nothing) == 0);

  CHECK(std::filesystem::equivalent(agents + "/current", releases.two));
  CHECK(std::filesystem::read_symlink(agents + "/current").is_absolute() != is_resolved);
}

TEST_CASE("if a relative link does not lead to the program, an absolute one is made") {
  Releases releases;
  Link link = releases.link();
  const Failing relative(Call::fstatat, ENOENT);

  CHECK(link.commit(program_of(releases.two), nothing) == 0);

  CHECK(relative.fired());
  CHECK(releases.target() == releases.two);
}

TEST_CASE("a link that cannot be made to lead to the program is left as it was") {
  Releases releases;
  Link link = releases.link();
  const Failing relative(Call::fstatat, ENOENT);
  const Failing absolute(Call::fstatat, ENOENT);

  CHECK(link.commit(program_of(releases.two), nothing) == ESTALE);

  CHECK(releases.target() == "one");
  CHECK(is_tidy(releases));
}

TEST_CASE("a holder that cannot be written leaves nothing of an earlier one") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("lock", "1 2\n", 0600);
  Lock lock(path, lock_number);
  const Failing failing(Call::pwrite, ENOSPC);

  CHECK(lock.try_lock() == 0);
  lock.write_holder();

  CHECK(failing.fired());
  CHECK(content_of(path).empty());
}

}  // namespace failing_link_test

// Tests the lock of --lock: which process holds the lock, and which process the lock file names as
// the holder. If an upgrader has died, its agents must still hold the lock.
#include "base/lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>

#include "tests/decisions/unit/processes.h"

namespace lock_test {

using namespace upgrader;

namespace {

constexpr int number = 90;
constexpr int other_number = 91;

std::string own_line() {
  return std::to_string(::getpid()) + " " + std::to_string(process_start_time(::getpid()).value()) +
         "\n";
}

// Returns the words that describe this process as the holder of a lock, such as "process 4711
// (lock_test)". The kernel truncates the name after 15 bytes.
std::string we() {
  std::string name = content_of("/proc/self/comm");
  name.pop_back();
  return "process " + std::to_string(::getpid()) + " (" + name + ")";
}

ino_t inode_at(int fd) {
  struct stat status {};
  REQUIRE(::fstat(fd, &status) == 0);
  return status.st_ino;
}

ino_t inode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_ino;
}

// A child process that runs a function. The destructor tells the child to exit, if it still runs,
// and reaps it.
class Background {
 public:
  template <class Deed>
  explicit Background(Deed deed) {
    REQUIRE(::pipe2(ends_, O_CLOEXEC) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      ::close(ends_[1]);
      deed(ends_[0]);
      ::_exit(0);
    }
    ::close(ends_[0]);
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() {
    release();
    ::waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  void release() { ends_[1] = (::close(ends_[1]), -1); }

 private:
  int ends_[2];
  pid_t pid_ = -1;
};

void wait_for_end_of(int fd) {
  char byte;
  while (::read(fd, &byte, 1) > 0) {
  }
}

template <class Condition>
bool comes_true(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience_ms);
  while (std::chrono::steady_clock::now() < deadline) {
    if (condition()) return true;
    ::poll(nullptr, 0, 1);
  }
  return false;
}

// Locks the file. If that succeeds, immediately writes the holder (this process's pid and start
// time) into the file. The upgrader writes the holder only after it has started an agent.
int take(Lock& lock) {
  const int error = lock.try_lock();
  if (error == 0) lock.write_holder();
  return error;
}

}  // namespace

TEST_CASE("a free lock is taken at the promised number, and the file says by whom") {
  const TemporaryDirectory directory;
  const std::string path = directory / "lock";
  Lock lock(path, number);

  CHECK(take(lock) == 0);

  CHECK(content_of(path) == own_line());
  CHECK(inode_at(number) == inode_of(path));
  CHECK(::fcntl(number, F_GETFD) == FD_CLOEXEC);
  CHECK(std::filesystem::status(path).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  CHECK(take(lock) == 0);
}

TEST_CASE("nobody who inherits the lock can write to its file") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("lock", "4711 1\n", 0600);
  Lock lock(path, number);

  CHECK(take(lock) == 0);

  CHECK((::fcntl(number, F_GETFL) & O_ACCMODE) == O_RDONLY);
  CHECK(::pwrite(number, "x", 1, 0) == -1);
  CHECK(::ftruncate(number, 1'000) == -1);
  CHECK(content_of(path) == own_line());
}

TEST_CASE("a lock's file that is replaced by another keeps what the other says") {
  const TemporaryDirectory directory;
  const std::string path = directory / "lock";
  Lock lock(path, number);
  REQUIRE(lock.try_lock() == 0);
  std::filesystem::remove(path);
  directory.write("lock", "another's", 0600);

  lock.write_holder();

  CHECK(content_of(path) == "another's");
}

TEST_CASE("the number is kept free for the lock from the beginning") {
  const TemporaryDirectory directory;
  REQUIRE(::dup2(0, number) == number);
  const OwnedFd before(::open("/dev/null", O_RDONLY | O_CLOEXEC));

  const Lock lock(directory / "lock", number);

  CHECK(::fcntl(number, F_GETFD) == FD_CLOEXEC);
  CHECK(inode_at(number) == inode_of("/dev/null"));
  CHECK(inode_at(before.get()) == inode_of("/dev/null"));
}

TEST_CASE("the lock is given its number even where that is the lowest free one") {
  const TemporaryDirectory directory;
  const int lowest = ::fcntl(0, F_DUPFD_CLOEXEC, 3);
  ::close(lowest);
  {
    Lock lock(directory / "lock", lowest);
    const OwnedFd next(::open("/dev/null", O_RDONLY | O_CLOEXEC));

    CHECK(next.get() > lowest);
    CHECK(take(lock) == 0);
    CHECK(inode_at(lowest) == inode_of(directory / "lock"));
  }
  CHECK(::fcntl(lowest, F_GETFD) == -1);
}

TEST_CASE("a file with older and longer content holds the new holder only") {
  const TemporaryDirectory directory;
  const std::string path =
      directory.write("lock", "99999999999999999999 " + std::string(40, '9') + "\n", 0644);
  Lock lock(path, number);

  CHECK(take(lock) == 0);

  CHECK(content_of(path) == own_line());
}

TEST_CASE("the file is empty until it is to say who holds it, and is then written once") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("lock", GENERATE("", "12 5\n"), 0600);
  Lock lock(path, number);
  REQUIRE(lock.try_lock() == 0);
  Lock other(path, other_number);
  REQUIRE(other.try_lock() == EWOULDBLOCK);

  CHECK(content_of(path).empty());
  CHECK(other.holder_in_words() == we() + " holds it");
  lock.write_holder();
  CHECK(content_of(path) == own_line());
  directory.write("lock", "1 2\n", 0600);
  lock.write_holder();
  CHECK(content_of(path) == "1 2\n");
}

TEST_CASE("a held lock is refused, with its holder's name") {
  const TemporaryDirectory directory;
  Lock first(directory / "lock", number);
  REQUIRE(take(first) == 0);
  Lock second(directory / "lock", other_number);

  CHECK(take(second) == EWOULDBLOCK);
  CHECK(second.holder_in_words() == we() + " holds it");
  CHECK(content_of(directory / "lock") == own_line());
}

TEST_CASE("a lock is free once its only holder is gone") {
  const TemporaryDirectory directory;
  Lock second(directory / "lock", other_number);
  {
    Lock first(directory / "lock", number);
    REQUIRE(take(first) == 0);
    REQUIRE(take(second) == EWOULDBLOCK);
  }

  CHECK(take(second) == 0);
}

TEST_CASE("an inherited descriptor keeps the lock held, and the words say where it is") {
  const TemporaryDirectory directory;
  const std::string path = directory / "lock";
  const int agents = GENERATE(1, 2, 6);
  Background upgrader([&](int end) {
    Lock lock(path, number);
    if (take(lock) != 0) return;
    // Forks a chain of processes that all hold the lock: the agent, its child, the child of that
    // child, and so on.
    int depth = 0;
    while (depth < agents && ::fork() == 0)
      ++depth;
    if (depth == 0) return;
    ::prctl(PR_SET_NAME, "the agent");
    wait_for_end_of(end);
  });
  REQUIRE(ends(upgrader.pid()));
  Lock lock(path, other_number);
  REQUIRE(take(lock) == EWOULDBLOCK);

  // Waits until all agents have been forked and have set their names.
  std::string words = lock.holder_in_words();
  const auto count_named = [&] {
    words = lock.holder_in_words();
    int named = 0;
    for (auto at = words.find(" (the agent)"); at != std::string::npos;
         at = words.find(" (the agent)", at + 1))
      ++named;
    return named;
  };
  CHECK(comes_true([&] {
    return count_named() == std::min(agents, 4) && words.ends_with(" and others") == (agents > 4);
  }));
  CHECK(words.starts_with("process " + std::to_string(upgrader.pid()) + ", which " + path +
                          " names, is gone: one of its agents still holds it: process "));
  directory.write("lock", "", 0600);
  words = lock.holder_in_words();
  CHECK(words.ends_with(agents == 1 ? " (the agent) holds it" : " hold it"));

  upgrader.release();
  CHECK(comes_true([&] { return take(lock) == 0; }));
  CHECK(content_of(path) == own_line());
}

TEST_CASE("a process that only waits for the lock, or reads its file, does not hold it") {
  const TemporaryDirectory directory;
  std::optional<Lock> first(std::in_place, directory / "lock", number);
  REQUIRE(take(*first) == 0);
  const OwnedFd reader(::open((directory / "lock").c_str(), O_RDONLY | O_CLOEXEC));
  Lock second(directory / "lock", other_number);
  REQUIRE(take(second) == EWOULDBLOCK);
  const OwnedFd other_lock(::open((directory / "other").c_str(), O_RDWR | O_CREAT, 0600));
  REQUIRE(::flock(other_lock.get(), LOCK_EX | LOCK_NB) == 0);

  CHECK(lock_holders(number) == std::vector<pid_t>{::getpid()});
  CHECK(lock_holders(reader.get()) == std::vector<pid_t>{::getpid()});
  first.reset();
  CHECK(lock_holders(other_number).empty());
  CHECK(lock_holders(-1).empty());
}

TEST_CASE("a file that is not a lock's is refused, and stays as it was") {
  const TemporaryDirectory directory;
  const std::string content = GENERATE(values<std::string>(
      {"x", "\n", "12", "12 ", "12  5", " 12 5", "12\t5\n", "12 5 \n", "12 5\n\n", "12 x\n", " 5\n",
       "-1 5\n", "+1 5\n", "1 5 6\n", "#!/bin/sh\n", std::string("12 5\0", 5),
       "12 " + std::string(100, '5')}));
  const std::string path = directory.write("lock", content, 0644);
  Lock lock(path, number);

  CHECK(take(lock) == EEXIST);

  CHECK(content_of(path) == content);
  CHECK(Lock::refusal_in_words(EEXIST) ==
        "it holds what no lock has written, and is left as it is (EEXIST)");
}

TEST_CASE("a file that is empty, a lock's, or of NUL bytes alone is taken") {
  const TemporaryDirectory directory;
  const std::string content = GENERATE(values<std::string>(
      {"", "12 5", "12 5\n", "0 0\n", "99999999999999999999 5\n", std::string(12, 0)}));
  const std::string path = directory.write("lock", content, 0644);
  Lock lock(path, number);

  CHECK(take(lock) == 0);

  CHECK(content_of(path) == own_line());
}

TEST_CASE("a holder that can be written in part only leaves what the next one takes for a lock's") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("lock", "12 5\n", 0600);
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{.rlim_cur = 2, .rlim_max = before.rlim_max};
  Lock lock(path, number);

  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const int error = take(lock);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);

  CHECK(error == 0);
  CHECK(content_of(path).empty());
}

TEST_CASE("no link is followed, and nothing but a regular file is opened") {
  const TemporaryDirectory directory;
  const std::string target = directory / "target";
  const bool dangling = GENERATE(false, true);
  if (!dangling) directory.write("target", "");
  Lock by_link(directory.link("link", "target"), number);
  REQUIRE(::mkfifo((directory / "fifo").c_str(), 0600) == 0);
  Lock fifo(directory / "fifo", other_number);

  CHECK(take(by_link) == ELOOP);
  CHECK(std::filesystem::exists(target) != dangling);
  CHECK(take(fifo) == EINVAL);
  CHECK(Lock::refusal_in_words(ELOOP) == "it is a symbolic link, and none is followed (ELOOP)");
  CHECK(Lock::refusal_in_words(EINVAL) == "it is no regular file (EINVAL)");
  CHECK(Lock::refusal_in_words(EACCES) == "Permission denied (EACCES)");
}

TEST_CASE("a lock whose file a link leads to by now is not taken") {
  const TemporaryDirectory directory;
  const std::string path = directory / "lock";
  Lock holder(path, number);
  REQUIRE(take(holder) == 0);
  Lock waiter(path, other_number);
  REQUIRE(take(waiter) == EWOULDBLOCK);

  std::filesystem::rename(path, directory / "elsewhere");
  std::filesystem::create_symlink("elsewhere", path);

  CHECK(take(waiter) == ELOOP);
}

TEST_CASE("a holder is gone when its number belongs to another process by now") {
  const TemporaryDirectory directory;
  Lock first(directory / "lock", number);
  REQUIRE(take(first) == 0);
  directory.write("lock", std::to_string(::getpid()) + " 1\n", 0600);
  Lock second(directory / "lock", other_number);
  REQUIRE(take(second) == EWOULDBLOCK);

  CHECK(second.holder_in_words().find("is gone") != std::string::npos);
}

TEST_CASE("a holder without a start time is known by its number alone") {
  const TemporaryDirectory directory;
  Lock first(directory / "lock", number);
  REQUIRE(take(first) == 0);
  directory.write("lock", std::to_string(::getpid()) + " 0\n", 0600);
  Lock second(directory / "lock", other_number);
  REQUIRE(take(second) == EWOULDBLOCK);

  CHECK(second.holder_in_words() == we() + " holds it");
}

TEST_CASE("the lock's holder is named even if the file names nobody, or another process") {
  const TemporaryDirectory directory;
  const std::string path = directory / "lock";
  Lock first(path, number);
  REQUIRE(take(first) == 0);
  const std::string living =
      std::to_string(::getppid()) + " " + std::to_string(process_start_time(::getppid()).value());
  const std::string content = GENERATE_COPY(values<std::string>(
      {"", "x", "12", "-1 5\n", "0 5\n", "99999999999999999999 5\n", "99999999999 5\n", living}));
  directory.write("lock", content, 0600);
  Lock second(path, other_number);
  REQUIRE(take(second) == EWOULDBLOCK);

  CHECK(second.holder_in_words() == we() + " holds it");
}

TEST_CASE("a path that has been replaced is locked anew") {
  const TemporaryDirectory directory;
  const std::string path = directory / "lock";
  Lock holder(path, number);
  REQUIRE(take(holder) == 0);
  Lock waiter(path, other_number);
  REQUIRE(take(waiter) == EWOULDBLOCK);

  if (GENERATE(false, true)) {
    std::filesystem::rename(directory.write("new", ""), path);
  } else {
    std::filesystem::remove(path);
  }

  CHECK(take(waiter) == 0);
  CHECK(inode_at(other_number) == inode_of(path));
  CHECK(content_of(path) == own_line());
}

TEST_CASE("a file that cannot be locked is reported with its errno") {
  const TemporaryDirectory directory;
  REQUIRE(::mkfifo((directory / "fifo").c_str(), 0600) == 0);
  const auto error_of = [](const std::string& path) { return Lock(path, number).try_lock(); };

  CHECK(error_of(directory / "none/lock") == ENOENT);
  CHECK(error_of(directory.path()) == EINVAL);
  CHECK(error_of(directory / "fifo") == EINVAL);
  CHECK(error_of("/dev/null") == EINVAL);
  CHECK(Lock(directory / "none/lock", number).holder_in_words().find("does not say") !=
        std::string::npos);
}

TEST_CASE("the start time is field 22, whatever the command is called") {
  const std::string tail = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21\n";

  CHECK(start_time_in_stat("77 (cat)" + tail) == 4711u);
  CHECK(start_time_in_stat("77 (a ) S 1 (b) c)" + tail) == 4711u);
  CHECK(start_time_in_stat("77 (cat) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711") ==
        4711u);
  CHECK_FALSE(start_time_in_stat("77 (cat) Z" + tail.substr(2)));
  CHECK_FALSE(start_time_in_stat("77 (cat) X" + tail.substr(2)));
  CHECK_FALSE(start_time_in_stat(tail));
  CHECK_FALSE(start_time_in_stat("77 (cat) S 1 2 3"));
  CHECK_FALSE(start_time_in_stat("77 (cat"));
  CHECK_FALSE(start_time_in_stat(""));
  CHECK_FALSE(
      start_time_in_stat("77 (cat) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x 20 21\n"));
}

TEST_CASE("a process that is none, or a zombie, has no start time") {
  Background zombie([](int) {});
  REQUIRE(ends(zombie.pid()));

  CHECK_FALSE(process_start_time(zombie.pid()));
  CHECK_FALSE(process_start_time(0x7fffffff));
  CHECK(process_start_time(::getpid()));
}

}  // namespace lock_test

// The lock: who has it, who is told to have it, and that it outlives the upgrader in its agents.
#include "upgrader/lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>

#include "tests/unit/processes.h"

using namespace upgrader;

namespace {

constexpr int number = 90;
constexpr int other_number = 91;

std::string own_line() {
  return std::to_string(::getpid()) + " " + std::to_string(process_start_time(::getpid()).value()) +
         "\n";
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

// A process that ends when its test does.
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

}  // namespace

TEST_CASE("a free lock is taken at the promised number, and the file says by whom") {
  const TemporaryDirectory directory;
  const std::string path = directory / "lock";
  Lock lock(path, number);

  CHECK(lock.try_lock() == 0);

  CHECK(content_of(path) == own_line());
  CHECK(lock.number() == number);
  CHECK(inode_at(number) == inode_of(path));
  CHECK(::fcntl(number, F_GETFD) == FD_CLOEXEC);
  CHECK(std::filesystem::status(path).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  CHECK(lock.try_lock() == 0);
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
    CHECK(lock.try_lock() == 0);
    CHECK(inode_at(lowest) == inode_of(directory / "lock"));
  }
  CHECK(::fcntl(lowest, F_GETFD) == -1);
}

TEST_CASE("a file with older and longer content holds the new holder only") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("lock", std::string(500, '9') + "\n", 0644);
  Lock lock(path, number);

  CHECK(lock.try_lock() == 0);

  CHECK(content_of(path) == own_line());
}

TEST_CASE("a held lock is refused, with its holder's name") {
  const TemporaryDirectory directory;
  Lock first(directory / "lock", number);
  REQUIRE(first.try_lock() == 0);
  Lock second(directory / "lock", other_number);

  CHECK(second.try_lock() == EWOULDBLOCK);
  CHECK(second.holder_in_words() == "process " + std::to_string(::getpid()) + " holds it");
  CHECK(content_of(directory / "lock") == own_line());
}

TEST_CASE("a lock is free once its only holder is gone") {
  const TemporaryDirectory directory;
  Lock second(directory / "lock", other_number);
  {
    Lock first(directory / "lock", number);
    REQUIRE(first.try_lock() == 0);
    REQUIRE(second.try_lock() == EWOULDBLOCK);
  }

  CHECK(second.try_lock() == 0);
}

TEST_CASE("an inherited descriptor keeps the lock held, and the words say so") {
  const TemporaryDirectory directory;
  const std::string path = directory / "lock";
  Background upgrader([&](int end) {
    Lock lock(path, number);
    if (lock.try_lock() != 0) return;
    if (::fork() == 0) wait_for_end_of(end);  // the agent
  });
  REQUIRE(ends(upgrader.pid()));
  const std::string process = "process " + std::to_string(upgrader.pid());
  Lock lock(path, other_number);

  CHECK(lock.try_lock() == EWOULDBLOCK);
  CHECK(lock.holder_in_words() ==
        process + ", which " + path + " names, is gone: one of its agents still holds it");

  upgrader.release();
  CHECK(comes_true([&] { return lock.try_lock() == 0; }));
  CHECK(content_of(path) == own_line());
}

TEST_CASE("a holder is gone when its number belongs to another process by now") {
  const TemporaryDirectory directory;
  Lock first(directory / "lock", number);
  REQUIRE(first.try_lock() == 0);
  directory.write("lock", std::to_string(::getpid()) + " 1\n", 0600);
  Lock second(directory / "lock", other_number);
  REQUIRE(second.try_lock() == EWOULDBLOCK);

  CHECK(second.holder_in_words().find("is gone") != std::string::npos);
}

TEST_CASE("a holder without a start time is known by its number alone") {
  const TemporaryDirectory directory;
  Lock first(directory / "lock", number);
  REQUIRE(first.try_lock() == 0);
  directory.write("lock", std::to_string(::getpid()) + " 0\n", 0600);
  Lock second(directory / "lock", other_number);
  REQUIRE(second.try_lock() == EWOULDBLOCK);

  CHECK(second.holder_in_words() == "process " + std::to_string(::getpid()) + " holds it");
}

TEST_CASE("a file that names nobody is said to do so") {
  const TemporaryDirectory directory;
  const std::string path = directory / "lock";
  Lock first(path, number);
  REQUIRE(first.try_lock() == 0);
  const std::string content = GENERATE(values<std::string>(
      {"", "x", "12", "12 ", "12 x\n", "-1 5\n", "0 5\n", "12 5", "99999999999999999999 5\n"}));
  directory.write("lock", content, 0600);
  Lock second(path, other_number);
  REQUIRE(second.try_lock() == EWOULDBLOCK);

  CHECK(second.holder_in_words() == path + " does not say who holds it");
}

TEST_CASE("a path that has been replaced is locked anew") {
  const TemporaryDirectory directory;
  const std::string path = directory / "lock";
  Lock holder(path, number);
  REQUIRE(holder.try_lock() == 0);
  Lock waiter(path, other_number);
  REQUIRE(waiter.try_lock() == EWOULDBLOCK);

  if (GENERATE(false, true)) {
    std::filesystem::rename(directory.write("new", ""), path);
  } else {
    std::filesystem::remove(path);
  }

  CHECK(waiter.try_lock() == 0);
  CHECK(inode_at(other_number) == inode_of(path));
  CHECK(content_of(path) == own_line());
}

TEST_CASE("what cannot be locked is told by its errno") {
  const TemporaryDirectory directory;
  REQUIRE(::mkfifo((directory / "fifo").c_str(), 0600) == 0);
  const auto error_of = [](const std::string& path) { return Lock(path, number).try_lock(); };

  CHECK(error_of(directory / "none/lock") == ENOENT);
  CHECK(error_of(directory.path()) == EISDIR);
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

// Tests the readiness descriptor (--notify-fd). The upgrader must write exactly one newline to this
// descriptor, and then close it.
#include "upgrader/shell/init_system.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/decisions/unit/processes.h"

namespace readiness_test {

namespace {

using namespace upgrader;

constexpr int number = 150;
constexpr int lowest = 200;

struct Pipe {
  Pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  OwnedFd read, write;
};

void put_at(int place, const OwnedFd& fd) {
  REQUIRE(::dup2(fd.get(), place) == place);
}

// An InitSystem (the part that notifies init) with a descriptor for --notify-fd, and without a
// socket of init. tell() reports to the InitSystem that an agent is active.
class Teller {
 public:
  explicit Teller(OwnedFd readiness) : init_(nullptr, Duration::zero(), std::move(readiness)) {
    tell();
  }
  void tell() {
    init_.tell({}, Time{});
    InitNews news;
    news.active = true;
    init_.tell(news, Time{});
  }
  // Returns true if the newline for --notify-fd is due, and has not been written yet.
  [[nodiscard]] bool waits() const { return init_.next_deadline().has_value(); }

 private:
  InitSystem init_;
};

std::string refusal_of(int place) {
  auto taken = seize_for_readiness(place, lowest);
  REQUIRE_FALSE(static_cast<bool>(taken));
  return taken.reason();
}

}  // namespace

TEST_CASE("the descriptor is told one newline, once, and closed") {
  Pipe pipe;
  const int place = GENERATE(150, 200, 207);
  put_at(place, pipe.write);
  pipe.write.reset();
  auto taken = seize_for_readiness(place, lowest);
  REQUIRE(static_cast<bool>(taken));

  Teller teller(std::move(taken.value()));
  teller.tell();

  CHECK_FALSE(teller.waits());
  CHECK(read_to_end(pipe.read.get()) == "\n");
}

TEST_CASE("the number is free at once, and what took its place is close-on-exec") {
  Pipe pipe;
  put_at(number, pipe.write);
  const auto before = descriptors_of(::getpid());

  auto taken = seize_for_readiness(number, lowest);

  REQUIRE(static_cast<bool>(taken));
  CHECK(::fcntl(number, F_GETFD) == -1);
  CHECK(descriptors_of(::getpid()).size() == before.size());
  CHECK((::fcntl(lowest, F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("a descriptor that is never told is closed without a word") {
  Pipe pipe;
  put_at(number, pipe.write);
  pipe.write.reset();

  static_cast<void>(seize_for_readiness(number, lowest));

  CHECK(read_to_end(pipe.read.get()).empty());
}

TEST_CASE("a descriptor that is not open, or not for writing, is refused and left alone") {
  Pipe pipe;
  put_at(number, pipe.read);

  CHECK(refusal_of(number) == "it is not open for writing");
  CHECK(::fcntl(number, F_GETFD) >= 0);
  ::close(number);
  CHECK(refusal_of(number).find("EBADF") != std::string::npos);
}

TEST_CASE("one that can also be read is taken") {
  const OwnedFd both(::open("/dev/null", O_RDWR | O_CLOEXEC));
  put_at(number, both);

  CHECK(static_cast<bool>(seize_for_readiness(number, lowest)));
}

TEST_CASE("flags that others share stay as they were, even if they say not to block") {
  Pipe pipe;
  REQUIRE(::fcntl(pipe.write.get(), F_SETFL, O_NONBLOCK) == 0);
  const int before = ::fcntl(pipe.write.get(), F_GETFL);
  put_at(number, pipe.write);
  auto taken = seize_for_readiness(number, lowest);

  const Teller teller(std::move(taken.value()));

  CHECK_FALSE(teller.waits());
  CHECK(::fcntl(pipe.write.get(), F_GETFL) == before);
}

TEST_CASE("a pipe that is full, or that nobody reads, is not waited for, and stays as it was") {
  ::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  REQUIRE(::fcntl(pipe.write.get(), F_SETPIPE_SZ, 4'096) == 4'096);
  const bool full = GENERATE(true, false);
  if (full) {
    REQUIRE(::write(pipe.write.get(), std::string(4'096, 'x').data(), 4'096) == 4'096);
  } else {
    pipe.read.reset();
  }
  put_at(number, pipe.write);
  auto taken = seize_for_readiness(number, lowest);

  const Teller teller(std::move(taken.value()));

  CHECK(teller.waits() == full);
  CHECK((::fcntl(pipe.write.get(), F_GETFL) & O_NONBLOCK) == 0);
}

TEST_CASE("nobody is told anything where nobody asked") {
  const auto before = descriptors_of(::getpid());

  const Teller teller({});

  CHECK_FALSE(teller.waits());
  CHECK(descriptors_of(::getpid()) == before);
}

}  // namespace readiness_test

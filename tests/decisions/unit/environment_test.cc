// Tests which of the upgrader's environment variables are passed on to the agents.
#include "upgrader/shell/environment.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace environment_test {

using namespace upgrader;

namespace {

using Texts = std::vector<std::string>;

// Sets this process's environment to these variables for as long as the object exists.
class Inherited {
 public:
  explicit Inherited(Texts texts) : texts_(std::move(texts)) {
    for (std::string& text : texts_)
      pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
    environ = pointers_.data();
  }
  ~Inherited() { environ = before_; }
  Inherited(const Inherited&) = delete;
  Inherited& operator=(const Inherited&) = delete;

 private:
  Texts texts_;
  std::vector<char*> pointers_;
  char** before_ = environ;
};

std::optional<int> sockets_in(const Texts& texts, pid_t own_pid) {
  const Inherited inherited(texts);
  return passed_sockets(own_pid);
}

agent_protocol::Result<Duration> wish_in(const Texts& texts) {
  const Inherited inherited(texts);
  return watchdog_wish(77);
}

Texts entries_of(const Texts& texts, std::optional<int> sockets = std::nullopt) {
  const Inherited inherited(texts);
  const Environment environment = agent_environment(environ, sockets, std::nullopt);
  return {environment.entries.begin(), environment.entries.end()};
}

}  // namespace

TEST_CASE("everything is kept byte for byte and in order, and the protocol's version added") {
  CHECK(entries_of({"B=2", "A=1", "", "odd", "A=again", "C=a=b=\xff", "=x"}) ==
        Texts{"B=2", "A=1", "", "odd", "A=again", "C=a=b=\xff", "=x", "AGENT_PROTOCOL=1"});
}

TEST_CASE("every inherited variable of the protocol goes") {
  CHECK(entries_of({"AGENT_PROTOCOL=7", "X=1", "AGENT_PROTOCOL_LOCK_FD=9", "AGENT_PROTOCOL",
                    "AGENT_PROTOCOL_NEW=", "AGENT_PROTO=kept", "MY_AGENT_PROTOCOL=kept"}) ==
        Texts{"X=1", "AGENT_PROTO=kept", "MY_AGENT_PROTOCOL=kept", "AGENT_PROTOCOL=1"});
}

TEST_CASE("the lock's number is told where there is one") {
  const Inherited inherited({});

  CHECK(agent_environment(environ, std::nullopt, 5).lock_descriptor == 5);
  CHECK_FALSE(agent_environment(environ, std::nullopt, std::nullopt).lock_descriptor);
}

TEST_CASE("variables that serve the conversation with init are left out") {
  CHECK(entries_of({"NOTIFY_SOCKET=/run/x", "WATCHDOG_USEC=1", "WATCHDOG_PID=2", "LISTEN_PIDFDID=3",
                    "NOTIFY_SOCKETS=kept", "JOURNAL_STREAM=8:9"},
                   1) == Texts{"NOTIFY_SOCKETS=kept", "JOURNAL_STREAM=8:9", "AGENT_PROTOCOL=1"});
}

TEST_CASE("sockets that are not for us are not the agents' either") {
  CHECK(entries_of({"LISTEN_FDS=1", "X=1", "LISTEN_PID=1", "LISTEN_FDNAMES=a"}) ==
        Texts{"X=1", "AGENT_PROTOCOL=1"});
}

TEST_CASE("sockets for us are the agents', and the place of the pid is known") {
  const Inherited inherited(
      {"LISTEN_FDS=1", "X=1", "LISTEN_PID=1", "LISTEN_PID=2", "LISTEN_FDNAMES=a"});
  const Environment environment = agent_environment(environ, 1, std::nullopt);

  CHECK(Texts(environment.entries.begin(), environment.entries.end()) ==
        Texts{"LISTEN_FDS=1", "X=1", "LISTEN_PID=1", "LISTEN_FDNAMES=a", "AGENT_PROTOCOL=1"});
  CHECK(environment.listen_pid == 2);
}

TEST_CASE("sockets are passed only by variables that are meant for us and well formed") {
  CHECK(sockets_in({"LISTEN_PID=77", "LISTEN_FDS=0"}, 77) == 0);
  CHECK_FALSE(sockets_in({}, 77));
  CHECK_FALSE(sockets_in({"LISTEN_FDS=0"}, 77));
  CHECK_FALSE(sockets_in({"LISTEN_PID=77"}, 77));
  CHECK_FALSE(sockets_in({"LISTEN_PID=78", "LISTEN_FDS=0"}, 77));
  CHECK_FALSE(sockets_in({"LISTEN_PID", "LISTEN_FDS"}, 77));
  CHECK(sockets_in({"LISTEN_PID", "LISTEN_PID=77", "LISTEN_PID=78", "LISTEN_FDS=0"}, 77) == 0);
  for (const char* wrong : {"", "-1", "0x0", "0 ", " 0", "+0", "99999999999", "all"}) {
    CHECK_FALSE(sockets_in({"LISTEN_PID=77", "LISTEN_FDS=" + std::string(wrong)}, 77));
  }
  for (const char* wrong : {"", "077x", "77 ", "-77", "99999999999"}) {
    CHECK_FALSE(sockets_in({"LISTEN_PID=" + std::string(wrong), "LISTEN_FDS=0"}, 77));
  }
}

TEST_CASE("sockets that are not open are none") {
  // Makes sure that descriptor 3 is open: if it is closed, this call opens it.
  const int three = ::fcntl(0, F_DUPFD_CLOEXEC, 3);
  REQUIRE(three >= 3);

  CHECK(sockets_in({"LISTEN_PID=77", "LISTEN_FDS=1"}, 77) == 1);
  CHECK_FALSE(sockets_in({"LISTEN_PID=77", "LISTEN_FDS=100000"}, 77));
  CHECK_FALSE(sockets_in({"LISTEN_PID=77", "LISTEN_FDS=2147483647"}, 77));

  ::close(three);
}

TEST_CASE(
    "a watchdog that is ours is taken in whole milliseconds, at least one and at most a day") {
  const auto time_in = [](const Texts& texts) { return wish_in(texts).value().count(); };

  CHECK(time_in({"WATCHDOG_USEC=30000000", "WATCHDOG_PID=77"}) == 30'000);
  CHECK(time_in({"WATCHDOG_USEC=30000000"}) == 30'000);
  CHECK(time_in({"WATCHDOG_USEC=2999"}) == 2);
  CHECK(time_in({"WATCHDOG_USEC=1000"}) == 1);
  CHECK(time_in({"WATCHDOG_USEC=999"}) == 1);
  CHECK(time_in({"WATCHDOG_USEC=1"}) == 1);
  CHECK(time_in({"WATCHDOG_USEC=86400000000"}) == 86'400'000);
  CHECK(time_in({"WATCHDOG_USEC=86400001000"}) == 86'400'000);
  CHECK(time_in({"WATCHDOG_USEC=9223372036854775807"}) == 86'400'000);
}

TEST_CASE("a watchdog that is absent or meant for another process is none") {
  for (const Texts& none : {Texts{},
                            {"WATCHDOG_PID=77"},
                            {"WATCHDOG_USEC=1000", "WATCHDOG_PID=78"},
                            {"WATCHDOG_PID=1", "WATCHDOG_USEC=nonsense"}}) {
    CHECK(wish_in(none).value() == Duration{0});
  }
}

TEST_CASE("a watchdog that makes no sense is none, and there is a complaint") {
  for (const char* wrong : {"", "0", "-1", "1s", "x", " 1", "1 ", "18446744073709551615"}) {
    const auto time = wish_in({"WATCHDOG_USEC=" + std::string(wrong)});
    const auto pid = wish_in({"WATCHDOG_USEC=1000", "WATCHDOG_PID=" + std::string(wrong) + "y"});

    INFO(wrong);
    REQUIRE_FALSE(time);
    CHECK(time.reason() == "WATCHDOG_USEC=" + std::string(wrong) +
                               " is ignored: it is not a number that makes sense");
    REQUIRE_FALSE(pid);
    CHECK(pid.reason().find("WATCHDOG_PID=") == 0);
  }
  const std::string hostile = std::string(1'000, 'x') + "\n";
  CHECK(wish_in({"WATCHDOG_USEC=" + hostile}).reason().size() < 200);
}

TEST_CASE("each of the sockets has to be open, from the first to the last") {
  const int closed = GENERATE(-1, 3, 4, 5, 6);
  // Changes the descriptors in a child process, so that the test's own descriptors stay as they
  // are.
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (int fd = 3; fd <= 5; ++fd)
      ::dup2(0, fd);
    ::close(6);
    ::close(closed);
    const bool all_open = sockets_in({"LISTEN_PID=77", "LISTEN_FDS=3"}, 77) == 3;
    ::_exit(all_open ? 0 : 1);
  }

  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == (closed >= 3 && closed <= 5 ? W_EXITCODE(1, 0) : 0));
}

}  // namespace environment_test

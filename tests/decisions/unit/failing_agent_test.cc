// Tests the agent's library with system calls that fail, which they hardly ever do in reality. If
// the library cannot get a descriptor, it must leave the process as it was. It must repeat
// interrupted calls.
#include <fcntl.h>
#include <sys/stat.h>

#include "agent-protocol/agent_protocol.h"
#include "tests/decisions/unit/agent_bench.h"
#include "tests/decisions/unit/failing_calls.h"

namespace failing_agent_test {

using namespace bench;

namespace {

struct Fault {
  Call call;
  int after;
};

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// Opens the library while a system call fails as `fault` says. Returns true if the call has failed,
// the library has reported the error, and nothing else has changed: standard input and output are
// the same pipes as before, and ignored signals are still ignored.
bool is_refused(const Fault& fault, int times = 1) {
  const auto inode_of = [](int fd) {
    struct stat status {};
    return ::fstat(fd, &status) == 0 ? status.st_ino : 0;
  };
  const auto before = std::pair(inode_of(0), inode_of(1));
  const Failing failing(fault.call, EMFILE, fault.after, times);
  const bool refused = agent_protocol_open("1.2") == nullptr && errno == EMFILE;
  return refused && failing.fired() && before == std::pair(inode_of(0), inode_of(1)) &&
         is_ignored(SIGTERM) && is_ignored(SIGPIPE);
}

}  // namespace

TEST_CASE("a handle that cannot be had is refused, and the process is as it was") {
  Upgrader upgrader([] {
    std::signal(SIGTERM, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    // The numbers in this list say how often a call succeeds before it fails. When the library is
    // opened, it copies four descriptors by fcntl(): of its eventfd, of its epoll instance, and of
    // both pipes. It calls epoll_ctl() three times, to watch the eventfd and both pipes.
    for (const Fault& fault :
         {Fault{Call::eventfd, 0}, Fault{Call::fcntl, 0}, Fault{Call::epoll_create1, 0},
          Fault{Call::fcntl, 1}, Fault{Call::fcntl, 2}, Fault{Call::fcntl, 3},
          Fault{Call::epoll_ctl, 0}, Fault{Call::epoll_ctl, 1}, Fault{Call::epoll_ctl, 2},
          Fault{Call::open, 0}, Fault{Call::dup2, 0}, Fault{Call::setenv, 0}}) {
      report(is_refused(fault) ? "refused" : "not as it should be");
    }
    report(::getenv("AGENT_PROTOCOL") != nullptr ? "the upgrader is still there" : "alone");
    agent_protocol_agent* agent = agent_protocol_open("1.2");
    report(agent != nullptr ? "opened" : "not opened");
    return 0;
  });

  for (int fault = 0; fault < 12; ++fault)
    CHECK(upgrader.is_reported() == "refused");
  CHECK(upgrader.is_reported() == "the upgrader is still there");
  CHECK(upgrader.is_reported() == "opened");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("standard output is /dev/null where it cannot be a copy of standard error") {
  Upgrader upgrader([] {
    const Failing failing(Call::dup2, EBADF, 1);
    agent_protocol_agent* agent = agent_protocol_open("1.2");
    report(agent != nullptr && failing.fired() ? "opened" : "not opened");
    struct stat null {};
    struct stat output {};
    ::stat("/dev/null", &null);
    ::fstat(STDOUT_FILENO, &output);
    report(output.st_rdev == null.st_rdev ? "1 is /dev/null" : "1 is something else");
    return 0;
  });

  CHECK(upgrader.is_reported() == "opened");
  CHECK(upgrader.is_reported() == "1 is /dev/null");
}

TEST_CASE("an agent knows that it has been one where its start cannot be read, too") {
  const Call call = GENERATE(Call::open, Call::read);
  Upgrader upgrader([call] {
    // The first open() of the library is for /dev/null, and the second is for the process's start
    // time. While it is opened, the library reads nothing but this start time.
    const Failing failing(call, EACCES, call == Call::open ? 1 : 0, 1'000);
    agent_protocol_close(agent_protocol_open("1.2"));
    report(std::getenv("LIBAGENT_PROTOCOL_PROCESS") == std::to_string(::getpid()) + " 0"
               ? "the number alone"
               : "something else");
    report(agent_protocol_open("1.2") == nullptr && errno == ENOTCONN ? "refused" : "opened");
    return failing.fired() ? 0 : 1;
  });

  CHECK(upgrader.is_reported() == "the number alone");
  CHECK(upgrader.is_reported() == "refused");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("a mark that names the process is believed where its start cannot be read") {
  Upgrader nobody([] {
    ::unsetenv("AGENT_PROTOCOL");
    ::setenv("LIBAGENT_PROTOCOL_PROCESS", (std::to_string(::getpid()) + " 7").c_str(), 1);
    const Failing failing(Call::open, EACCES);
    report(agent_protocol_open("1.2") == nullptr && errno == ENOTCONN ? "refused" : "opened");
    return failing.fired() ? 0 : 1;
  });

  CHECK(nobody.is_reported() == "refused");
  CHECK(nobody.exit_status() == 0);
}

TEST_CASE("an agent that can have no standard output of its own gets its input back") {
  Upgrader upgrader([] {
    // Makes the second and the third dup2() fail. By these the library tries to give standard
    // output another file: first a copy of standard error, then /dev/null.
    const Failing to_null(Call::dup2, EMFILE, 1);
    const Failing to_error(Call::dup2, EBADF, 1);
    report(agent_protocol_open("1.2") == nullptr && to_null.fired() ? "refused" : "not refused");
    char byte = 0;
    report(::read(STDIN_FILENO, &byte, 1) == 1 ? "its input" : "no input");
    return 0;
  });

  CHECK(upgrader.is_reported() == "refused");
  upgrader.say("x");
  CHECK(upgrader.is_reported() == "its input");
}

TEST_CASE("an interrupted move of a descriptor is made again") {
  Upgrader upgrader([] {
    const int error = EINTR;
    const Failing failing(Call::dup2, error);
    const Failing busy(Call::dup2, EBUSY);
    agent_protocol_agent* agent = agent_protocol_open("1.2");
    report(agent != nullptr && failing.fired() && busy.fired() ? "opened" : "not opened");
    return 0;
  });

  CHECK(upgrader.is_reported() == "opened");
}

TEST_CASE("there is one handle, and calls without one are told so") {
  agent_protocol_agent* agent = agent_protocol_open(nullptr);
  REQUIRE(agent != nullptr);

  CHECK(agent_protocol_open(nullptr) == nullptr);
  CHECK(errno == EBUSY);
  CHECK(agent_protocol_error(nullptr) == std::string("there is no open handle"));
  CHECK(agent_protocol_error(agent) == std::string("no call has failed"));
  agent_protocol_close(nullptr);
  agent_protocol_close(agent);
  agent = agent_protocol_open(nullptr);
  CHECK(agent != nullptr);
  agent_protocol_close(agent);
}

TEST_CASE("a lock's number that is none is left alone, and so is a process without environment") {
  for (const char* number : {"x", "3x", "1", "99999999999999"}) {
    ::setenv("AGENT_PROTOCOL_LOCK_FD", number, 1);
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    CHECK((::fcntl(1, F_GETFD) & FD_CLOEXEC) == 0);
    CHECK(std::getenv("AGENT_PROTOCOL_LOCK_FD") == nullptr);
    agent_protocol_close(agent);
  }
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::clearenv();
    ::_exit(agent_protocol_open(nullptr) != nullptr ? 0 : 1);
  }
  CHECK(status_of(pid) == 0);
}

TEST_CASE("interrupted reads, writes and waits of an agent are made again") {
  const Call call = GENERATE(Call::read, Call::write, Call::poll);
  const int error = GENERATE(EINTR, EAGAIN);
  // How often read() succeeds before it fails. The library first reads the process's start time,
  // then its eventfd, and then the pipe.
  const int after = GENERATE(0, 1, 2, 3);
  if (call == Call::poll && error == EAGAIN) return;
  if (call != Call::read && after > 0) return;
  Upgrader upgrader([&] {
    const Failing failing(call, error, after);
    run_until_active();
    report(failing.fired() ? "active" : "no fault");
    return 0;
  });

  upgrader.lead_to_active();

  CHECK(upgrader.is_reported() == "active");
}

TEST_CASE("an input that is broken is an input that has ended") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    const Failing failing(Call::read, EIO, 0, 1'000);
    report("active");
    report(words(agent_protocol_wait(agent, -1)));
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "active");
  upgrader.say(stop_shutdown);

  CHECK(upgrader.is_reported() == "stop stop_reason=5");
}

TEST_CASE("a broken output gives up the bytes that it has not written") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    {
      const Failing failing(Call::write, EIO);
      report(agent_protocol_status(agent, "lost") == 0 ? "said" : "not said");
    }
    agent_protocol_status(agent, "here");
    return 0;
  });

  upgrader.lead_to_active();

  CHECK(upgrader.is_reported() == "said");
  CHECK(upgrader.hears() == R"({"type":"status","text":"here"})");
}

TEST_CASE("a wait of some time ends when it is over") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    report(words(agent_protocol_wait(agent, 20)));
    return 0;
  });

  upgrader.lead_to_active();

  CHECK(upgrader.is_reported() == "nothing");
}

TEST_CASE("a request is refused at the first name that is none") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    for (const char* agent_protocol_upgrade::*member :
         {&agent_protocol_upgrade::mode, &agent_protocol_upgrade::gate,
          &agent_protocol_upgrade::commit, &agent_protocol_upgrade::on_unclean_stop,
          &agent_protocol_upgrade::fallback}) {
      agent_protocol_upgrade upgrade = AGENT_PROTOCOL_UPGRADE_INIT;
      upgrade.id = "u1";
      upgrade.executable = "/agent";
      upgrade.*member = "odd";
      report_call(agent, "upgrade", agent_protocol_request_upgrade(agent, &upgrade));
    }
    return 0;
  });

  upgrader.lead_to_active();

  for (const std::string member : {"mode", "gate", "commit", "on_unclean_stop", "fallback"}) {
    CHECK(upgrader.is_reported() ==
          "upgrade: cannot request an upgrade: " + member + " cannot be \"odd\"");
  }
}

TEST_CASE("a stop that is there, but has not been told, is confirmed too") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    ::raise(SIGTERM);
    report(words(agent_protocol_wait(agent, -1)));
    pollfd watched{.fd = agent_protocol_fd(agent), .events = POLLIN, .revents = 0};
    ::poll(&watched, 1, agent_patience_ms);
    report_call(agent, "stopped", agent_protocol_stopped(agent, "the end"));
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "stop stop_reason=4");
  upgrader.say(stop_shutdown);

  CHECK(upgrader.is_reported() == "stopped: done");
  CHECK(upgrader.hears() == R"({"type":"stopped","state":"the end"})");
}

TEST_CASE("an agent that is held cannot have stopped") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = agent_protocol_open("1.2");
    report(agent_protocol_stopped(agent, nullptr) == 0 ? "said" : "not said");
    return 0;
  });

  CHECK(upgrader.is_reported() == "not said");
}

TEST_CASE("rollbacks and errors are told to the agent") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    report(words(agent_protocol_wait(agent, -1)));
    report(words(agent_protocol_wait(agent, -1)));
    return 0;
  });

  upgrader.lead_to_active();
  upgrader.say(R"({"type":"error","about":"odd","reason":"not obeyed"})");
  CHECK(upgrader.is_reported() == "error about=odd reason=not obeyed");
  upgrader.say(R"({"type":"stop","reason":"rollback","deadline_ms":9})");
  CHECK(upgrader.is_reported() == "stop stop_reason=2 deadline_ms=9");
}

TEST_CASE("a signal leaves errno as it was") {
  Upgrader upgrader([] {
    run_until_active();
    const Failing failing(Call::write, EAGAIN);
    errno = EDOM;
    ::raise(SIGTERM);
    const bool kept = errno == EDOM;
    report(kept && failing.fired() ? "kept" : "not kept");
    return 0;
  });

  upgrader.lead_to_active();

  CHECK(upgrader.is_reported() == "kept");
}

TEST_CASE("SIGPIPE is nothing to an agent, unless it has a handler of its own") {
  const bool own = GENERATE(false, true);
  Upgrader upgrader([own] {
    if (own) {
      struct sigaction action {};
      action.sa_flags = SA_SIGINFO;
      action.sa_sigaction = [](int, siginfo_t*, void*) { report("its own"); };
      ::sigaction(SIGPIPE, &action, nullptr);
    } else {
      ::signal(SIGPIPE, SIG_DFL);
    }
    run_until_active();
    ::raise(SIGPIPE);
    report("alive");
    return 0;
  });

  upgrader.lead_to_active();

  if (own) CHECK(upgrader.is_reported() == "its own");
  CHECK(upgrader.is_reported() == "alive");
}

}  // namespace failing_agent_test

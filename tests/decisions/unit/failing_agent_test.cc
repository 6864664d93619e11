// Tests the agent's library while system calls fail, which is rare in reality:
// * If the library cannot get a descriptor, it must leave the process as it was.
// * It must repeat interrupted calls.
// * It must wait in the kernel, in one long call, as long as it has nothing to do.
// * Functions that must return immediately must never wait.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <limits>

#include "agent-protocol/agent.h"
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
    // Each number in this list says how often the call succeeds before it fails. When the library
    // is opened, it calls fcntl() four times, to copy the descriptors of the eventfd, the epoll
    // instance, and both pipes. It calls epoll_ctl() three times, to watch the eventfd and both
    // pipes. Each of these calls fails once.
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
    // Makes the library fail to read the process's start time. The library's first open() is for
    // /dev/null and succeeds; the second is for the start time. Its only read() during
    // agent_protocol_open() is for the start time, too.
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
    // Makes the second and the third dup2() fail. With these calls, the library tries to replace
    // standard output, first with a copy of standard error, then with /dev/null.
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

// ---- how the library waits in the kernel, which at_poll observes

using agent_protocol::Agent;
using namespace std::chrono_literals;

namespace {

const std::string error_line = R"({"type":"error","reason":"no"})";

// Makes the agent report every poll() whose timeout is not 0.
void report_waits() {
  at_poll = [](int timeout_ms) {
    if (timeout_ms != 0) report("waits " + std::to_string(timeout_ms));
  };
}

// Returns the agent's next report. Skips reports about a poll() without a time limit.
std::string reported_after_waits(Upgrader& upgrader) {
  std::string answer = upgrader.is_reported();
  while (answer == "waits -1")
    answer = upgrader.is_reported();
  return answer;
}

// Returns the number of milliseconds in a report such as "waits 20", or 0 for any other report.
int milliseconds_of(const std::string& report) {
  return report.starts_with("waits ") ? std::stoi(report.substr(6)) : 0;
}

Agent active_agent() {
  std::optional<Agent> agent = Agent::open("1.2");
  if (!agent || !agent->ready()) ::_exit(98);
  while (!std::holds_alternative<Agent::Activate>(agent->wait())) {
  }
  return *std::move(agent);
}

void report_event(const std::optional<Agent::Event>& event) {
  bench::report(event ? "an event" : "nothing");
}

}  // namespace

TEST_CASE("a wait without limit is one wait without limit") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    report_waits();
    report(words(agent_protocol_wait(agent, -1)));
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "waits -1");
  upgrader.say(error_line);

  CHECK(upgrader.is_reported() == "error reason=no");
}

TEST_CASE("a wait without limit is one wait without limit, in C++ too") {
  Upgrader upgrader([] {
    Agent agent = active_agent();
    report_waits();
    report_event(agent.wait());
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "waits -1");
  upgrader.say(error_line);
  CHECK(upgrader.is_reported() == "an event");
}

TEST_CASE("a wait for a time that has passed is over at once") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    report_waits();
    report(words(agent_protocol_wait(agent, -2)));
    report(words(agent_protocol_wait(agent, std::numeric_limits<int>::min())));
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.is_reported() == "(end)");
}

TEST_CASE("a wait until a moment that has passed is over at once, in C++") {
  Upgrader upgrader([] {
    Agent agent = active_agent();
    report_waits();
    for (const Agent::Milliseconds late : {-1ms, -2ms, Agent::Milliseconds::min()})
      report_event(agent.wait(late));
    return 0;
  });

  upgrader.lead_to_active();
  for (int wait = 0; wait < 3; ++wait)
    CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.is_reported() == "(end)");
}

TEST_CASE("a wait of some time waits for no more of it than is left") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    report_waits();
    report(words(agent_protocol_wait(agent, 50'000)));
    report(words(agent_protocol_wait(agent, 20)));
    report(words(agent_protocol_wait(agent, 0)));
    return 0;
  });

  upgrader.lead_to_active();
  const int first = milliseconds_of(upgrader.is_reported());
  CHECK(first > 0);
  CHECK(first <= 50'000);
  upgrader.say(error_line);
  CHECK(upgrader.is_reported() == "error reason=no");

  // On a busy machine, a timeout of 20 ms may have passed before the library begins to wait. In
  // this case, the agent reports no wait.
  std::string answer = upgrader.is_reported();
  if (const int second = milliseconds_of(answer); second != 0) {
    CHECK(second > 0);
    CHECK(second <= 20);
    answer = upgrader.is_reported();
  }
  CHECK(answer == "nothing");
  CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.is_reported() == "(end)");
}

TEST_CASE("more time than an int holds is as long as one holds, in C++") {
  Upgrader upgrader([] {
    Agent agent = active_agent();
    report_waits();
    report_event(agent.wait(1'000h));
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(milliseconds_of(upgrader.is_reported()) > 2'147'000'000);
  upgrader.say(error_line);

  CHECK(upgrader.is_reported() == "an event");
}

TEST_CASE("an agent that stops waits until its last word is taken, and nothing else does") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    agent_protocol_wait(agent, -1);
    report_waits();
    int count = 0;
    while (agent_protocol_status(agent, "busy") == 0)
      ++count;
    report(std::to_string(count));
    report_call(agent, "stopped", agent_protocol_stopped(agent, nullptr));
    return 0;
  });

  upgrader.lead_to_active();
  upgrader.say(stop_shutdown);
  const int count = std::stoi(upgrader.is_reported());
  CHECK(upgrader.is_reported() == "waits -1");
  for (int i = 0; i < count; ++i)
    REQUIRE(upgrader.hears() == R"({"type":"status","text":"busy"})");
  CHECK(upgrader.hears() == R"({"type":"stopped"})");

  CHECK(reported_after_waits(upgrader) == "stopped: done");
}

TEST_CASE("what is said while the agent waits for its last word is kept, and may be asked for") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    agent_protocol_wait(agent, -1);
    while (agent_protocol_status(agent, "busy") == 0) {
    }
    report_waits();
    agent_protocol_stopped(agent, nullptr);
    report(polls_readable(agent_protocol_fd(agent)) ? "readable" : "quiet");
    report(words(agent_protocol_next(agent)));
    return 0;
  });

  upgrader.lead_to_active();
  upgrader.say(stop_shutdown);
  CHECK(upgrader.is_reported() == "waits -1");
  upgrader.say(error_line);
  // The pipe for the library's output is still full. So the library reads the upgrader's message,
  // and then waits once more until the pipe has room.
  CHECK(upgrader.is_reported() == "waits -1");
  while (upgrader.hears() != R"({"type":"stopped"})") {
  }

  CHECK(reported_after_waits(upgrader) == "readable");
  CHECK(upgrader.is_reported() == "error reason=no");
}

TEST_CASE("more messages than an agent keeps do not keep its last word") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    agent_protocol_wait(agent, -1);
    while (agent_protocol_status(agent, "busy") == 0) {
    }
    report_waits();
    report_call(agent, "stopped", agent_protocol_stopped(agent, nullptr));
    return 0;
  });

  upgrader.lead_to_active();
  upgrader.say(stop_shutdown);
  CHECK(upgrader.is_reported() == "waits -1");
  std::string news;
  for (int i = 0; i < 300; ++i)
    news += R"({"type":"committed","id":"u1","generation":2})"
            "\n";
  upgrader.write_bytes(news);
  CHECK(upgrader.is_reported() == "waits -1");
  while (upgrader.hears() != R"({"type":"stopped"})") {
  }

  CHECK(reported_after_waits(upgrader) == "stopped: done");
}

TEST_CASE("an upgrader that has gone, but keeps a pipe that is full, is not waited for") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    while (agent_protocol_status(agent, "busy") == 0) {
    }
    report("full");
    report(words(agent_protocol_wait(agent, -1)));
    report_call(agent, "stopped", agent_protocol_stopped(agent, nullptr));
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "full");
  upgrader.close_input();

  CHECK(upgrader.is_reported() == "stop stop_reason=5");
  CHECK(upgrader.is_reported() == "stopped: done");
  CHECK(upgrader.exit_status() == 0);
}

}  // namespace failing_agent_test

// Tests the effects of signals on an agent, and on the programs that it starts.
#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "agent-protocol/agent_protocol.h"
#include "tests/decisions/unit/agent_bench.h"

namespace agent_signals_test {

using namespace bench;

TEST_CASE("SIGTERM ends a held agent at once, wherever it is") {
  Barrier barrier;
  Upgrader upgrader([&barrier] {
    agent_protocol_open(nullptr);
    barrier.wait();
    return 0;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1})");
  upgrader.signal(SIGTERM);

  CHECK(upgrader.exit_status() == 143);
}

TEST_CASE("SIGTERM tells an active agent to stop, once, and nothing is confirmed") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    report("active");
    report(words(agent_protocol_wait(agent, -1)));
    ::raise(SIGTERM);
    report(words(agent_protocol_wait(agent, 0)));
    report(polls_readable(agent_protocol_fd(agent)) ? "readable" : "quiet");
    report_call(agent, "stopped", agent_protocol_stopped(agent, nullptr));
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "active");
  upgrader.signal(SIGTERM);

  CHECK(upgrader.is_reported() == "stop stop_reason=4");
  CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.is_reported() == "quiet");
  CHECK(upgrader.is_reported() == "stopped: done");
  CHECK(upgrader.hears() == "(end)");
}

TEST_CASE("SIGTERM makes the descriptor poll readable, and comes after a message that is there") {
  Barrier barrier;
  Upgrader upgrader([&barrier] {
    agent_protocol_agent* agent = run_until_active();
    const int fd = agent_protocol_fd(agent);
    report(words(agent_protocol_next(agent)));
    ::raise(SIGTERM);
    report(polls_readable(fd) ? "readable" : "quiet");
    barrier.wait();
    report(words(agent_protocol_next(agent)));
    report(polls_readable(fd) ? "readable" : "quiet");
    report(words(agent_protocol_next(agent)));
    report(polls_readable(fd) ? "readable" : "quiet");
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.is_reported() == "readable");
  upgrader.say(R"({"type":"error","reason":"no"})");
  barrier.open();

  CHECK(upgrader.is_reported() == "error reason=no");
  CHECK(upgrader.is_reported() == "readable");
  CHECK(upgrader.is_reported() == "stop stop_reason=4");
  CHECK(upgrader.is_reported() == "quiet");
}

TEST_CASE("a SIGTERM of one conversation is none of the next") {
  Upgrader nobody([] {
    ::unsetenv("AGENT_PROTOCOL");
    agent_protocol_agent* agent = run_until_active();
    ::raise(SIGTERM);
    agent_protocol_close(agent);
    agent = agent_protocol_open(nullptr);
    return agent_protocol_ready(agent);
  });

  CHECK(nobody.exit_status() == 0);
}

TEST_CASE("what a program waits for goes on after a signal") {
  Upgrader upgrader([] {
    agent_protocol_open(nullptr);
    for (const int signal : {SIGTERM, SIGPIPE}) {
      struct sigaction action {};
      ::sigaction(signal, nullptr, &action);
      report((action.sa_flags & SA_RESTART) != 0 ? "goes on" : "is interrupted");
    }
    return 0;
  });

  CHECK(upgrader.is_reported() == "goes on");
  CHECK(upgrader.is_reported() == "goes on");
}

TEST_CASE("a stop that has come by the time of stopped is confirmed, though SIGTERM was first") {
  Barrier barrier;
  Upgrader upgrader([&barrier] {
    agent_protocol_agent* agent = run_until_active();
    report("active");
    report(words(agent_protocol_wait(agent, -1)));
    barrier.wait();
    report_call(agent, "stopped", agent_protocol_stopped(agent, "position 7"));
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "active");
  upgrader.signal(SIGTERM);
  CHECK(upgrader.is_reported() == "stop stop_reason=4");
  upgrader.say(stop_shutdown);
  barrier.open();

  CHECK(upgrader.is_reported() == "stopped: done");
  CHECK(upgrader.hears() == R"({"type":"stopped","state":"position 7"})");
}

TEST_CASE("a process forked from an agent dies of SIGTERM, and its agent notices nothing") {
  Barrier barrier;
  Upgrader upgrader([&barrier] {
    agent_protocol_agent* agent = run_until_active();
    const pid_t child = ::fork();
    if (child == 0) {
      barrier.wait();
      ::_exit(0);
    }
    ::kill(child, SIGTERM);
    report(std::to_string(status_of(child)));
    report(words(agent_protocol_wait(agent, 0)));
    return 0;
  });

  upgrader.lead_to_active();

  CHECK(upgrader.is_reported() == std::to_string(1000 + SIGTERM));
  CHECK(upgrader.is_reported() == "nothing");
}

TEST_CASE("SIGPIPE does not end an agent, but the programs that it executes as ever") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    ::raise(SIGPIPE);
    report(std::to_string(run("kill -PIPE $$")));
    agent_protocol_close(agent);
    ::raise(SIGPIPE);
    return 0;
  });

  CHECK(upgrader.is_reported() == std::to_string(1000 + SIGPIPE));
  CHECK(upgrader.exit_status() == 1000 + SIGPIPE);
}

TEST_CASE("a disposition of SIGPIPE that the program has chosen stays") {
  Upgrader upgrader([] {
    std::signal(SIGPIPE, SIG_IGN);
    agent_protocol_close(agent_protocol_open(nullptr));
    return ::raise(SIGPIPE);
  });

  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("a handler that the program sets during the conversation stays after its end") {
  const int signal = GENERATE(SIGTERM, SIGPIPE);
  Upgrader upgrader([signal] {
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    std::signal(signal, [](int) { report("its own"); });
    agent_protocol_close(agent);
    ::raise(signal);
    return 0;
  });

  CHECK(upgrader.is_reported() == "its own");
  CHECK(upgrader.exit_status() == 0);
}

namespace {

struct sigaction replaced {};

// Handles a signal in a program that has replaced the library's signal handler with its own.
// Reports the signal to the test, and then calls the replaced handler.
void tell_and_pass_on(int signal) {
  report("passed on");
  replaced.sa_handler(signal);
}

}  // namespace

TEST_CASE("a handler of the program's that calls the library's may do so after the end, too") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    struct sigaction action {};
    action.sa_handler = &tell_and_pass_on;
    ::sigaction(SIGTERM, &action, &replaced);
    agent_protocol_close(agent);
    // The library's descriptor has been closed, and its number now belongs to a different file. The
    // library must not write to that file.
    const int reused = ::memfd_create("reused", 0);
    ::dup2(reused, STDIN_FILENO);
    for (int fd = 10; fd < 16; ++fd)
      ::dup2(reused, fd);
    ::raise(SIGTERM);
    report(std::to_string(::lseek(reused, 0, SEEK_END)) + " bytes");
    return 0;
  });

  CHECK(upgrader.is_reported() == "passed on");
  CHECK(upgrader.is_reported() == "0 bytes");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("SIGTERM may come to any thread") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    Barrier barrier;
    std::thread other([&barrier] { barrier.wait(); });
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &term, nullptr);
    report("active");
    report(words(agent_protocol_wait(agent, -1)));
    barrier.open();
    other.join();
    return 0;
  });

  upgrader.lead_to_active();
  CHECK(upgrader.is_reported() == "active");
  upgrader.signal(SIGTERM);

  CHECK(upgrader.is_reported() == "stop stop_reason=4");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("after the end of the conversation SIGTERM does what it did before") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = run_until_active();
    agent_protocol_close(agent);
    ::raise(SIGTERM);
    return 0;
  });

  upgrader.lead_to_active();

  CHECK(upgrader.exit_status() == 1000 + SIGTERM);
}

}  // namespace agent_signals_test

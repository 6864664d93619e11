// Tests how the agent's library changes its own process: descriptors and environment.
#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <string>

#include "agent-protocol/agent_protocol.h"
#include "tests/decisions/unit/agent_bench.h"

namespace agent_process_test {

using namespace bench;

namespace {

// Returns the numbers of the open descriptors, as text. A `*` behind a number means that an
// executed program would inherit the descriptor.
std::string open_descriptors() {
  std::string text;
  for (int fd = 0; fd < 256; ++fd) {
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags < 0) continue;
    text += (text.empty() ? "" : " ") + std::to_string(fd);
    if ((flags & FD_CLOEXEC) == 0) text += "*";
  }
  return text;
}

bool same_file(int one, int other) {
  struct stat a {};
  struct stat b {};
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

bool is_null_device(int fd) {
  struct stat there {};
  struct stat null {};
  return ::fstat(fd, &there) == 0 && ::stat("/dev/null", &null) == 0 &&
         there.st_rdev == null.st_rdev && S_ISCHR(there.st_mode);
}
}  // namespace

TEST_CASE("the pipes become private, and stray prints go to standard error") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    std::printf("a stray print\n");
    std::fflush(stdout);
    report(is_null_device(STDIN_FILENO) ? "0 is /dev/null" : "0 is something else");
    report(same_file(STDOUT_FILENO, STDERR_FILENO) ? "1 is 2" : "1 is something else");
    run("echo a stray print of a program; cat");
    agent_protocol_status(agent, "done");
    return 0;
  });

  CHECK(upgrader.is_reported() == "a stray print");
  CHECK(upgrader.is_reported() == "0 is /dev/null");
  CHECK(upgrader.is_reported() == "1 is 2");
  CHECK(upgrader.is_reported() == "a stray print of a program");
  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1})");
  CHECK(upgrader.hears() == R"({"type":"status","text":"done"})");
  CHECK(upgrader.hears() == "(end)");
}

TEST_CASE("no descriptor of the library's is below ten or reaches a program that is executed") {
  Upgrader upgrader([] {
    for (int fd = 3; fd < 256; ++fd)
      ::close(fd);
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    report(open_descriptors());
    agent_protocol_close(agent);
    report(open_descriptors());
    return 0;
  });

  CHECK(upgrader.is_reported() == "0* 1* 2* 10 11 12 13");
  CHECK(upgrader.is_reported() == "0* 1* 2*");
}

TEST_CASE("if standard error is closed, stray prints go nowhere") {
  Upgrader upgrader([] {
    const int reports = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
    ::close(STDERR_FILENO);
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    const bool closed = ::fcntl(STDERR_FILENO, F_GETFD) < 0;
    const bool null = is_null_device(STDOUT_FILENO);
    ::dup2(reports, STDERR_FILENO);
    report(closed ? "2 is closed" : "2 is open");
    report(null ? "1 is /dev/null" : "1 is something else");
    return agent == nullptr ? 1 : 0;
  });

  CHECK(upgrader.is_reported() == "2 is closed");
  CHECK(upgrader.is_reported() == "1 is /dev/null");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("the lock's descriptor stays open, also after the end of the conversation, and private") {
  const std::string number = GENERATE("3", "7");
  Upgrader upgrader([&number] {
    for (int fd = 3; fd < 256; ++fd)
      ::close(fd);
    ::dup2(STDERR_FILENO, std::stoi(number));
    ::setenv("AGENT_PROTOCOL_LOCK_FD", number.c_str(), 1);
    agent_protocol_close(agent_protocol_open(nullptr));
    report(open_descriptors());
    return 0;
  });

  CHECK(upgrader.is_reported() == "0* 1* 2* " + number);
}

TEST_CASE("a lock that is no descriptor is passed over") {
  for (const char* number : {"", "x", "7x", "-1", "2", "99999999999", "77"}) {
    Upgrader upgrader([number] {
      for (int fd = 3; fd < 256; ++fd)
        ::close(fd);
      ::dup2(STDERR_FILENO, 7);
      ::setenv("AGENT_PROTOCOL_LOCK_FD", number, 1);
      agent_protocol_close(agent_protocol_open(nullptr));
      report(open_descriptors());
      return 0;
    });

    INFO(number);
    CHECK(upgrader.is_reported() == "0* 1* 2* 7*");
  }
}

TEST_CASE("the environment keeps nothing of the upgrader's") {
  Upgrader upgrader([] {
    ::setenv("AGENT_PROTOCOL_LOCK_FD", "77", 1);
    ::setenv("AGENT_PROTOCOL_LATER", "x", 1);
    ::setenv("AN_AGENT_PROTOCOL", "kept", 1);
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    ::unsetenv("LIBAGENT_PROTOCOL_PROCESS");  // the library's own variable: see agent_again_test.cc
    for (char** variable = environ; *variable != nullptr; ++variable) {
      if (std::strstr(*variable, "AGENT_PROTOCOL") != nullptr) report(*variable);
    }
    return agent_protocol_alone(agent);
  });

  CHECK(upgrader.is_reported() == "AN_AGENT_PROTOCOL=kept");
  CHECK(upgrader.is_reported() == "(end)");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("there is one handle at a time") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    errno = 0;
    agent_protocol_close(nullptr);
    report(agent_protocol_open(nullptr) == nullptr && errno == EBUSY ? "busy" : "opened");
    report(agent_protocol_error(nullptr));
    report(agent_protocol_error(agent));
    agent_protocol_close(agent);
    return 0;
  });

  CHECK(upgrader.is_reported() == "busy");
  CHECK(upgrader.is_reported() == "there is no open handle");
  CHECK(upgrader.is_reported() == "no call has failed");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("if descriptors have run out, nothing is opened, and nothing has changed") {
  Upgrader upgrader([] {
    for (int fd = 3; fd < 256; ++fd)
      ::close(fd);
    rlimit enough{};
    ::getrlimit(RLIMIT_NOFILE, &enough);
    // Opening the library needs the descriptors 10 to 13, so it must fail at every smaller limit.
    for (rlim_t limit = 3; limit <= 13; ++limit) {
      const rlimit few{.rlim_cur = limit, .rlim_max = enough.rlim_max};
      ::setrlimit(RLIMIT_NOFILE, &few);
      if (agent_protocol_open(nullptr) != nullptr) return 1;
      if (is_null_device(STDIN_FILENO) || open_descriptors() != "0* 1* 2*") return 2;
    }
    ::setrlimit(RLIMIT_NOFILE, &enough);
    agent_protocol_agent* agent = agent_protocol_open(nullptr);
    return agent == nullptr ? 3 : agent_protocol_alone(agent);
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1})");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("an agent whose pipes are not there cannot be opened, and keeps what is there") {
  Upgrader without_input([] {
    ::close(STDIN_FILENO);
    report(agent_protocol_open(nullptr) == nullptr && errno == EBADF ? "no input" : "opened");
    return 0;
  });
  Upgrader with_a_file([] {
    std::FILE* file = std::tmpfile();
    ::dup2(::fileno(file), STDIN_FILENO);
    report(agent_protocol_open(nullptr) == nullptr && errno == EPERM ? "no input" : "opened");
    report(same_file(STDIN_FILENO, ::fileno(file)) ? "0 is the file" : "0 is something else");
    std::printf("out\n");
    return 0;
  });

  CHECK(without_input.is_reported() == "no input");
  CHECK(with_a_file.is_reported() == "no input");
  CHECK(with_a_file.is_reported() == "0 is the file");
  CHECK(with_a_file.hears() == "out");
}

}  // namespace agent_process_test

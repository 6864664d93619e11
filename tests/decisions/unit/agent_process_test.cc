// Tests how the agent's library changes its own process: descriptors and environment. A process has
// at most one conversation with its upgrader. When the library is opened, it removes the upgrader's
// variables from the environment. If the process opens the library again, the library must refuse.
// It must not conclude from the environment that there is no upgrader, because the process would
// then activate itself beside the active agent.
#include <dirent.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <string>

#include "agent-protocol/agent.h"
#include "agent-protocol/agent_protocol.h"
#include "tests/decisions/unit/agent_bench.h"

namespace agent_process_test {

using namespace bench;

namespace {

// Returns the numbers of the open descriptors, as text. A `*` after a number means that the
// descriptor stays open when the process executes a program.
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
    ::unsetenv("LIBAGENT_PROTOCOL_PROCESS");  // the library itself has set this variable
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
    // agent_protocol_open() needs the descriptors 10 to 13. A limit of at most 13 forbids
    // descriptor 13, so the function must fail.
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

// ---- processes that open the library a second time

namespace {

constexpr const char* mark = "LIBAGENT_PROTOCOL_PROCESS";

// Calls agent_protocol_open() once more. Reports to the test whether the call was refused with
// ENOTCONN, and if it succeeded, whether an upgrader is there.
void open_again() {
  errno = 0;
  agent_protocol_agent* agent = agent_protocol_open("1.2");
  if (agent == nullptr) {
    report(errno == ENOTCONN ? "refused" : std::string("errno ") + std::to_string(errno));
    return;
  }
  const bool alone = agent_protocol_alone(agent) == 1;
  agent_protocol_ready(agent);
  report(alone ? words(agent_protocol_wait(agent, 0)) : "an upgrader is there");
  agent_protocol_close(agent);
}

// Replaces this process with a new run of this test program. The new run executes only one test of
// this file, which does not run by default. If `command` is not null, replaces this process with a
// shell that runs the command and has this program's path as its $0.
void execute_anew(const char* command = nullptr) {
  const char* self = "/proc/self/exe";
  if (command == nullptr) {
    ::execl(self, "agent", "opens in a program that was executed", nullptr);
  } else {
    char path[4096] = {};
    if (::readlink(self, path, sizeof path - 1) < 0) ::_exit(94);
    ::execl("/bin/sh", "sh", "-c", command, path, nullptr);
  }
  ::_exit(95);
}

std::string value_of_mark() {
  const char* value = std::getenv(mark);
  return value == nullptr ? "" : value;
}

void talk() {
  agent_protocol_close(agent_protocol_open("1.2"));
}

void talk_alone() {
  ::unsetenv("AGENT_PROTOCOL");
  talk();
}

}  // namespace

TEST_CASE("opens in a program that was executed", "[.]") {
  open_again();
  ::_exit(0);
}

TEST_CASE("an agent that opens, closes and opens again is refused, and not activated") {
  Upgrader upgrader([] {
    talk();
    open_again();
    ::clearenv();
    open_again();
    return 0;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  CHECK(upgrader.is_reported() == "refused");
  CHECK(upgrader.is_reported() == "refused");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("an agent that opens again is refused in C++ too") {
  using agent_protocol::Agent;
  Upgrader upgrader([] {
    Agent::open("1.2").reset();
    errno = 0;
    report(!Agent::open("1.2") && errno == ENOTCONN ? "refused" : "opened");
    return 0;
  });

  CHECK(upgrader.is_reported() == "refused");
}

TEST_CASE("an agent that executes itself anew cannot open again, closed or not") {
  const bool closes = GENERATE(false, true);
  Upgrader upgrader([closes] {
    agent_protocol_agent* agent = agent_protocol_open("1.2");
    if (closes) agent_protocol_close(agent);
    execute_anew();
    return 0;
  });

  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  CHECK(upgrader.hears() == "(end)");
  CHECK(upgrader.is_reported() == "refused");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("a process that was forked from an agent cannot open either") {
  Upgrader upgrader([] {
    talk();
    const pid_t child = ::fork();
    if (child == 0) {
      open_again();
      ::_exit(0);
    }
    return status_of(child);
  });

  CHECK(upgrader.is_reported() == "refused");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("the descriptor polls readable if the upgrader's answer came while the agent opened") {
  Barrier answered;
  Upgrader upgrader([&answered] {
    answered.wait();
    agent_protocol_agent* agent = agent_protocol_open("1.2");
    report(polls_readable(agent_protocol_fd(agent)) ? "readable" : "not readable");
    return 0;
  });
  upgrader.say(welcome);
  answered.open();

  CHECK(upgrader.is_reported() == "readable");
}

TEST_CASE("a process that was forked from an agent sends nothing, and takes no message") {
  Upgrader upgrader([] {
    agent_protocol_agent* agent = agent_protocol_open("1.2");
    pollfd input{.fd = agent_protocol_fd(agent), .events = POLLIN, .revents = 0};
    ::poll(&input, 1, agent_patience_ms);
    const pid_t child = ::fork();
    if (child == 0) {
      report_call(agent, "ready", agent_protocol_ready(agent));
      report_call(agent, "status", agent_protocol_status(agent, "at work"));
      report_call(agent, "unfit", agent_protocol_unfit(agent, "no disk"));
      report(words(agent_protocol_next(agent)));
      report(words(agent_protocol_wait(agent, 1)));
      ::_exit(0);
    }
    if (status_of(child) != 0) ::_exit(94);
    report(words(agent_protocol_next(agent)));
    return 0;
  });
  upgrader.say(welcome);

  CHECK(upgrader.is_reported() ==
        "ready: cannot say ready: this process is a fork of the agent's process");
  CHECK(upgrader.is_reported() ==
        "status: cannot show a status: this process is a fork of the agent's process");
  CHECK(upgrader.is_reported() ==
        "unfit: cannot say unfit: this process is a fork of the agent's process");
  CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.is_reported() == "nothing");
  CHECK(upgrader.is_reported() == "welcome role=1 generation=1");
  CHECK(upgrader.hears() == R"({"type":"hello","protocol":1,"version":"1.2"})");
  CHECK(upgrader.hears() == "(end)");
}

TEST_CASE("a program that an agent starts is a process of its own, and runs alone") {
  Upgrader upgrader([] {
    agent_protocol_open("1.2");
    const pid_t child = ::fork();
    if (child == 0) execute_anew();
    return status_of(child);
  });

  CHECK(upgrader.is_reported() == "activate");
  CHECK(upgrader.exit_status() == 0);
}

TEST_CASE("a program that was started without an upgrader may open as often as it likes") {
  Upgrader nobody([] {
    talk_alone();
    open_again();
    execute_anew();
    return 0;
  });

  CHECK(nobody.is_reported() == "activate");
  CHECK(nobody.is_reported() == "activate");
  CHECK(nobody.exit_status() == 0);
}

TEST_CASE("a process that is given an upgrader once more may talk to it") {
  Upgrader upgrader([] {
    const int input = ::dup(STDIN_FILENO);
    const int output = ::dup(STDOUT_FILENO);
    talk();
    ::dup2(input, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::setenv("AGENT_PROTOCOL", "1", 1);
    open_again();
    return 0;
  });

  CHECK(upgrader.is_reported() == "an upgrader is there");
}

TEST_CASE("the mark of an agent that has started this one is replaced") {
  Upgrader upgrader([] {
    ::setenv(mark, "1 1", 1);
    talk();
    execute_anew();
    return 0;
  });

  CHECK(upgrader.is_reported() == "refused");
}

TEST_CASE("an open that failed may be made again") {
  Upgrader upgrader([] {
    const int input = ::dup(STDIN_FILENO);
    ::close(STDIN_FILENO);
    report(agent_protocol_open("1.2") == nullptr ? "no input" : "opened");
    ::dup2(input, STDIN_FILENO);
    open_again();
    return 0;
  });

  CHECK(upgrader.is_reported() == "no input");
  CHECK(upgrader.is_reported() == "an upgrader is there");
}

TEST_CASE("the mark of another process that had this one's number says nothing of this one") {
  const std::string command =
      GENERATE(as<std::string>(),
               // The library notes in this variable the pid and the start time of a process that
               // has had its conversation with an upgrader. None of the five values is that of this
               // process. The first has a wrong start time, the second a wrong pid, and the library
               // never writes values like the last three.
               R"(LIBAGENT_PROTOCOL_PROCESS="$$ 1")",
               R"(LIBAGENT_PROTOCOL_PROCESS="1${LIBAGENT_PROTOCOL_PROCESS}")",
               R"(LIBAGENT_PROTOCOL_PROCESS="$$")", R"(LIBAGENT_PROTOCOL_PROCESS="")",
               R"(LIBAGENT_PROTOCOL_PROCESS="x")");
  Upgrader upgrader([&command] {
    talk();
    execute_anew((command + R"( exec "$0" "opens in a program that was executed")").c_str());
    return 0;
  });

  INFO(command);
  CHECK(upgrader.is_reported() == "activate");
}

TEST_CASE("the mark names the process and its start, and an unknown start is any") {
  Upgrader upgrader([] {
    talk();
    report(value_of_mark().starts_with(std::to_string(::getpid()) + " ") ? "named" : "not named");
    execute_anew(R"(LIBAGENT_PROTOCOL_PROCESS="$$ 0" exec "$0" )"
                 R"("opens in a program that was executed")");
    return 0;
  });

  CHECK(upgrader.is_reported() == "named");
  CHECK(upgrader.is_reported() == "refused");
}

namespace {

// Returns the start time of this process as the kernel shows it. Works only if the process's name
// has no blanks.
std::string start_of_process() {
  std::ifstream stat("/proc/self/stat");
  std::string field;
  for (int number = 1; number <= 22; ++number)
    stat >> field;
  return field;
}

}  // namespace

TEST_CASE("the mark has the start of the process, whatever its name") {
  const std::string name = GENERATE("agent", ") R 1 2", "a b)", "has a blank ");
  Upgrader upgrader([&name] {
    ::prctl(PR_SET_NAME, name.c_str());
    talk();
    ::prctl(PR_SET_NAME, "agent");
    const bool found = value_of_mark() == std::to_string(::getpid()) + " " + start_of_process();
    report(found ? "found" : value_of_mark());
    return 0;
  });

  INFO(name);
  CHECK(upgrader.is_reported() == "found");
}

TEST_CASE("alone, a program's environment is left as it is") {
  Upgrader nobody([] {
    talk_alone();
    report("mark '" + value_of_mark() + "'");
    return 0;
  });

  CHECK(nobody.is_reported() == "mark ''");
}

}  // namespace agent_process_test

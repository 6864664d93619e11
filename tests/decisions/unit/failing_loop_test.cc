// Tests channels, agents and the event loop in two cases: the kernel or libuv refuses a call, which
// is rare in reality, or the supervisor gives an order for an agent that has already exited.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <uv.h>

#include "base/descriptors.h"
#include "base/errno_name.h"
#include "base/lock.h"
#include "tests/decisions/unit/agents_on_a_loop.h"
#include "tests/decisions/unit/blocked_sigchld.h"
#include "tests/decisions/unit/failing_calls.h"
#include "tests/decisions/unit/run_outcome.h"
#include "upgrader/shell/init_system.h"
#include "upgrader/shell/log.h"
#include "upgrader/shell/loop.h"

namespace failing_loop_test {

using namespace test;

namespace {

agent_protocol::Activate large_message() {
  return {.state = std::string(30'000, 'x'), .clean = false};
}

// A channel over two pipes. The test has the other ends of the pipes.
struct TwoPipes {
  TwoPipes() {
    REQUIRE(uv_loop_init(&loop) == 0);
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    agent_input.reset(ends[0]);
    input.reset(ends[1]);
    REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    output.reset(ends[0]);
    agent_output.reset(ends[1]);
  }
  ~TwoPipes() {
    while (uv_run(&loop, UV_RUN_DEFAULT) != 0) {
    }
    CHECK(uv_loop_close(&loop) == 0);
  }
  TwoPipes(const TwoPipes&) = delete;
  TwoPipes& operator=(const TwoPipes&) = delete;
  // Makes a channel that uses the two pipes. The channel must be destroyed before this object.
  [[nodiscard]] std::unique_ptr<Channel> channel() {
    return std::make_unique<Channel>(
        &loop, std::move(input), std::move(output), [] {}, [] {});
  }
  uv_loop_t loop{};
  OwnedFd agent_input, input, output, agent_output;
};

// Reads all bytes that are available now from a nonblocking descriptor.
std::string read_while_there(int fd) {
  std::string text;
  char bytes[4'096];
  for (ssize_t count = 0; (count = ::read(fd, bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<std::size_t>(count));
  return text;
}

RunOutcome outcome_of_failing(const Options& options, const Call call, int error, int after = 0) {
  const Failing failing(call, error, after);
  const RunOutcome outcome = outcome_of_running(options);
  CHECK(failing.fired());
  return outcome;
}

}  // namespace

TEST_CASE("a channel takes interruptions, and a broken pipe for its end") {
  TwoPipes pipes;
  const auto channel = pipes.channel();
  {
    const Failing writing(Call::write, EINTR);
    CHECK(channel->send("x"));
    CHECK(writing.fired());
  }
  {
    const Failing writing(Call::write, EPIPE);
    CHECK_FALSE(channel->send("y"));
  }
  CHECK_FALSE(channel->flush());
  CHECK_FALSE(channel->send("z"));

  const Failing reading(Call::read, EINTR);
  CHECK(channel->read(100) == Channel::Read::nothing);
  CHECK(reading.fired());
  const Failing broken(Call::read, EIO);
  CHECK(channel->read(100) == Channel::Read::end);
}

TEST_CASE("a channel that is closed, or cannot be asked, holds nothing") {
  TwoPipes pipes;
  const auto channel = pipes.channel();
  REQUIRE(::write(pipes.agent_output.get(), "abc", 3) == 3);
  CHECK(channel->held() == 3);
  {
    const Failing failing(Call::ioctl, ENOTTY);
    CHECK(channel->held() == 0);
  }

  channel->close_output();

  CHECK(channel->held() == 0);
  CHECK(channel->read(100) == Channel::Read::nothing);
}

TEST_CASE("unread bytes are kept up to their limit, and then the input is closed") {
  TwoPipes pipes;
  const auto channel = pipes.channel();
  const std::string line(60'000, 'x');

  int taken = 0;
  while (channel->send(line))
    ++taken;

  // The channel accepts three lines. The first line fits into the pipe, so only the second and the
  // third line count against the channel's limit.
  CHECK(taken == 3);
  CHECK(channel->unsent() == 0);
}

TEST_CASE("an agent whose pipes cannot be watched has closed its output") {
  Bench bench;
  const int after = GENERATE(0, 1);
  {
    const Failing failing(Call::uv_poll_init, ENOMEM, after);
    CHECK_FALSE(bench.agents->start(1, does_nothing()));
    CHECK(failing.fired());
  }

  CHECK(bench.count<OutputClosed>() == 1);
  bench.end(1);
}

TEST_CASE("orders to an agent that does not exist, or is gone, are dropped") {
  Bench bench;
  const Failing killing(Call::kill, ESRCH);
  bench.during = [&](const Event&) {
    bench.agents->send(1, agent_protocol::Error{});
    CHECK(bench.agents->signal(1, SIGTERM) == 0);
  };
  CHECK(bench.agents->pid_of(1) == -1);
  CHECK(bench.agents->unread(1) == 0);
  bench.agents->send(1, agent_protocol::Error{});
  CHECK(bench.agents->signal(1, SIGTERM) == 0);

  // The agent writes a line and exits, and the upgrader reaps the agent before it has read the
  // line. The upgrader must report the line first, and then the exit.
  CHECK_FALSE(bench.agents->start(1, shell("echo '{\"type\":\"ready\"}'")));
  REQUIRE(ends(bench.agents->pid_of(1)));
  bench.agents->reap_exits();

  CHECK_FALSE(killing.fired());
  REQUIRE(bench.events.size() == 2);
  CHECK(std::get<MessageReceived>(bench.events[0]).posthumous);
  CHECK(std::get<ProcessExited>(bench.events[1]).ending == Ending{Ending::How::exited, 0});
}

TEST_CASE("an agent that does not read is told to have closed its input when it is too much") {
  Bench bench;
  CHECK_FALSE(bench.agents->start(1, does_nothing()));

  for (int count = 0; count < 8 && bench.count<InputClosed>() == 0; ++count)
    bench.agents->send(1, large_message());

  REQUIRE(bench.count<InputClosed>() == 1);
  CHECK(bench.agents->send(1, large_message()) == Sent::lost);
  bench.end(1);
}

TEST_CASE("an agent that must take its replies first is not read from unless it is late") {
  Bench bench;
  CHECK_FALSE(bench.agents->start(1, shell("echo stray; exec tail -f /dev/null")));
  for (int count = 0; count < 4; ++count)
    bench.agents->send(1, large_message());
  bench.agents->send(1, agent_protocol::Error{});

  for (int look = 0; look < 10; ++look) {
    bench.agents->read_everything({});
    uv_run(&bench.loop, UV_RUN_NOWAIT);
  }
  CHECK(bench.events.empty());
  for (int look = 0; bench.events.empty() && look < patience_ms; ++look) {
    bench.agents->read_everything({1});
    ::poll(nullptr, 0, 1);
  }

  CHECK(bench.count<StrayReceived>() == 1);
  bench.end(1);
}

TEST_CASE("an agent that must take its replies first is not even looked at") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.fill();
  bench.agents->send(1, order_of(unsent_pause_bytes + 1));
  agent.say("x\n");
  const Failing reading(Call::read, EAGAIN);

  bench.turn();

  CHECK_FALSE(reading.fired());
}

TEST_CASE("a message that an agent reads in part is sent on until it closes its input") {
  Bench bench;
  CHECK_FALSE(bench.agents->start(
      1, shell("head -c 70000 >/dev/null; echo taken; exec </dev/null tail -f /dev/null")));
  const pid_t group = bench.agents->pid_of(1);
  REQUIRE(::kill(-group, SIGSTOP) == 0);  // the agent reads nothing until SIGCONT
  for (int count = 0; count < 5; ++count)
    bench.agents->send(1, large_message());
  REQUIRE(bench.count<InputClosed>() == 0);
  REQUIRE(::kill(-group, SIGCONT) == 0);

  bench.wait_for<InputClosed>();
  bench.wait_for<StrayReceived>();

  bench.end(1);
}

TEST_CASE("a pipe that cannot be read when it is looked at keeps what it holds") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.say("stray\n");
  const Failing failing(Call::read, EAGAIN);

  bench.agents->read_everything({1});
  CHECK(bench.events.empty());
  bench.agents->read_everything({1});

  CHECK(bench.count<StrayReceived>() == 1);
}

TEST_CASE("so many strangers are reaped in one turn of the loop, and the rest in the next") {
  Bench bench;
  for (int count = 0; count < strangers_a_turn + 2; ++count) {
    const pid_t stranger = ::fork();
    if (stranger == 0) ::_exit(0);
    REQUIRE(ends(stranger));
  }

  bench.agents->reap_strangers();
  CHECK(ended_child());
  uv_run(&bench.loop, UV_RUN_NOWAIT);
  CHECK_FALSE(ended_child());
  // uv_run() returns 0 only if no handle is left in the loop.
  CHECK(uv_run(&bench.loop, UV_RUN_NOWAIT) == 0);
}

TEST_CASE("a loop that cannot be set up ends with a status of its own") {
  Options options;
  options.agent = "/bin/true";
  const Call call = GENERATE(Call::pipe2, Call::uv_loop_init, Call::uv_timer_init, Call::signalfd,
                             Call::uv_poll_init);

  const RunOutcome outcome = outcome_of_failing(options, call, ENOMEM);

  CHECK(outcome.status == exit_own_failure);
  CHECK(outcome.told ==
        "upgrader: error: cannot set the event loop up: Cannot allocate memory (ENOMEM)\n");
}

TEST_CASE(
    "an agent that is gone ends the upgrader, whether the lock is free or has to be waited for") {
  const TemporaryDirectory directory;
  Options options;
  options.agent = "/bin/true";
  options.lock_file = directory / "lock";
  Lock holder(*options.lock_file, 91);
  if (GENERATE(false, true)) REQUIRE(holder.try_lock() == 0);
  Lock lock(*options.lock_file, 90);
  const Failing failing(Call::realpath, ENOENT);

  const RunOutcome outcome = outcome_of_running(options, LogLevel::error, &lock);

  CHECK(failing.fired());
  CHECK(outcome.status == exit_not_found);
  CHECK(outcome.told == "upgrader: error: /bin/true: No such file or directory (ENOENT)\n");
}

TEST_CASE("a link that is gone when it is opened ends the upgrader") {
  const TemporaryDirectory directory;
  directory.link("agent", "/bin/true");
  ::setenv("PATH", directory.path().c_str(), 1);
  Options options;
  options.agent = "agent";
  options.relink = true;

  // The first two calls of stat() are for the link and for the program's loader. The third call
  // fails.
  const RunOutcome outcome = outcome_of_failing(options, Call::stat, ENOENT, 2);

  CHECK(outcome.status == exit_own_failure);
  CHECK(outcome.told == "upgrader: error: agent: no such program in PATH\n");
}

TEST_CASE("an agent that is no link ends the upgrader that is to relink") {
  Options options;
  options.agent = std::filesystem::canonical("/bin/true");
  options.relink = true;

  const RunOutcome outcome = outcome_of_running(options);

  CHECK(outcome.status == exit_own_failure);
  CHECK(outcome.told ==
        "upgrader: error: " + options.agent + ": is no symbolic link, which --relink needs\n");
}

TEST_CASE("a signal that the kernel does not let through is told in the log") {
  const TemporaryDirectory directory;
  const std::string log = directory.write("log", "");
  const OwnedFd descriptor(::open(log.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  Logbook logbook(LogLevel::error, nullptr, descriptor.get());
  InitSystem init_system(nullptr);
  Options options;
  options.agent = "/bin/sh";
  // The agent is a shell loop that ends when the log says that the agent cannot be signalled.
  options.args = {"-c", "until grep -q cannot " + log + "; do :; done"};
  options.defaults.start_timeout = Duration(1);
  const Failing failing(Call::kill, EPERM);
  Loop loop(options, logbook, init_system, nullptr);

  CHECK(loop.run({}) == exit_own_failure);

  CHECK(failing.fired());
  CHECK(content_of(log).find("upgrader: error: generation 1: cannot send it signal 9: "
                             "Operation not permitted (EPERM)\n") != std::string::npos);
}

TEST_CASE("a control directory that another upgrader leaves in time is taken") {
  const TemporaryDirectory directory;
  Options options;
  options.agent = directory / "none";
  options.control_directory = directory / "ctl";
  const Failing failing(Call::flock, EWOULDBLOCK);

  const RunOutcome outcome = outcome_of_running(options);

  CHECK(failing.fired());
  CHECK(outcome.status == 127);
  CHECK(content_of(directory / "ctl/status.json").find("\"exit_status\":127") != std::string::npos);
}

TEST_CASE("a control directory that another upgrader keeps ends the upgrader") {
  const TemporaryDirectory directory;
  Options options;
  options.agent = directory / "none";
  options.control_directory = directory / "ctl";
  const Failing failing(Call::flock, EWOULDBLOCK, 0, 1'000'000);

  const RunOutcome outcome = outcome_of_running(options);

  CHECK(outcome.status == 125);
  CHECK(outcome.told.find("ctl: another upgrader uses it") != std::string::npos);
  CHECK(content_of(directory / "ctl/status.json") == "");
}

TEST_CASE("a first agent for which there is no process ends the upgrader with its own failure") {
  Options options;
  options.agent = "/bin/true";
  const Call call = GENERATE(Call::pipe2, Call::clone);
  const int error = GENERATE(EMFILE, EPERM);

  // The first pipe2() is a call of the event loop. The second pipe2() is for the agent, and fails.
  const Failing failing(call, error, call == Call::pipe2 ? 1 : 0);
  const RunOutcome outcome = outcome_of_running(options, LogLevel::info);

  CHECK(failing.fired());
  CHECK(outcome.status == exit_own_failure);
  CHECK(outcome.told.find("started as process") == std::string::npos);
}

TEST_CASE("a first agent that the kernel refuses is not executable, unless something is short") {
  const TemporaryDirectory directory;
  Options options;
  options.agent = directory.write("agent", "#!/bin/true\n");
  const int error = GENERATE(ENOENT, EMFILE);
  // The first two calls of stat() are for the script's interpreter and for the interpreter's
  // loader. The third is made by the child, just before it executes the script, and fails.
  const Failing failing(Call::stat, error, 2);

  CHECK(outcome_of_running(options).status ==
        (error == EMFILE ? exit_own_failure : exit_not_executable));
}

TEST_CASE("an init that listens where no socket can be is told nothing") {
  InitSystem init_system(("/" + std::string(200, 'x')).c_str());

  InitNews news;
  news.active = true;
  init_system.tell(news, Time{1});
}

TEST_CASE("a log that nobody can read any more, and cannot be opened anew, costs its lines") {
  int ends[2];
  ::signal(SIGPIPE, SIG_IGN);
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const OwnedFd writer(ends[1]);
  const Failing failing(Call::open, ENXIO, 0, 2);
  Logbook logbook(LogLevel::info, nullptr, writer.get());
  {
    const Failing interrupted(Call::syscall, EINTR);
    logbook.info("here");
    CHECK(interrupted.fired());
    CHECK(logbook.lost() == 0);
  }
  ::close(ends[0]);

  logbook.info("nobody is here");

  CHECK(logbook.lost() == 1);
}

TEST_CASE("a log is opened anew once") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const OwnedFd reader(ends[0]);
  const OwnedFd writer(ends[1]);
  Logbook logbook(LogLevel::info, nullptr, writer.get());
  const Failing second(Call::open, ENXIO, 1);

  logbook.info("here");
  logbook.info("here");

  CHECK_FALSE(second.fired());
  CHECK(logbook.lost() == 0);
}

TEST_CASE("the rest of a line is written before the next line, which is lost if it cannot be") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
  const OwnedFd reader(ends[0]);
  const OwnedFd writer(ends[1]);
  const int smallest = 1;
  REQUIRE(::setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &smallest, sizeof smallest) == 0);
  Logbook logbook(LogLevel::info, nullptr, writer.get());
  // Logs a short line and a longer one, again and again, until the socket accepts only a part of
  // the longer one.
  std::string line;
  std::string taken = "\n";
  for (std::size_t bytes = 400; taken.ends_with('\n') && bytes < 4'000; bytes += 100) {
    line = std::string(bytes, 'x');
    logbook.info("short");
    logbook.info(line);
    taken = read_while_there(reader.get());
  }
  REQUIRE_FALSE(taken.ends_with('\n'));

  {
    const Failing failing(Call::send, EAGAIN);
    logbook.info("lost");
    CHECK(failing.fired());
  }
  logbook.info("next");

  CHECK(taken + read_while_there(reader.get()) ==
        "upgrader: short\nupgrader: " + line +
            "\nupgrader: warning: 1 line of this log lost: standard error did not take them\n"
            "upgrader: next\n");
}

TEST_CASE("an error is told in words, too") {
  CHECK(in_words(SystemError{ENOENT}) == "No such file or directory (ENOENT)");
}

TEST_CASE("an error that has no name is told by its number") {
  CHECK(errno_name(ENOENT) == "ENOENT");
  CHECK(errno_name(9'999) == "E9999");
}

}  // namespace failing_loop_test

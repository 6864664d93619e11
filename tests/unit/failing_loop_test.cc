// Channels, agents and the loop, where the kernel or libuv refuses what it hardly ever does, and
// where an agent is gone that is still spoken of.
#include <fcntl.h>
#include <signal.h>
#include <uv.h>

#include "tests/unit/failing_calls.h"
#include "tests/unit/processes.h"
#include "upgrader/agents.h"
#include "upgrader/descriptors.h"
#include "upgrader/errno_name.h"
#include "upgrader/init_system.h"
#include "upgrader/log.h"
#include "upgrader/loop.h"

using namespace upgrader;

namespace {

Program shell(const std::string& text) {
  return std::get<Program>(check_program("/bin/sh", "sh", {"-c", text}));
}

// Agents on a loop of their own; what happens is kept.
struct Bench {
  Bench() {
    ::signal(SIGPIPE, SIG_IGN);  // as the upgrader does
    REQUIRE(uv_loop_init(&loop) == 0);
    agents = Agents::make(&loop, {}, [this](const Event& event) {
      if (during) during(event);
      events.push_back(event);
    });
    REQUIRE(agents);
  }
  ~Bench() {
    agents.reset();
    while (uv_run(&loop, UV_RUN_DEFAULT) != 0) {
    }
    uv_loop_close(&loop);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  template <class Kind>
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(
        std::count_if(events.begin(), events.end(),
                      [](const Event& event) { return std::holds_alternative<Kind>(event); }));
  }
  // Turns the loop until such an event has come.
  template <class Kind>
  void wait_for() {
    for (int turn = 0; count<Kind>() == 0 && turn < 10 * patience_ms; ++turn) {
      uv_run(&loop, UV_RUN_NOWAIT);
      agents->take_in_exits();
      ::poll(nullptr, 0, 1);
    }
    REQUIRE(count<Kind>() > 0);
  }
  // Kills the agent, and waits for its end.
  void end(Generation generation) {
    send_signal(agents->pid_of(generation), SIGKILL);
    wait_for<ProcessExited>();
  }

  uv_loop_t loop{};
  std::vector<Event> events;
  std::function<void(const Event&)> during;
  std::unique_ptr<Agents> agents;
};

agent_protocol::Activate large_message() {
  return {.state = std::string(30'000, 'x'), .clean = false};
}

constexpr const char* does_nothing = "exec tail -f /dev/null";

// A channel of two pipes, of which the test has the other ends.
struct TwoPipes {
  TwoPipes() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    agent_input.reset(ends[0]);
    input.reset(ends[1]);
    REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    output.reset(ends[0]);
    agent_output.reset(ends[1]);
  }
  [[nodiscard]] std::unique_ptr<Channel> channel() {
    return std::make_unique<Channel>(
        std::move(input), std::move(output), [] {}, [] {});
  }
  OwnedFd agent_input, input, output, agent_output;
};

int status_of_running(const Options& options, const Call call, int error, int after = 0) {
  Logbook logbook(LogLevel::error, nullptr, ::open("/dev/null", O_WRONLY | O_CLOEXEC));
  InitSystem init_system(nullptr);
  const Failing failing(call, error, after);
  Loop loop(options, logbook, init_system, nullptr);
  const int status = loop.run({});
  CHECK(failing.fired());
  return status;
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

TEST_CASE("what nobody reads is kept up to its limit, and then the input is closed") {
  TwoPipes pipes;
  const auto channel = pipes.channel();
  const std::string line(60'000, 'x');

  int taken = 0;
  while (channel->send(line))
    ++taken;

  CHECK(taken == 3);  // the first is in the pipe, or nearly
  CHECK(channel->unsent() == 0);
}

TEST_CASE("agents cannot be had without a handle of libuv") {
  uv_loop_t loop{};
  REQUIRE(uv_loop_init(&loop) == 0);
  {
    const Failing failing(Call::uv_idle_init, ENOMEM);
    CHECK_FALSE(Agents::make(&loop, {}, {}));
  }
  CHECK(uv_loop_close(&loop) == 0);
}

TEST_CASE("an agent whose pipes cannot be watched has closed its output") {
  Bench bench;
  const int after = GENERATE(0, 1);
  {
    const Failing failing(Call::uv_poll_init, ENOMEM, after);
    CHECK_FALSE(bench.agents->start(1, shell(does_nothing)));
    CHECK(failing.fired());
  }

  CHECK(bench.count<OutputClosed>() == 1);
  bench.end(1);
}

TEST_CASE("what is for an agent that is not there, or is gone, is dropped") {
  Bench bench;
  bench.during = [&](const Event&) {
    bench.agents->send(1, agent_protocol::Error{});
    bench.agents->signal(1, SIGTERM);
  };
  CHECK(bench.agents->pid_of(1) == -1);
  bench.agents->send(1, agent_protocol::Error{});
  bench.agents->signal(1, SIGTERM);

  // Its line is found with its exit: it is told when the process has been reaped.
  CHECK_FALSE(bench.agents->start(1, shell("echo '{\"type\":\"ready\"}'")));
  REQUIRE(ends(bench.agents->pid_of(1)));
  bench.agents->take_in_exits();

  REQUIRE(bench.events.size() == 2);
  CHECK(std::get<MessageReceived>(bench.events[0]).posthumous);
  CHECK(std::get<ProcessExited>(bench.events[1]).ending == Ending{Ending::How::exited, 0});
}

TEST_CASE("an agent that does not read is told to have closed its input when it is too much") {
  Bench bench;
  CHECK_FALSE(bench.agents->start(1, shell(does_nothing)));

  for (int count = 0; count < 8 && bench.count<InputClosed>() == 0; ++count)
    bench.agents->send(1, large_message());

  REQUIRE(bench.count<InputClosed>() == 1);
  CHECK(std::get<InputClosed>(bench.events[0]).activate_lost);
  bench.end(1);
}

TEST_CASE("an agent that must take its replies first is not read from unless it is late") {
  Bench bench;
  CHECK_FALSE(bench.agents->start(1, shell("echo stray; exec tail -f /dev/null")));
  for (int count = 0; count < 4; ++count)
    bench.agents->send(1, large_message());
  bench.agents->send(1, agent_protocol::Error{});

  for (int look = 0; look < 10; ++look) {
    bench.agents->take_in_everything({});
    uv_run(&bench.loop, UV_RUN_NOWAIT);
  }
  CHECK(bench.events.empty());
  for (int look = 0; bench.events.empty() && look < patience_ms; ++look) {
    bench.agents->take_in_everything({1});
    ::poll(nullptr, 0, 1);
  }

  CHECK(bench.count<StrayReceived>() == 1);
  bench.end(1);
}

TEST_CASE("what an agent takes in part is sent on until it closes its input") {
  Bench bench;
  CHECK_FALSE(bench.agents->start(
      1, shell("head -c 70000 >/dev/null; echo taken; exec </dev/null tail -f /dev/null")));
  for (int count = 0; count < 5; ++count)
    bench.agents->send(1, large_message());

  bench.wait_for<InputClosed>();
  bench.wait_for<StrayReceived>();

  bench.end(1);
}

TEST_CASE("a pipe that cannot be read when it is looked at keeps what it holds") {
  Bench bench;
  CHECK_FALSE(bench.agents->start(1, shell("echo stray; exec tail -f /dev/null")));
  uv_run(&bench.loop, UV_RUN_NOWAIT);
  const Failing failing(Call::read, EAGAIN, 0, 1);

  for (int look = 0; bench.events.empty() && look < patience_ms; ++look) {
    bench.agents->take_in_everything({1});
    ::poll(nullptr, 0, 1);
  }

  CHECK(bench.count<StrayReceived>() == 1);
  bench.end(1);
}

TEST_CASE("of any number of strangers so many are reaped in one turn, and the rest in the next") {
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
  // At rest there is nothing to be done any more.
  CHECK(uv_run(&bench.loop, UV_RUN_NOWAIT) == 0);
}

TEST_CASE("a loop that cannot be set up ends with a status of its own") {
  Options options;
  options.agent = "/bin/true";
  const Call call = GENERATE(Call::uv_loop_init, Call::uv_timer_init, Call::uv_idle_init,
                             Call::signalfd, Call::uv_poll_init);

  CHECK(status_of_running(options, call, ENOMEM) == exit_own_failure);
}

TEST_CASE("an agent that is gone at the second look ends the upgrader, as at the first") {
  Options options;
  options.agent = "/bin/true";

  CHECK(status_of_running(options, Call::realpath, ENOENT, 1) == exit_not_found);
}

TEST_CASE("a link that is gone when it is opened ends the upgrader") {
  const TemporaryDirectory directory;
  directory.link("agent", "/bin/true");
  ::setenv("PATH", directory.path().c_str(), 1);
  Options options;
  options.agent = "agent";
  options.relink = true;

  // The link, and the loader, have been looked at before.
  CHECK(status_of_running(options, Call::stat, ENOENT, 2) == exit_own_failure);
}

TEST_CASE("an init that listens where no socket can be is told nothing") {
  InitSystem init_system(("/" + std::string(200, 'x')).c_str());

  InitNews news;
  news.active = true;
  init_system.tell(news, Time{1});
}

TEST_CASE("a log that nobody can read any more, and cannot be opened anew, costs its lines") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const OwnedFd writer(ends[1]);
  const Failing failing(Call::open, ENXIO);
  Logbook logbook(LogLevel::info, nullptr, writer.get());
  {
    const Failing interrupted(Call::write, EINTR);
    logbook.info("here");
    CHECK(interrupted.fired());
    CHECK(logbook.lost() == 0);
  }
  ::close(ends[0]);

  logbook.info("nobody is here");

  CHECK(logbook.lost() == 1);
}

TEST_CASE("an error that has no name is told by its number") {
  CHECK(errno_name(ENOENT) == "ENOENT");
  CHECK(errno_name(9'999) == "E9999");
}

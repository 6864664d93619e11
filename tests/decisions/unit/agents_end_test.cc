// Tests how the ends of agents are reported: an agent's last messages come before its exit, the
// newest agent comes first, and the events of the other agents do not have to wait long.
#include "tests/decisions/unit/agents_on_a_loop.h"

namespace agents_end_test {

using namespace test;

namespace {

// Returns text of `bytes` bytes in all, made of lines of 1,024 bytes each.
std::string long_lines(std::size_t bytes) {
  std::string text;
  while (text.size() < bytes)
    text += std::string(1'023, 'x') + "\n";
  return text;
}

}  // namespace

TEST_CASE("exits are told newest first, when all have been reaped") {
  Bench bench;
  const Puppet one(bench, 1);
  const Puppet two(bench, 2);
  const Puppet three(bench, 3);
  bench.kill(1);
  bench.kill(3);
  bench.during = [&](const Event& event) {
    if (std::holds_alternative<ProcessExited>(event)) CHECK(ended_child() == std::nullopt);
  };

  bench.agents->reap_exits();

  CHECK(exited(bench.events) == std::vector<Generation>{3, 1});
  CHECK(bench.agents->pid_of(2) > 0);
}

TEST_CASE("an agent found dead when its output is read reports its last words, then its end") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.say("{\"type\":\"ready\"}\ncut off");
  bench.kill(1);

  bench.turn();

  REQUIRE(bench.events.size() == 3);
  CHECK(std::get<MessageReceived>(bench.events[0]).posthumous);
  CHECK(std::get<StrayReceived>(bench.events[1]).text == "cut off");
  const auto& end = std::get<ProcessExited>(bench.events[2]);
  CHECK(end.generation == 1);
  CHECK(end.ending == Ending{Ending::How::signalled, SIGKILL});
  CHECK(bench.agents->pid_of(1) == -1);
}

TEST_CASE("the dead are answered nothing, and what they said wrong is not told") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.say("{\"type\":\"unheard\"}\n{\"type\":\"status\",\"text\":1}\n");
  bench.kill(1);

  bench.agents->reap_exits();

  CHECK(bench.events.size() == 1);
  CHECK(exited(bench.events) == std::vector<Generation>{1});
}

TEST_CASE("all that a pipe holds at an exit is taken in, however much the agent let it hold") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.enlarge_output(last_words_bytes_max);
  agent.say(long_lines(16 * look_bytes_max - 1'024));
  agent.say(R"({"type":"stopped"})"
            "\n");
  bench.kill(1);

  bench.agents->reap_exits();
  bench.turn_until_exit_of(1);

  CHECK(bench.count<StrayReceived>() == 16 * look_bytes_max / 1'024 - 1);
  const auto& said = std::get<MessageReceived>(bench.events[bench.events.size() - 2]);
  CHECK(std::holds_alternative<agent_protocol::Stopped>(said.message));
  CHECK(said.posthumous);
}

TEST_CASE("bytes that come into a pipe after the exit was seen are not read") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.enlarge_output(last_words_bytes_max);
  agent.say(long_lines(2 * look_bytes_max));
  bench.kill(1);
  bench.agents->reap_exits();
  REQUIRE(bench.count<ProcessExited>() == 0);

  agent.say("too late\n");
  bench.turn_until_exit_of(1);

  CHECK(bench.count<StrayReceived>() == 2 * look_bytes_max / 1'024);
}

TEST_CASE("at an exit as many bytes are read as the pipe held then, and no more") {
  Bench bench;
  const Puppet agent(bench, 1);
  // On some systems only root may make a pipe so large. If the kernel forbids it, this test ends
  // here.
  if (!agent.may_enlarge_output(2 * last_words_bytes_max)) return;
  agent.say(long_lines(last_words_bytes_max));
  agent.say("too much\n");
  bench.kill(1);

  bench.agents->reap_exits();
  bench.turn_until_exit_of(1);

  CHECK(bench.count<StrayReceived>() == last_words_bytes_max / 1'024);
}

TEST_CASE("while a dead agent's last words are taken in, the others are listened to") {
  Bench bench;
  const Puppet dead(bench, 1);
  const Puppet living(bench, 2);
  dead.enlarge_output(last_words_bytes_max);
  dead.say(lines(look_bytes_max));
  bench.kill(1);
  bench.agents->reap_exits();

  living.say("{\"type\":\"ready\"}\n");
  bench.turn();

  CHECK(bench.count<MessageReceived>() == 1);
  CHECK(bench.count<ProcessExited>() == 0);
  CHECK(bench.agents->pid_of(1) == -1);
  bench.turn_until_exit_of(1);
  CHECK(bench.count<StrayReceived>() == look_bytes_max);
}

TEST_CASE("a newer agent's exit is told before an older one's, however much it had said") {
  Bench bench;
  const Puppet old(bench, 1);
  const Puppet newer(bench, 2);
  const bool seen_first = GENERATE(false, true);
  newer.enlarge_output(last_words_bytes_max);
  newer.say(lines(look_bytes_max));
  bench.kill(2);
  if (seen_first) bench.agents->reap_exits();
  bench.kill(1);

  bench.agents->reap_exits();
  bench.turn_until_exit_of(1);

  CHECK(exited(bench.events) == std::vector<Generation>{2, 1});
}

TEST_CASE("a deadline of a dead agent is judged when all of its last words have been taken in") {
  Bench bench;
  const Puppet dead(bench, 1);
  dead.enlarge_output(last_words_bytes_max);
  dead.say(long_lines(4 * look_bytes_max));
  bench.kill(1);
  bench.agents->reap_exits();
  const bool late = GENERATE(false, true);

  bench.agents->read_everything(late ? std::vector<Generation>{1} : std::vector<Generation>{});

  CHECK(bench.count<ProcessExited>() == (late ? 1 : 0));
  bench.turn_until_exit_of(1);
  CHECK(bench.count<StrayReceived>() == 4 * look_bytes_max / 1'024);
}

TEST_CASE("strangers are reaped, but no agent with them") {
  Bench bench;
  const Puppet agent(bench, 1);
  const pid_t stranger = ::fork();
  if (stranger == 0) ::_exit(0);
  REQUIRE(ends(stranger));
  bench.agents->reap_strangers();
  CHECK_FALSE(ended_child());
  bench.kill(1);

  bench.agents->reap_strangers();

  CHECK(ended_child() == bench.agents->pid_of(1));
}

}  // namespace agents_end_test

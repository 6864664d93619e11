// Tests the class Agents, which stands between the supervisor and the agents' processes. It turns
// agents' messages and exits into events, and the supervisor's orders into lines and signals. An
// agent's last messages must be reported before its exit. The newest agent's events must come
// first, and those of all other agents soon after. failing_loop_test.cc tests failing system calls.
#include "tests/decisions/unit/agents_on_a_loop.h"

#include "upgrader/shell/channel.h"

namespace agents_test {

using namespace test;
using agent_protocol::Error;
using agent_protocol::Stage;
using agent_protocol::UpgradeFailed;

namespace {

// Returns the types of the messages in lines that an upgrader has sent.
std::vector<std::string> types_of(const std::string& lines) {
  const std::string sign = "\"type\":\"";
  std::vector<std::string> types;
  for (std::size_t at = 0; (at = lines.find(sign, at)) != std::string::npos;) {
    at += sign.size();
    types.push_back(lines.substr(at, lines.find('"', at) - at));
  }
  return types;
}

UpgradeFailed failed_at(Stage stage) {
  UpgradeFailed failed;
  failed.failure.id = "u1";
  failed.failure.stage = stage;
  return failed;
}

}  // namespace

TEST_CASE("so many of an agent's lines are read in one turn, and the others in the next turns") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.say(lines(2 * lines_a_turn + 1));

  bench.turn();
  CHECK(bench.events.size() == lines_a_turn);
  bench.turn();
  CHECK(bench.events.size() == 2 * lines_a_turn);
  bench.turn();
  CHECK(bench.events.size() == 2 * lines_a_turn + 1);
  bench.turn();
  // The timeout -1 means that the loop waits without a limit. The timeout would be 0 if there were
  // lines of the agent that have not been reported yet.
  CHECK(uv_backend_timeout(&bench.loop) == -1);
}

TEST_CASE("a turn is over once, behind all of its events, and so is a turn of the backlog") {
  // At the end of the test, the destructor of `agent` ends the agent, and `bench.during` records
  // the agent's exit in `turns_before`. So `turns_before` must be destroyed last, and is declared
  // first.
  std::vector<int> turns_before;
  Bench bench;
  const Puppet agent(bench, 1);
  agent.say(lines(lines_a_turn + 1));
  bench.during = [&](const Event&) { turns_before.push_back(bench.turns_over); };

  bench.turn();
  CHECK(turns_before == std::vector<int>(lines_a_turn, 0));
  CHECK(bench.turns_over == 1);
  bench.turn();
  CHECK(turns_before.back() == 1);
  CHECK(bench.turns_over == 2);
}

TEST_CASE("lines that come behind a backlog are read, too") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.say(lines(lines_a_turn + 1));
  bench.turn();
  bench.turn();
  CHECK(bench.events.size() == lines_a_turn + 1);

  agent.say("more\n");
  bench.turn();

  CHECK(bench.events.size() == lines_a_turn + 2);
}

TEST_CASE("so many bytes of an agent's output are read in one turn") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.say(std::string(read_bytes_a_turn - 1, 'x') + "\n" + "\n");

  bench.turn();
  CHECK(bench.events.size() == 1);
  bench.turn();
  CHECK(bench.events.size() == 2);
}

TEST_CASE("each line becomes the event that it is, with the generation of who said it") {
  Bench bench;
  const Puppet one(bench, 1);
  const Puppet other(bench, 7);
  other.say("{\"type\":\"ready\"}\n{\"type\":\"unheard\"}\n{\"type\":\"ready\",\"type\":1}\n");
  other.say("{\"type\":\"status\",\"text\":1}\nstray\x01\n");

  bench.turn();

  REQUIRE(bench.events.size() == 5);
  const auto& said = std::get<MessageReceived>(bench.events[0]);
  CHECK(said.generation == 7);
  CHECK(std::holds_alternative<agent_protocol::Ready>(said.message));
  CHECK_FALSE(said.posthumous);
  const auto& unknown = std::get<MessageRefused>(bench.events[1]);
  CHECK(unknown.generation == 7);
  CHECK(std::holds_alternative<agent_protocol::Unknown>(unknown.what));
  CHECK(std::holds_alternative<StrayReceived>(bench.events[2]));
  const auto& malformed = std::get<MessageRefused>(bench.events[3]);
  CHECK(std::holds_alternative<agent_protocol::Malformed>(malformed.what));
  CHECK(std::get<StrayReceived>(bench.events[4]).text == "stray\\x01");
  CHECK(std::get<StrayReceived>(bench.events[4]).generation == 7);
}

TEST_CASE("stray output that begins as a message does says why it is none") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.say("{\"type\":\"ready\",}\n");
  agent.say("{\"type\":\"ready\"}");
  bench.kill(1);

  bench.agents->reap_exits();

  REQUIRE(bench.count<StrayReceived>() == 2);
  CHECK(std::get<StrayReceived>(bench.events[0]).text ==
        "no JSON at byte 17 (expected a member's name): {\"type\":\"ready\",}");
  CHECK(std::get<StrayReceived>(bench.events[1]).text ==
        "no newline within 65536 bytes: {\"type\":\"ready\"}");
}

TEST_CASE("an agent with so much unsent is read from, and with a byte more it is not") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.fill();
  bench.agents->send(1, order_of(unsent_pause_bytes));
  agent.say("one\n");
  bench.turn();
  CHECK(bench.count<StrayReceived>() == 1);

  CHECK(agent.heard().empty());
  bench.turn();
  CHECK(agent.heard().size() == unsent_pause_bytes);
  agent.fill();
  bench.agents->send(1, order_of(unsent_pause_bytes + 1));
  agent.say("two\n");
  bench.turn();
  CHECK(bench.count<StrayReceived>() == 1);

  CHECK(agent.heard().empty());
  bench.turn();
  bench.turn();
  CHECK(bench.count<StrayReceived>() == 2);
}

TEST_CASE("an agent that has taken its replies is read from again, however it was seen") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.fill();
  bench.agents->send(1, order_of(unsent_pause_bytes + 1));
  CHECK(agent.heard().empty());
  // Sends a second message. This also writes the bytes of the first message that were left over.
  bench.agents->send(1, order_of(100));
  CHECK(agent.heard().size() == unsent_pause_bytes + 101);

  agent.say("x\n");
  bench.turn();

  CHECK(bench.count<StrayReceived>() == 1);
}

TEST_CASE("lines that were read wait, too, while replies must be taken first") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.fill();
  bench.during = [&](const Event&) {
    if (bench.events.size() == 1) bench.agents->send(1, order_of(unsent_pause_bytes + 1));
  };
  agent.say(lines(lines_a_turn + 5));

  for (int turns = 0; turns < 4; ++turns)
    bench.turn();
  CHECK(bench.events.size() == 2);
  CHECK(uv_backend_timeout(&bench.loop) == -1);

  CHECK(agent.heard().empty());
  for (int turns = 0; turns < 4; ++turns)
    bench.turn();
  CHECK(bench.count<StrayReceived>() == lines_a_turn + 5);
}

TEST_CASE("a backlog waits while replies must be taken first, and no other's with it") {
  Bench bench;
  const Puppet one(bench, 1);
  const Puppet other(bench, 2);
  one.fill();
  one.say(lines(lines_a_turn + 1));
  other.say(lines(lines_a_turn + 1));
  bench.turn();
  CHECK(bench.events.size() == 2 * lines_a_turn);

  bench.agents->send(1, order_of(unsent_pause_bytes + 1));
  bench.turn();
  CHECK(bench.events.size() == 2 * lines_a_turn + 1);

  CHECK(one.heard().empty());
  for (int turns = 0; turns < 3; ++turns)
    bench.turn();
  CHECK(bench.count<StrayReceived>() == 2 * lines_a_turn + 2);
}

TEST_CASE("replies are lost to an agent that is far behind; orders and endings are not") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.fill();
  bench.agents->send(1, order_of(unsent_replies_bytes_max - 1));
  bench.agents->send(1, Error{"kept", ""});

  bench.agents->send(1, Error{"lost", ""});
  bench.agents->send(1, failed_at(Stage::request));
  bench.agents->send(1, failed_at(Stage::start));
  bench.agents->send(1, agent_protocol::Stop{});

  std::string all = agent.heard();
  for (int turns = 0; turns < 4; ++turns) {
    bench.turn();
    all += agent.heard();
  }
  CHECK(types_of(all) == std::vector<std::string>{"activate", "error", "upgrade_failed", "stop"});
  CHECK(all.find("kept") != std::string::npos);
  CHECK(all.find("\"start\"") != std::string::npos);
}

TEST_CASE("a reply is lost to an agent for which 32,768 bytes wait, and to none with a byte less") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.fill();
  const bool lost = GENERATE(false, true);
  const std::size_t behind = 32'768 - (lost ? 0 : 1);
  bench.agents->send(1, order_of(behind));

  bench.agents->send(1, Error{"about", ""});

  CHECK(agent.heard().empty());
  bench.turn();
  CHECK((agent.heard().size() == behind) == lost);
}

TEST_CASE("a refusal reaches an agent that is not behind") {
  Bench bench;
  const Puppet agent(bench, 1);

  bench.agents->send(1, failed_at(Stage::request));

  CHECK(agent.heard() == line_of(failed_at(Stage::request)));
}

TEST_CASE("an `activate` that waits is told of when its last byte has been written") {
  Bench bench;
  const Puppet agent(bench, 1);
  CHECK(bench.agents->send(1, order_of(100)) == Sent::written);
  agent.fill();
  const auto order = order_of(10'000);

  CHECK(bench.agents->send(1, order) == Sent::waits);
  // This message waits behind `activate`. ActivateWritten must be reported as soon as all bytes of
  // `activate` are written, even if this message still waits.
  CHECK(bench.agents->send(1, Error{"about", std::string(1'000, 'x')}) == Sent::waits);
  std::size_t turns_before = 0;
  for (; bench.events.empty() && turns_before < 100; ++turns_before) {
    agent.hear_a_page();
    bench.turn();
  }

  REQUIRE(bench.events.size() == 1);
  CHECK(std::get<ActivateWritten>(bench.events[0]).generation == 1);
  CHECK(turns_before > 1);
  (void)agent.heard();
  bench.turn();
  CHECK(bench.events.size() == 1);
}

TEST_CASE("an `activate` that waited is told of, too, when a later message takes it with it") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.fill();
  CHECK(bench.agents->send(1, order_of(1'000)) == Sent::waits);
  (void)agent.heard();

  CHECK(bench.agents->send(1, Error{"about", ""}) == Sent::written);

  REQUIRE(bench.events.size() == 1);
  CHECK(std::get<ActivateWritten>(bench.events[0]).generation == 1);
}

TEST_CASE("an `activate` that can be written is written before a deadline is judged") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.fill();
  CHECK(bench.agents->send(1, order_of(1'000)) == Sent::waits);
  bench.agents->read_everything({1});
  CHECK(bench.events.empty());
  (void)agent.heard();

  bench.agents->read_everything({});

  CHECK(bench.count<ActivateWritten>() == 1);
  CHECK(agent.heard() == line_of(order_of(1'000)));
}

TEST_CASE("an `activate` for which there is no room is lost, and so is one for the dead") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.fill();
  const agent_protocol::CandidateLost order{.id = "u1", .reason = std::string(1'000, 'x')};
  while (bench.agents->send(1, order) == Sent::waits) {
  }

  CHECK(bench.agents->send(1, order_of(100)) == Sent::lost);
  CHECK(bench.count<InputClosed>() == 2);
  CHECK(std::get<InputClosed>(bench.events[0]).generation == 1);
  CHECK(bench.agents->send(7, order_of(100)) == Sent::lost);
  CHECK(bench.events.size() == 2);
}

TEST_CASE("behind a closed input nothing is written any more, not even what waits") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.fill();
  CHECK(bench.agents->send(1, order_of(30'000)) == Sent::waits);

  bench.agents->close_input(1);
  bench.agents->close_input(7);

  CHECK(agent.heard().empty());
  bench.turn();
  bench.agents->read_everything({});
  CHECK(agent.heard().empty());
  CHECK(bench.events.empty());
  agent.say("x\n");  // shows that the upgrader still reads the agent's output
  bench.turn();
  CHECK(bench.count<StrayReceived>() == 1);
}

TEST_CASE("a living agent that closes its output is told once, with what it had begun to say") {
  Bench bench;
  REQUIRE_FALSE(bench.agents->start(1, shell("printf begun; exec tail -f /dev/null >/dev/null")));

  bench.wait_for<OutputClosed>();
  bench.turn();

  REQUIRE(bench.events.size() == 2);
  CHECK(std::get<StrayReceived>(bench.events[0]).text == "begun");
  CHECK(std::get<OutputClosed>(bench.events[1]).generation == 1);
  bench.end(1);
  CHECK(bench.events.size() == 3);
}

TEST_CASE("before a deadline exits are taken in, and all that the living have said") {
  Bench bench;
  const Puppet dead(bench, 1);
  const Puppet talker(bench, 2);
  talker.say(lines(3 * lines_a_turn));
  const bool read_already = GENERATE(false, true);
  if (read_already) bench.turn();
  bench.kill(1);

  bench.agents->read_everything({});

  CHECK(exited(bench.events) == std::vector<Generation>{1});
  CHECK(bench.count<StrayReceived>() == 3 * lines_a_turn);
}

TEST_CASE("before a deadline no more is taken in than had been said up to then") {
  Bench bench;
  const Puppet agent(bench, 1);
  agent.say("one\n");
  bench.during = [&](const Event&) { agent.say("two\n"); };

  bench.agents->read_everything({});

  CHECK(bench.events.size() == 1);
}

TEST_CASE(
    "before a deadline an agent that must take its replies first is read only if it is late") {
  Bench bench;
  const Puppet one(bench, 1);
  const Puppet other(bench, 2);
  for (const Puppet* agent : {&one, &other}) {
    agent->fill();
    agent->say("x\n");
  }
  bench.agents->send(1, order_of(unsent_pause_bytes + 1));
  bench.agents->send(2, order_of(unsent_pause_bytes + 1));

  bench.agents->read_everything({3});
  CHECK(bench.events.empty());
  bench.agents->read_everything({3, 2});

  REQUIRE(bench.events.size() == 1);
  CHECK(std::get<StrayReceived>(bench.events[0]).generation == 2);
}

TEST_CASE("a signal reaches the agent that it is for") {
  Bench bench;
  const Puppet one(bench, 1);
  const Puppet other(bench, 2);

  CHECK(bench.agents->signal(2, SIGUSR1) == 0);

  REQUIRE(ends(bench.agents->pid_of(2)));
  bench.agents->reap_exits();
  REQUIRE(bench.events.size() == 1);
  CHECK(std::get<ProcessExited>(bench.events[0]).ending == Ending{Ending::How::signalled, SIGUSR1});
}

TEST_CASE("a program that cannot be started leaves no agent behind") {
  Bench bench;
  const TemporaryDirectory directory;
  const std::string path = directory.write("script", "#!/bin/sh\n");
  const Program program = std::move(check_program(path, path, {}).value());
  std::filesystem::remove(path);

  const auto failed = bench.agents->start(1, program);

  REQUIRE(failed);
  CHECK(*failed == StartFailed{.error = ENOENT, .exec_failed = true});
  CHECK(bench.agents->pid_of(1) == -1);
  CHECK(bench.events.empty());
}

// ---- exits of agents, and the last messages of agents that have exited

namespace {

// Returns text that is `bytes` bytes long and consists of lines of 1,024 bytes each.
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

}  // namespace agents_test

// Tests which conclusions `agentify doctor` draws from logs and observations. The logs and
// observations are written out in the tests.
#include "tools/agentify/doctor/findings.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <string>
#include <vector>

#include "tools/agentify/doctor/trial_run.h"

namespace findings_test {

using namespace agentify;
using namespace std::chrono_literals;

TEST_CASE("the doctor finds in the log whether a daemon has notified") {
  CHECK(has_notified("upgrader: generation 1: the daemon is ready after 12 ms\n"));
  CHECK_FALSE(has_notified("agentify: the daemon is process 12\n"));
  CHECK_FALSE(has_notified(""));
  CHECK(has_forked("agentify: the daemon goes on as process 12\n"));
  CHECK_FALSE(has_forked("agentify: the daemon is process 12\n"));
}

TEST_CASE("the doctor counts the processes that had to be killed") {
  CHECK(left_in("x\nagentify: 3 processes that the daemon had left had to be killed\n") == 3);
  CHECK(left_in("agentify: 1 process that the daemon had left had to be killed\n") == 1);
  CHECK(left_in("agentify: x that the daemon had left had to be killed\n") == 0);
  CHECK(left_in("9 that the daemon had left had to be killed\n") == 0);
  CHECK(left_in("") == 0);
}

TEST_CASE("a run's log keeps the lines of others and the end, even if a daemon floods its output") {
  RunLog log;
  log.add("upgrader: generation 1: the daemon is ready after 12 ms\n");
  for (int i = 0; i < 1'000; ++i)
    log.add(std::string(999, 'y') + "\n");
  log.add(std::string(1'000'000, 'z'));
  log.add("agentify: the daemon exited with status 3\nlast\n");
  for (int i = 0; i < 10'000; ++i)
    log.add("agentify: the daemon is process 12\n");
  CHECK(log.text().size() <= 3 * run_log_bytes_max);
  log = {};
  log.add("upgrader: generation 1: the daemon is ready after 12 ms\n");
  log.add(std::string(1'000'000, 'z') + "\n");
  log.add("agentify: the daemon exited with status 3\nlast\n");
  CHECK(log.text().size() <= 3 * run_log_bytes_max);
  CHECK(has_notified(log.text()));
  CHECK(words_on_failure(log.text()) == "it does not run: the daemon exited with status 3");
  CHECK(log.text().ends_with("\nlast\n"));
}

TEST_CASE("the doctor names why a daemon has ended by itself") {
  CHECK(words_on_failure("agentify: the daemon is process 12\n"
                         "agentify: the daemon exited with status 3\nlater\n") ==
        "it does not run: the daemon exited with status 3");
  CHECK(words_on_failure("agentify: the daemon is process 12\nno disk\n\n") ==
        "it does not run: no disk");
  CHECK(words_on_failure("upgrader: error: generation 1 failed: unfit: agentify: no /proc\n"
                         "upgrader: generation 1 was killed by signal 9 (SIGKILL)\n") ==
        "it does not run: upgrader: error: generation 1 failed: unfit: agentify: no /proc");
  CHECK(words_on_failure("upgrader: error: generation 1 failed: unfit: agentify: no /proc\n"
                         "upgrader: generation 1 exited with status 1\n") ==
        "it does not run: upgrader: error: generation 1 failed: unfit: agentify: no /proc");
  CHECK(words_on_failure("bind: Address already In Use") ==
        "its port is in use; stop the service that has it: bind: Address already In Use");
}

TEST_CASE("a daemon's last line and socket cannot command the terminal of the doctor's user") {
  CHECK(words_on_failure("agentify: the daemon is process 12\na\x1b[2J\xc2\x9b \xe2\x80\xae\n") ==
        R"(it does not run: a\x1b[2J\u{9b} \u{202e})");

  Findings seen;
  seen.listeners = {{.kind = Listener::Kind::unix_stream, .address = "/run/a\x1b[2J"}};
  const std::vector<std::string> said = sentences_on(seen, nullptr);
  CHECK(std::count(said.begin(), said.end(), R"(It listens on unix /run/a\x1b[2J.)") == 1);

  seen.listeners.push_back({.kind = Listener::Kind::unix_stream, .address = "/run/b"});
  CHECK(options_for(seen, nullptr).front() == "--ready=unix:/run/b");
}

TEST_CASE("the doctor watches a silent daemon longer on a machine that starts slowly") {
  CHECK(silent_time(50ms) == 3s);
  CHECK(silent_time(150ms) == 3s);
  CHECK(silent_time(2s) == 40s);
}

TEST_CASE(
    "the doctor proposes a probe of the first port, and no time limit of its own for a stop") {
  Findings seen;
  seen.listeners = {{.kind = Listener::Kind::udp, .address = "0.0.0.0", .port = 53},
                    {.kind = Listener::Kind::unix_stream, .address = "/run/x"},
                    {.kind = Listener::Kind::tcp6, .address = "::", .port = 80}};
  seen.end = {.ignored = {{SIGTERM, 10s}}, .signal = SIGINT, .time = 1'500ms};
  CHECK(options_for(seen, nullptr) ==
        std::vector<std::string>{"--ready=tcp:[::1]:80", "--stop=INT"});

  seen.notifies = true;
  seen.end = {.ignored = {}, .signal = SIGTERM, .time = 2ms};
  CHECK(options_for(seen, nullptr) == std::vector<std::string>{"--ready=notify", "--stop=TERM"});
}

TEST_CASE("the doctor names an address once, and says how long it has waited for a signal") {
  Findings seen;
  // A daemon may have several sockets at one address, for example one for each processor
  // (SO_REUSEPORT). The doctor must name the address only once.
  const Listener listener{.kind = Listener::Kind::tcp, .address = "127.0.0.1", .port = 53};
  seen.listeners = {listener, listener};
  seen.listeners[0].inode = 1;
  seen.listeners[1].inode = 2;
  seen.end = {.ignored = {{SIGTERM, 10s}}, .signal = SIGINT, .time = 1'500ms};
  const std::vector<std::string> said = sentences_on(seen, nullptr);
  CHECK(std::count(said.begin(), said.end(), "It listens on tcp 127.0.0.1:53.") == 1);
  CHECK(std::count(said.begin(), said.end(),
                   "SIGTERM does not end it within 10 s. SIGINT ends it in 1500 ms, and no process "
                   "stays behind.") == 1);
}

TEST_CASE("the doctor warns of a daemon whose sessions or jobs would end with each upgrade") {
  Findings seen;
  seen.end = {.signal = SIGTERM};
  const auto warned = [&](const char* name) {
    const std::vector<std::string> said = sentences_on(seen, known_daemon(name));
    return said.back().starts_with("Warning: each upgrade and each stop ends its ");
  };
  CHECK(warned("sshd"));
  CHECK(warned("cron"));
  CHECK_FALSE(warned("nginx"));
  CHECK_FALSE(warned("no-such-daemon"));
}

TEST_CASE("the doctor proposes that a daemon that shows nothing is ready after a time") {
  Findings seen;
  seen.end = {.ignored = {{SIGTERM, 10s}, {SIGINT, 5s}, {SIGQUIT, 5s}}, .signal = SIGKILL};
  CHECK(options_for(seen, nullptr) ==
        std::vector<std::string>{"--ready=after:3s", "--stop=TERM:10s,KILL"});
}

TEST_CASE("a daemon that computes before it listens is watched until it listens") {
  StartWatch start(0s);
  Findings findings;
  CHECK_FALSE(start.look({.main = 0}, 10ms, findings));
  CHECK_FALSE(start.look({.main = 7, .busy = true}, 50ms, findings));
  CHECK_FALSE(start.look({.main = 7, .busy = true}, 9s, findings));
  CHECK_FALSE(start.look({.main = 7}, 10s, findings));
  const Listener listener{.kind = Listener::Kind::tcp, .address = "127.0.0.1", .port = 80};
  CHECK_FALSE(start.look({.main = 7, .listeners = {listener}, .busy = true}, 11s, findings));
  CHECK(start.look({.main = 7, .listeners = {listener}, .busy = true}, 13s, findings));
  CHECK(findings.listeners == std::vector{listener});
  CHECK(findings.ready_after == 11s);
  CHECK(start.has_started());
}

TEST_CASE("a daemon that sleeps and is silent is watched for seconds, and a busy one for longer") {
  Findings findings;
  StartWatch start(0s);
  CHECK_FALSE(start.look({.main = 7}, 50ms, findings));
  CHECK_FALSE(start.look({.main = 8}, 3s, findings));
  CHECK(start.look({.main = 8}, 4s, findings));
  CHECK(findings.forks);
  Findings quick;
  StartWatch forks(0s);
  CHECK_FALSE(forks.look({.main = 8, .forks = true}, 50ms, quick));
  CHECK(quick.forks);
  StartWatch busy(0s);
  for (auto now = 0s; now < 30s; ++now)
    CHECK_FALSE(busy.look({.main = 7, .busy = true}, now, findings));
  CHECK(busy.look({.main = 7, .busy = true}, 30s, findings));
  StartWatch absent(0s);
  CHECK(absent.look({}, 30s, findings));
  CHECK_FALSE(absent.has_started());
}

}  // namespace findings_test

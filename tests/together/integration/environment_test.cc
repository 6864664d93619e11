// Tests the surroundings in which an agent starts: descriptors, signals, environment, limits. They
// must be the same for a first agent, a candidate and a fallback: see CHANNEL in agent-protocol(7).
// Also tests that arguments reach an agent byte for byte: see UPGRADES in agent-protocol(7).
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/together/integration/world.h"

namespace environment_test {

using namespace integration;

namespace {

struct Reports {
  Report first;
  Report candidate;
  Report fallback;
};

// Runs a first agent, a candidate that is activated and fails, and a fallback. Returns the report
// of each of these agents about its surroundings.
Reports all_reports(World& world) {
  Puppet first = world.agent();
  const Report report = first.report();
  first.hello();
  first.ready();
  first.expect("activate");
  Puppet next = world.hand_over(first);
  Reports reports{report, next.report(), {}};
  next.exit(1);
  reports.fallback = world.fallback().report();
  return reports;
}

// Returns the part of an agent's report about its surroundings that must be the same for every
// agent: everything except its process ids and pipes.
Texts common(const Report& report) {
  Texts result;
  for (const std::string& entry : report.entries) {
    const bool own = entry.starts_with("pid=") || entry.starts_with("sid=") ||
                     entry.starts_with("fd:0=") || entry.starts_with("fd:1=");
    if (!own) result.push_back(entry);
  }
  return result;
}

void open_as(int fd, const char* path) {
  const int opened = open(path, O_RDWR);
  if (opened != fd) dup2(opened, fd);
  if (opened != fd) close(opened);
}

unsigned long long mask(const Report& report, std::string_view field) {
  return std::strtoull(report.value("status:" + std::string(field)).c_str(), nullptr, 16);
}

}  // namespace

TEST_CASE("first, candidate and fallback find themselves in the same surroundings") {
  World world{World::Later()};
  const std::string directory = world.path("here");
  REQUIRE(mkdir(directory.c_str(), 0755) == 0);
  world.start(
      {.environment = {"PLAIN=a b", "EMPTY=", "BYTES=\xff\x01", "_ODD NAME=1"}, .before_exec = [&] {
         umask(027);
         if (chdir(directory.c_str()) != 0) _exit(1);
         const rlimit files{300, 400};
         const rlimit core{0, 4096};
         setrlimit(RLIMIT_NOFILE, &files);
         setrlimit(RLIMIT_CORE, &core);
         setpriority(PRIO_PROCESS, 0, 3);
       }});

  const Reports reports = all_reports(world);

  CHECK(common(reports.candidate) == common(reports.first));
  CHECK(common(reports.fallback) == common(reports.first));
  CHECK(reports.candidate.environment == reports.first.environment);
  CHECK(reports.fallback.environment == reports.first.environment);
  const Report& report = reports.first;
  CHECK(report.value("cwd") == directory);
  CHECK(report.value("umask") == std::to_string(027));
  CHECK(report.value("nice") == "3");
  CHECK(report.value("limit:" + std::to_string(RLIMIT_NOFILE)) == "300/400");
  CHECK(report.value("limit:" + std::to_string(RLIMIT_CORE)) == "0/4096");
  CHECK(report.variable("PLAIN") == "a b");
  CHECK(report.variable("EMPTY").empty());
  CHECK(report.variable("BYTES") == "\xff\x01");
  CHECK(report.variable("_ODD NAME") == "1");
}

TEST_CASE("every inherited AGENT_PROTOCOL variable is removed, and ours is set") {
  World world(Start{.environment = {"AGENT_PROTOCOL=7", "AGENT_PROTOCOL_LOCK_FD=9",
                                    "AGENT_PROTOCOL_OTHER=x", "AGENT_PROTOCOLS=y"}});

  const Reports reports = all_reports(world);

  for (const Report& report : {reports.first, reports.candidate, reports.fallback}) {
    Texts ours;
    for (const std::string& variable : report.environment) {
      if (variable.starts_with("AGENT_PROTOCOL")) ours.push_back(variable);
    }
    CHECK(ours == Texts{"AGENT_PROTOCOL=1"});
  }
}

TEST_CASE("the environment comes to an agent as the upgrader got it, in number and in value") {
  World world(Start{.environment = {"ONE=1", "TWO=2"}});
  Report report = world.agent().report();

  Texts own = {"ONE=1", "TWO=2",
               "PUPPET_DIR=" + world.path("").substr(0, world.path("").size() - 1),
               "AGENT_PROTOCOL=1"};
  for (char** variable = environ; *variable != nullptr; ++variable)
    own.emplace_back(*variable);
  std::sort(own.begin(), own.end());
  std::sort(report.environment.begin(), report.environment.end());
  for (const std::string& variable : report.environment) {
    INFO(variable);
    CHECK(std::binary_search(own.begin(), own.end(), variable));
  }
  CHECK(report.has_variable("PATH"));
}

TEST_CASE("the address of the conversation with init does not reach an agent") {
  World world{World::Later()};
  world.start(Start{.environment = {"NOTIFY_SOCKET=" + world.path("notify")}});

  const Reports reports = all_reports(world);

  for (const Report& report : {reports.first, reports.candidate, reports.fallback}) {
    CHECK_FALSE(report.has_variable("NOTIFY_SOCKET"));
  }
}

TEST_CASE("every agent gets SIGTERM if the upgrader dies") {
  World world{World::Later()};
  world.start(Start{});

  const Reports reports = all_reports(world);

  for (const Report& report : {reports.first, reports.candidate, reports.fallback}) {
    CHECK(report.value("death_signal") == std::to_string(SIGTERM));
  }
}

TEST_CASE("the signal mask is empty and dispositions are the default, whatever init left") {
  World world(Start{.before_exec = [] {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    for (int number = 1; number < 32; ++number)
      ::signal(number, SIG_IGN);
  }});

  const Reports reports = all_reports(world);

  for (const Report& report : {reports.first, reports.candidate, reports.fallback}) {
    CHECK(mask(report, "SigBlk") == 0);
    CHECK((mask(report, "SigIgn") & 0x7fffffffULL) == 0);
    CHECK(mask(report, "SigCgt") == 0);
  }
}

TEST_CASE("each agent leads a session of its own") {
  World world;

  const Reports reports = all_reports(world);

  for (const Report& report : {reports.first, reports.candidate, reports.fallback}) {
    CHECK(report.value("sid") == report.value("pid"));
  }
}

TEST_CASE("an agent has its pipes, the upgrader's standard error, and no other descriptor") {
  World world(Start{.before_exec = [] {
    open_as(3, "/dev/null");
    open_as(7, "/dev/zero");
    open_as(250, "/dev/zero");
  }});

  const Reports reports = all_reports(world);

  for (const Report& report : {reports.first, reports.candidate, reports.fallback}) {
    CHECK(report.keys("fd:") == Texts{"fd:0", "fd:1", "fd:2"});
    CHECK(report.value("fd:0").starts_with("pipe:"));
    CHECK(report.value("fd:1").starts_with("pipe:"));
    CHECK(report.value("fd:0") != report.value("fd:1"));
    CHECK(report.value("fd:2") == world.upgrader().log_path());
    CHECK((std::stoi(report.value("flags:0")) & (O_ACCMODE | O_NONBLOCK)) == O_RDONLY);
    CHECK((std::stoi(report.value("flags:1")) & (O_ACCMODE | O_NONBLOCK)) == O_WRONLY);
  }
}

TEST_CASE("descriptors that init left closed are opened, and an agent is none the worse") {
  World world(Start{.before_exec = [] {
    close(0);
    close(1);
    close(2);
  }});

  const Reports reports = all_reports(world);

  for (const Report& report : {reports.first, reports.candidate, reports.fallback}) {
    CHECK(report.keys("fd:") == Texts{"fd:0", "fd:1", "fd:2"});
    CHECK(report.value("fd:2") == "/dev/null");
  }
}

TEST_CASE("with --lock every agent inherits the lock's descriptor, and its number") {
  World world{World::Later()};
  world.start({"--lock=" + world.path("lock")});

  const Reports reports = all_reports(world);

  for (const Report& report : {reports.first, reports.candidate, reports.fallback}) {
    CHECK(report.keys("fd:") == Texts{"fd:0", "fd:1", "fd:2", "fd:3"});
    CHECK(report.value("fd:3") == world.path("lock"));
    CHECK(report.value("cloexec:3") == "0");
    CHECK(report.variable("AGENT_PROTOCOL_LOCK_FD") == "3");
  }
}

TEST_CASE("sockets that init has passed reach every agent, and the lock comes after them") {
  World world{World::Later()};
  Start start{.environment = {"LISTEN_FDS=2", "LISTEN_PID=self", "LISTEN_FDNAMES=a:b"},
              .before_exec = [] {
                open_as(3, "/dev/null");
                open_as(4, "/dev/zero");
                open_as(9, "/dev/zero");
              }};
  const bool locked = GENERATE(false, true);
  if (locked) start.options.push_back("--lock=" + world.path("lock"));
  world.start(start);

  const Reports reports = all_reports(world);

  for (const Report& report : {reports.first, reports.candidate, reports.fallback}) {
    CHECK(report.keys("fd:").size() == (locked ? 6 : 5));
    CHECK(report.value("fd:3") == "/dev/null");
    CHECK(report.value("fd:4") == "/dev/zero");
    CHECK(report.value("cloexec:3") == "0");
    CHECK(report.variable("LISTEN_FDS") == "2");
    CHECK(report.variable("LISTEN_PID") == report.value("pid"));
    CHECK(report.variable("LISTEN_FDNAMES") == "a:b");
    if (locked) CHECK(report.value("fd:5") == world.path("lock"));
    if (locked) CHECK(report.variable("AGENT_PROTOCOL_LOCK_FD") == "5");
  }
}

TEST_CASE("sockets that init has passed to another process do not reach an agent") {
  World world(Start{.environment = {"LISTEN_FDS=1", "LISTEN_PID=1"},
                    .before_exec = [] { open_as(3, "/dev/zero"); }});

  CHECK(world.agent().report().keys("fd:") == Texts{"fd:0", "fd:1", "fd:2"});
}

// ---- the arguments with which an agent starts

namespace {

Texts odd_arguments() {
  return {"",      " ",   "a b",  "--trial=0", "-",          "--",     "\t\n", "\"quoted\"",
          "$HOME", "*",   "\\n",  "caf\u00e9", "\U0001f600", "\x7f",   "'",    ";exit 1",
          "",      "a=b", "\x01", "%s%n",      "\u2028",     "\ufeff", "#!",   ""};
}

std::string array_of(const Texts& texts) {
  std::string array = "[";
  for (const std::string& text : texts)
    array += (array.size() > 1 ? "," : "") + json_quoted(text);
  return array + "]";
}

Texts with_name(const std::string& name, const Texts& arguments) {
  Texts result = {name};
  result.insert(result.end(), arguments.begin(), arguments.end());
  return result;
}

}  // namespace

TEST_CASE("the command line's arguments reach the first agent byte for byte") {
  Texts arguments = odd_arguments();
  arguments.emplace_back("not UTF-8: \xff\xfe\x80");
  World world(Start{.args = arguments});

  CHECK(world.agent().argv() == with_name(World::puppet(), arguments));
}

TEST_CASE("an upgrade without args repeats those of the active agent, byte for byte") {
  Texts arguments = odd_arguments();
  arguments.emplace_back("not UTF-8: \xff\xfe\x80");
  World world(Start{.args = arguments});
  Puppet first = world.first();

  Puppet next = world.hand_over(first);

  CHECK(next.argv() == with_name(World::puppet(), arguments));
  next.exit(1);
  CHECK(world.fallback().argv() == with_name(World::puppet(), arguments));
}

TEST_CASE(
    "the args of an upgrade reach the candidate byte for byte, and the fallback has its own") {
  World world(Start{.args = {"first", "\xff"}});
  Puppet first = world.first();

  Puppet next = world.hand_over(first, "\"args\":" + array_of(odd_arguments()));

  CHECK(next.argv() == with_name(World::puppet(), odd_arguments()));
  next.exit(1);
  CHECK(world.fallback().argv() == Texts{World::puppet(), "first", "\xff"});
}

TEST_CASE("an empty list of args is a list") {
  World world(Start{.args = {"first"}});
  Puppet first = world.first();

  CHECK(world.begin_upgrade(first, R"("args":[])").argv() == Texts{World::puppet()});
}

TEST_CASE("1,000 arguments reach the first agent, the candidate and the fallback") {
  Texts arguments;
  for (int count = 0; count < 1'000; ++count)
    arguments.push_back("argument " + std::to_string(count));
  World world(Start{.args = arguments});
  Puppet first = world.first();
  std::reverse(arguments.begin(), arguments.end());

  Puppet next = world.hand_over(first, "\"args\":" + array_of(arguments));
  next.exit(1);
  Puppet back = world.fallback();

  CHECK(next.argv() == with_name(World::puppet(), arguments));
  std::reverse(arguments.begin(), arguments.end());
  CHECK(first.argv() == with_name(World::puppet(), arguments));
  CHECK(back.argv() == with_name(World::puppet(), arguments));
}

TEST_CASE("1,024 args are the most that an upgrade can bring; the command line has no such limit") {
  World world(Start{.args = Texts(1'025, "x")});
  Puppet first = world.first();
  first.request_upgrade("u1", "\"args\":" + array_of(Texts(1'025, "x")));
  CHECK(first.expect("upgrade_failed").text("stage") == "request");
  Puppet most = world.begin_upgrade(first, "\"args\":" + array_of(Texts(1'024, "x")));
  CHECK(most.argv() == with_name(World::puppet(), Texts(1'024, "x")));
  first.say_type("cancel", R"("id":"u1")");
  first.expect("upgrade_failed");

  Puppet same = world.begin_upgrade(first);

  CHECK(same.argv() == with_name(World::puppet(), Texts(1'025, "x")));
}

TEST_CASE("argv[0] is AGENT or the executable as given, and a fallback repeats its own") {
  World world{World::Later()};
  const std::string copy = world.install("copy");
  const std::string odd = world.path(".//copy");
  world.start({.agent = odd});
  Puppet first = world.first();
  first.request_upgrade("u1", "", copy);
  first.expect("accepted");
  Puppet next = world.candidate();
  next.ready();
  first.stop_cleanly();
  next.expect("activate");
  next.exit(1);

  Puppet back = world.fallback();

  CHECK(first.argv() == Texts{odd});
  CHECK(next.argv() == Texts{copy});
  CHECK(back.argv() == Texts{odd});
}

TEST_CASE("arguments behind AGENT on the command line are the agent's") {
  World world(
      Start{.options = {World::puppet(), "--trial=0", "--nonsense", "--", "-h"}, .agent = "-"});

  CHECK(world.agent().argv() == Texts{World::puppet(), "--trial=0", "--nonsense", "--", "-h"});
}

}  // namespace environment_test

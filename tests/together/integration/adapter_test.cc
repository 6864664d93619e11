// Tests --adapter. With this option, AGENT does not speak the protocol: a separate program, the
// adapter, speaks the protocol and runs AGENT.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/process_table.h"
#include "tests/together/integration/releases.h"
#include "tests/together/integration/world.h"

namespace adapter_test {

using namespace integration;

namespace {

const std::string adapter_option = "--adapter=" + World::puppet();

// Installs a program that can be AGENT, or the executable of an upgrade. It is never executed: the
// adapters in these tests are puppets (fake agents), which speak the protocol but never run such a
// program.
std::string install_daemon(World& world, std::string_view name) {
  return world.write(name, read_file("/bin/true"));
}

ino_t inode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_ino;
}

// Returns the inode of the program that the upgrader has passed to an adapter as an open
// descriptor.
ino_t program_of(Puppet adapter) {
  const std::string number = adapter.report().variable("AGENT_PROTOCOL_PROGRAM_FD");
  return inode_of("/proc/" + std::to_string(adapter.pid()) + "/fd/" + number);
}

Texts argv_of(const Texts& behind) {
  Texts argv = {World::puppet(), "--"};
  argv.insert(argv.end(), behind.begin(), behind.end());
  return argv;
}

}  // namespace

TEST_CASE("the upgrader starts the adapter with its options, two dashes and AGENT's command line") {
  World world{World::Later()};
  const std::string daemon = install_daemon(world, "daemon");
  const Texts words = {"", "--ready=notify", "a b", "--", "\xff", "--ready=notify"};
  Start start{.options = {adapter_option}, .agent = daemon, .args = {"-g", "", "--", "\xfe"}};
  for (const std::string& word : words)
    start.options.push_back("--adapter=" + word);
  world.start(start);

  Puppet adapter = world.first();

  Texts argv = {World::puppet()};
  argv.insert(argv.end(), words.begin(), words.end());
  argv.insert(argv.end(), {"--", daemon, "-g", "", "--", "\xfe"});
  CHECK(adapter.argv() == argv);
  CHECK(inode_of("/proc/" + std::to_string(adapter.pid()) + "/exe") == inode_of(World::puppet()));
}

TEST_CASE("an adapter finds the program by its resolved path and by an open descriptor") {
  World world{World::Later()};
  const std::string daemon = install_daemon(world, "daemon");
  REQUIRE(symlink("daemon", world.path("link").c_str()) == 0);
  world.start({.options = {adapter_option},
               .agent = world.path("link"),
               .environment = {"AGENT_PROTOCOL_PROGRAM=/x", "AGENT_PROTOCOL_PROGRAM_FD=0"}});

  Puppet adapter = world.first();
  const Report report = adapter.report();
  const std::string number = report.variable("AGENT_PROTOCOL_PROGRAM_FD");

  CHECK(adapter.argv() == argv_of({world.path("link")}));
  CHECK(report.variable("AGENT_PROTOCOL_PROGRAM") == daemon);
  CHECK(report.value("fd:" + number) == daemon);
  CHECK(report.keys("fd:").size() == 4);
  world.wait_for_log(", " + daemon + "\n");
}

TEST_CASE("a name without a slash is looked up in PATH: the adapter's and AGENT's") {
  World world{World::Later()};
  install_daemon(world, "daemon");
  world.install("adapter");
  world.start({.options = {"--adapter=adapter"},
               .agent = "daemon",
               .environment = {"PATH=" + world.path("")}});

  Puppet adapter = world.first();

  CHECK(adapter.argv() == Texts{"adapter", "--", "daemon"});
  CHECK(adapter.report().variable("AGENT_PROTOCOL_PROGRAM") == world.path("daemon"));
}

TEST_CASE("an adapter of a script gets the path alone") {
  World world{World::Later()};
  const std::string script = world.write("script", "#!/bin/sh\n");
  world.start({.options = {adapter_option}, .agent = script});

  const Report report = world.first().report();

  CHECK(report.variable("AGENT_PROTOCOL_PROGRAM") == script);
  CHECK_FALSE(report.has_variable("AGENT_PROTOCOL_PROGRAM_FD"));
  CHECK(report.keys("fd:").size() == 3);
}

TEST_CASE("without an adapter nothing is said of a program") {
  World world;

  const Report report = world.first().report();

  CHECK_FALSE(report.has_variable("AGENT_PROTOCOL_PROGRAM"));
  CHECK_FALSE(report.has_variable("AGENT_PROTOCOL_PROGRAM_FD"));
}

TEST_CASE("the same adapter runs the executable of an upgrade, and falls back to the very file") {
  World world{World::Later()};
  const std::string one = install_daemon(world, "one");
  const std::string two = install_daemon(world, "two");
  world.start({.options = {adapter_option}, .agent = one, .args = {"x"}});
  Puppet first = world.first();
  const ino_t file = program_of(first);
  CHECK(file == inode_of(one));

  first.request_upgrade("u1", R"("args":["y","--"])", two);
  first.expect("accepted");
  Puppet next = world.candidate();
  CHECK(next.argv() == argv_of({two, "y", "--"}));
  CHECK(program_of(next) == inode_of(two));
  CHECK(next.report().keys("fd:").size() == 4);
  next.ready();
  first.stop_cleanly();
  next.expect("activate");
  unlink(one.c_str());
  install_daemon(world, "one");
  next.exit(1);
  Puppet back = world.fallback();

  CHECK(back.argv() == argv_of({one, "x"}));
  CHECK(program_of(back) == file);
  CHECK(program_of(back) != inode_of(one));
}

TEST_CASE("AGENT is checked as ever, whoever runs it") {
  World world{World::Later()};
  world.start({.options = {adapter_option}, .agent = install_daemon(world, "daemon")});
  Puppet first = world.first();
  const std::string broken = world.write("broken", "no program\n");

  first.request_upgrade("u1", "", broken);

  const Json failed = first.expect("upgrade_failed");
  CHECK(failed.text("stage") == "request");
  CHECK(failed.text("errno") == "ENOEXEC");
}

TEST_CASE("an AGENT that cannot be started has the status that it has without an adapter") {
  World world{World::Later()};
  world.start({.options = {adapter_option}, .agent = world.path("missing")});
  world.expect_exit(127);
  world.start({.options = {adapter_option}, .agent = world.write("broken", "no program\n")});
  world.expect_exit(126);
}

TEST_CASE("an adapter that is missing or unfit is the upgrader's own failure: 125") {
  World world{World::Later()};
  const std::string name = GENERATE("missing", "broken");
  world.write("broken", "no program\n");

  world.start(
      {.options = {"--adapter=" + world.path(name)}, .agent = install_daemon(world, "daemon")});

  world.expect_exit(125);
  CHECK(world.log().find("upgrader: error: --adapter: " + world.path(name) + ": ") !=
        std::string::npos);
}

TEST_CASE("an adapter is kept open: what has become of its path does not matter") {
  World world{World::Later()};
  const std::string adapter = world.install("adapter");
  const std::string daemon = install_daemon(world, "daemon");
  world.start({.options = {"--adapter=" + adapter}, .agent = daemon});
  Puppet first = world.first();
  unlink(adapter.c_str());
  world.write("adapter", "#!/bin/false\n");

  Puppet next = begin_upgrade_to(world, first, daemon);

  CHECK(inode_of("/proc/" + std::to_string(next.pid()) + "/exe") ==
        inode_of("/proc/" + std::to_string(first.pid()) + "/exe"));
}

TEST_CASE("an adapter that is a script whose path has changed fails with stage spawn") {
  World world{World::Later()};
  const std::string adapter = world.install_script("adapter");
  const std::string daemon = install_daemon(world, "daemon");
  world.start({.options = {"--adapter=" + adapter}, .agent = daemon});
  Puppet first = world.first();
  CHECK(first.argv() == Texts{World::puppet(), adapter, "--", daemon});
  world.install_script("new");
  rename(world.path("new").c_str(), adapter.c_str());

  first.request_upgrade("u1", "", daemon);

  const Json failed = first.expect("upgrade_failed");
  CHECK(failed.text("stage") == "spawn");
  CHECK(failed.text("errno") == "ESTALE");
  CHECK(failed.text("reason") == "cannot start " + daemon + " by " + adapter +
                                     ": a path leads to another file than before (ESTALE)");
  first.expect_silence();
}

TEST_CASE("the link is made to name the program and not its adapter") {
  World world{World::Later()};
  const std::string one = install_daemon(world, "one");
  const std::string two = install_daemon(world, "two");
  REQUIRE(symlink("one", world.path("current").c_str()) == 0);
  world.start(
      {.options = {adapter_option, "--relink", "--trial=0"}, .agent = world.path("current")});
  Puppet first = world.first();

  Puppet next = begin_upgrade_to(world, first, two);
  next.ready();
  first.stop_cleanly();
  next.expect("activate");
  next.expect("committed");

  CHECK(target_of(world.path("current")) == "two");
}

TEST_CASE("after SIGUSR2 the adapter runs the program that AGENT names now") {
  World world{World::Later()};
  install_daemon(world, "one");
  const std::string two = install_daemon(world, "two");
  const std::string link = world.path("current");
  REQUIRE(symlink("one", link.c_str()) == 0);
  world.start({.options = {adapter_option}, .agent = link, .args = {"x"}});
  world.first();
  unlink(link.c_str());
  REQUIRE(symlink("two", link.c_str()) == 0);

  world.signal(SIGUSR2);
  Puppet next = world.candidate();

  CHECK(next.argv() == argv_of({link, "x"}));
  CHECK(next.report().variable("AGENT_PROTOCOL_PROGRAM") == two);
}

TEST_CASE("with a lock the adapter has its descriptor, too") {
  World world{World::Later()};
  const std::string daemon = install_daemon(world, "daemon");
  world.start({.options = {adapter_option, "--lock=" + world.path("lock")}, .agent = daemon});

  const Report report = world.first().report();

  CHECK(report.value("fd:" + report.variable("AGENT_PROTOCOL_LOCK_FD")) == world.path("lock"));
  CHECK(report.value("fd:" + report.variable("AGENT_PROTOCOL_PROGRAM_FD")) == daemon);
  CHECK(report.keys("fd:").size() == 5);
}

}  // namespace adapter_test

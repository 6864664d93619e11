// Tests broken executables of every kind, and a fallback whose executable has been replaced or
// deleted since its first start: see UPGRADES in agent-protocol(7).
#include <elf.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "tests/together/integration/process_table.h"
#include "tests/together/integration/world.h"

namespace executables_test {

using namespace integration;

namespace {

std::string program_with_other_loader() {
  std::string program = read_file(World::puppet());
  const std::size_t loader = program.find("/ld-linux");
  REQUIRE(loader != std::string::npos);
  program[loader + 1] = 'x';
  return program;
}

std::string program_for_other_machine() {
  std::string program = read_file(World::puppet());
  Elf64_Half machine = 0;
  std::memcpy(&machine, program.data() + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
  machine = machine == EM_S390 ? EM_X86_64 : EM_S390;
  std::memcpy(program.data() + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof machine);
  return program;
}

std::string program_of_other_class() {
  std::string program = read_file(World::puppet());
  program[EI_CLASS] = program[EI_CLASS] == ELFCLASS64 ? ELFCLASS32 : ELFCLASS64;
  return program;
}

// Checks that an upgrade to this executable is refused before any process is started or stopped, in
// a parallel and in a sequential upgrade.
void expect_refused(World& world, const std::string& executable, const std::string& errno_name) {
  Puppet active = world.first();
  for (const char* mode : {"parallel", "sequential"}) {
    active.request_upgrade("u1", "\"mode\":" + json_quoted(mode), executable);
    const Json failed = active.expect("upgrade_failed");
    CHECK(failed.text("id") == "u1");
    CHECK(failed.text("stage") == "request");
    CHECK(failed.text("errno") == errno_name);
    CHECK_FALSE(failed.has("exit_status"));
    CHECK_FALSE(failed.has("signal"));
  }
  active.expect_silence();
  CHECK(world.agents_started() == 1);
  CHECK(children_of(world.upgrader().pid()).size() == 1);
}

}  // namespace

TEST_CASE("a file that holds no program is refused, with the errno that says why") {
  World world;
  SECTION("empty") {
    expect_refused(world, world.write("x", ""), "ENOEXEC");
  }
  SECTION("one byte") {
    expect_refused(world, world.write("x", "#"), "ENOEXEC");
  }
  SECTION("text without #!") {
    expect_refused(world, world.write("x", "exit 0\n"), "ENOEXEC");
  }
  SECTION("garbage") {
    expect_refused(world, world.write("x", "\177ELV\002"), "ENOEXEC");
  }
  SECTION("a script without its interpreter") {
    expect_refused(world, world.write("x", "#!" + world.path("no-such") + " -e\n"), "ENOENT");
  }
  SECTION("a program without its loader") {
    expect_refused(world, world.write("x", program_with_other_loader()), "ENOENT");
  }
  SECTION("a program for another machine") {
    expect_refused(world, world.write("x", program_for_other_machine()), "ENOEXEC");
  }
  SECTION("a program of another class") {
    expect_refused(world, world.write("x", program_of_other_class()), "ENOEXEC");
  }
}

TEST_CASE("a path that names no executable file is refused, with the errno that says why") {
  World world;
  SECTION("missing") {
    expect_refused(world, world.path("missing"), "ENOENT");
  }
  SECTION("under what is no directory") {
    expect_refused(world, world.write("file", "") + "/x", "ENOTDIR");
  }
  SECTION("a directory") {
    REQUIRE(mkdir(world.path("directory").c_str(), 0755) == 0);
    Puppet active = world.first();
    active.request_upgrade("u1", "", world.path("directory"));
    const Json failed = active.expect("upgrade_failed");
    CHECK(failed.text("stage") == "request");
    CHECK((failed.text("errno") == "EACCES" || failed.text("errno") == "EISDIR"));
  }
  SECTION("a pipe") {
    REQUIRE(mkfifo(world.path("pipe").c_str(), 0755) == 0);
    Puppet active = world.first();
    active.request_upgrade("u1", "", world.path("pipe"));
    CHECK(active.expect("upgrade_failed").text("stage") == "request");
  }
  SECTION("not executable") {
    expect_refused(world, world.write("x", read_file(World::puppet()), 0644), "EACCES");
  }
  SECTION("a link to itself") {
    REQUIRE(symlink("loop", world.path("loop").c_str()) == 0);
    expect_refused(world, world.path("loop"), "ELOOP");
  }
  SECTION("a link to nowhere") {
    REQUIRE(symlink("nowhere", world.path("dangling").c_str()) == 0);
    expect_refused(world, world.path("dangling"), "ENOENT");
  }
}

TEST_CASE("an executable that is being written to cannot be started") {
  World world;
  Puppet active = world.first();
  const std::string busy = world.install("busy");
  const int fd = open(busy.c_str(), O_WRONLY | O_CLOEXEC);

  active.request_upgrade("u1", "", busy);

  const Json failed = active.expect("upgrade_failed");
  CHECK((failed.text("stage") == "spawn" || failed.text("stage") == "request"));
  CHECK(failed.text("errno") == "ETXTBSY");
  active.expect_silence();
  close(fd);
  active.request_upgrade("u2", "", busy);
  active.expect("accepted");
}

TEST_CASE("a program that passes the check and that the kernel refuses fails with stage spawn") {
  World world{World::Later()};
  // The stack limit that is set below has room for the environment or for the arguments, but not
  // for both. So execve() fails.
  const std::string much = "MUCH=" + std::string(100'000, 'x');
  world.start({.environment = {much}, .before_exec = [] {
                 rlimit stack{};
                 getrlimit(RLIMIT_STACK, &stack);
                 stack.rlim_cur = 400'000;
                 setrlimit(RLIMIT_STACK, &stack);
               }});
  Puppet active = world.first();
  std::string args = "\"args\":[";
  for (int count = 0; count < 60; ++count) {
    args += (count == 0 ? "\"" : ",\"") + std::string(1'000, 'y') + "\"";
  }
  args += "]";

  SECTION("parallel: nothing has changed, and no generation has been taken") {
    active.request_upgrade("u1", args);
    const Json failed = active.expect("upgrade_failed");
    CHECK(failed.text("stage") == "spawn");
    CHECK(failed.text("errno") == "E2BIG");
    active.request_upgrade("u2");
    CHECK(active.expect("accepted").number("generation") == 2);
  }
  SECTION("sequential: it is fallen back from") {
    active.request_upgrade("u1", args + R"(,"mode":"sequential")");
    active.expect("accepted");
    active.stop_cleanly(R"("state":"kept")");
    Puppet back = world.agent();
    const Json welcome = back.hello();
    CHECK(welcome.number("generation") == 3);
    CHECK(welcome.object("failure").text("stage") == "spawn");
    CHECK(welcome.object("failure").text("errno") == "E2BIG");
    back.ready();
    CHECK(back.expect("activate").text("state") == "kept");
  }
}

TEST_CASE("a script may be an agent") {
  World world{World::Later()};
  const std::string script = world.install_script("script");
  world.start({.agent = script, .args = {"a"}});
  Puppet first = world.first();

  Puppet next = world.begin_upgrade(first);

  CHECK(first.argv() == Texts{World::puppet(), script, "a"});
  CHECK(next.argv() == Texts{World::puppet(), "a"});
}

TEST_CASE("a candidate may be a script") {
  World world(Start{.args = {"a"}});
  Puppet first = world.first();
  const std::string script = world.install_script("script");

  first.request_upgrade("u1", "", script);
  first.expect("accepted");
  Puppet next = world.candidate();
  next.ready();
  first.stop_cleanly();
  next.expect("activate");

  CHECK(next.argv() == Texts{World::puppet(), script, "a"});
}

}  // namespace executables_test

// Tests an upgrader on a kernel that lacks a system call, or under a seccomp filter that forbids a
// system call: which functions of the upgrader still work, and which do not. See REQUIREMENTS in
// upgrader(8).
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstddef>

#include "tests/together/integration/world.h"

namespace old_kernel_test {

using namespace integration;

namespace {

// Makes a system call fail with this errno, in this process and in all processes that this process
// starts.
void let_fail(unsigned call, unsigned error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{.len = std::size(program), .filter = program};
  const bool done = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
  if (!done) _exit(120);
}

// Makes execveat() fail as it does on kernels older than Linux 3.19.
void forget_execveat() {
  let_fail(SYS_execveat, ENOSYS);
}

Puppet agent_on_trial(World& world, const std::string& path) {
  world.start({.agent = path, .before_exec = forget_execveat});
  return world.hand_over(world.first());
}

}  // namespace

TEST_CASE("on an old kernel an upgrade that fails is fallen back from") {
  World world{World::Later()};
  Puppet next = agent_on_trial(world, world.install("agent"));

  next.exit(1);

  world.fallback();
}

TEST_CASE("on an old kernel an adapter's upgrade that fails is fallen back from") {
  World world{World::Later()};
  world.start({.options = {"--adapter=" + World::puppet()},
               .agent = world.install("agent"),
               .before_exec = forget_execveat});
  Puppet next = world.hand_over(world.first());

  next.exit(1);

  CHECK(world.fallback().argv() == Texts{World::puppet(), "--", world.path("agent")});
}

TEST_CASE("a call that the event loop needs and a filter forbids is a reason in words") {
  World world{World::Later()};
  const auto call =
      static_cast<unsigned>(GENERATE(SYS_eventfd2, SYS_signalfd4, SYS_ioctl, SYS_pipe2));
  world.start({.agent = "/bin/true", .before_exec = [call] { let_fail(call, EPERM); }});

  world.expect_exit(125);

  CHECK(world.log().find("cannot set the event loop up: Operation not permitted (EPERM)") !=
        std::string::npos);
}

TEST_CASE("an upgrader that a filter forbids to wait for events says so, and starts nothing") {
  World world{World::Later()};
  world.start({.before_exec = [] {
    let_fail(SYS_epoll_pwait, EPERM);
    let_fail(SYS_epoll_wait, EPERM);
  }});

  world.expect_exit(125);

  CHECK(world.log().find("cannot set the event loop up: Operation not permitted (EPERM)") !=
        std::string::npos);
  CHECK(world.agents_started() == 0);
}

TEST_CASE("in an old container, whose filter forbids what it does not know, agents are started") {
  World world{World::Later()};
  const std::string script = world.write("script", "#!" + World::puppet() + "\n");
  const bool is_script = GENERATE(false, true);
  const auto answer = static_cast<unsigned>(GENERATE(EPERM, EACCES));
  world.start({.agent = is_script ? script : world.install("agent"),
               .before_exec = [answer] { let_fail(SYS_faccessat2, answer); }});

  Puppet next = world.hand_over(world.first());

  next.exit(7);
  world.fallback();
}

TEST_CASE("on an old kernel there is no way back to a file that was deleted") {
  World world{World::Later()};
  const std::string path = world.install("agent");
  Puppet next = agent_on_trial(world, path);
  REQUIRE(unlink(path.c_str()) == 0);

  next.exit(1);

  world.expect_exit(125);
}

}  // namespace old_kernel_test

// What init is told, by the protocol of sd_notify(3): upgrader(8), and `status` of
// agent-protocol(7).
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>

#include "tests/integration/world.h"

using namespace integration;

namespace {

// Init's end: a datagram socket at a path, or of an abstract name.
class Init {
 public:
  explicit Init(const std::string& name) : name_(name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(name.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    REQUIRE(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), size) == 0);
  }
  ~Init() { ::close(fd_); }
  Init(const Init&) = delete;
  Init& operator=(const Init&) = delete;

  [[nodiscard]] std::string variable() const { return "NOTIFY_SOCKET=" + name_; }

  // Waits until something told so far holds `text`.
  void hears(World& world, const std::string& text) {
    world.wait_until(
        [&] {
          read();
          return told_.find(text) != std::string::npos;
        },
        "init hears " + text);
  }

  [[nodiscard]] int count(const std::string& text) {
    read();
    int count = 0;
    for (auto at = told_.find(text); at != std::string::npos; at = told_.find(text, at + 1)) {
      ++count;
    }
    return count;
  }

 private:
  void read() {
    char packet[4'096];
    for (ssize_t size = 0; (size = ::recv(fd_, packet, sizeof packet, 0)) > 0;) {
      told_.append(packet, static_cast<std::size_t>(size));
    }
  }

  std::string name_;
  int fd_ = -1;
  std::string told_;
};

}  // namespace

TEST_CASE("init is told READY=1 once, when the first agent is active, and STOPPING=1 at the end") {
  World world{World::Later()};
  const bool abstract = GENERATE(false, true);
  Init init((abstract ? "@" : "") + world.path("notify"));
  world.start(Start{.options = {"--trial=0"}, .environment = {init.variable()}});
  Puppet old = world.agent();
  old.hello();
  CHECK(init.count("READY=1") == 0);
  old.ready();
  old.expect("activate");
  init.hears(world, "READY=1\n");

  Puppet next = world.hand_over(old);
  next.expect("committed");
  init.hears(world, "STATUS=generation 2 (version 2.0) is active\n");
  world.signal(SIGTERM);
  next.expect("stop");
  init.hears(world, "STOPPING=1\n");

  next.say_type("stopped");
  next.exit(0);
  world.expect_exit(0);
  CHECK(init.count("READY=1") == 1);
  CHECK(init.count("STOPPING=1") == 1);
}

TEST_CASE("init is told how an upgrade stands") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--trial=1h"}, .environment = {init.variable()}});
  Puppet old = world.first();

  Puppet next = world.begin_upgrade(old);
  init.hears(world, "generation 1 (version 1.0) is active; upgrade u1: generation 2");
  next.ready();
  old.expect("stop");
  init.hears(world, "upgrade u1: generation 1 (version 1.0) is stopping");
  old.say_type("stopped");
  old.exit(0);
  next.expect("activate");
  init.hears(world, "generation 2 (version 2.0) is active, on trial for 1h of upgrade u1");
  next.exit(1);
  init.hears(world, "upgrade u1 has failed: falling back");

  world.fallback();
}

TEST_CASE("what an agent says of itself is shown to init until it has gone") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--trial=0"}, .environment = {init.variable()}});
  Puppet active = world.first();

  active.say(R"({"type":"status","text":"42 files\nin hand"})");
  init.hears(world, "; generation 1 (version 1.0): 42 files\\nin hand\n");

  Puppet next = world.hand_over(active);
  next.expect("committed");
  init.hears(world, "STATUS=generation 2 (version 2.0) is active\n");
}

TEST_CASE("a socket of init that is not there costs nothing") {
  World world{World::Later()};
  const std::string socket = GENERATE("/nowhere/notify", "@nowhere", "vsock:2:1234", "");
  world.start(Start{.options = {"--trial=0"}, .environment = {"NOTIFY_SOCKET=" + socket}});

  Puppet old = world.first();

  world.hand_over(old).expect("committed");
}

// Tests the parts of fleet-agent that run on a libuv loop: which releases a fetcher accepts, which
// of the fetcher's callers get a result, how a hook is run, and when a hook is not run.
#include "fleet/agent/fetcher.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "fleet/agent/hook_run.h"
#include "fleet/store/uv_timers.h"
#include "tests/together/releases/lock_holder.h"

namespace agent_loop_test {

using namespace fleet;
using namespace std::chrono_literals;

namespace {

class Directory {
 public:
  Directory() { REQUIRE(mkdtemp(name_.data()) != nullptr); }
  ~Directory() { std::filesystem::remove_all(name_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  const std::string& path() const { return name_; }
  std::string file() const { return name_ + "/file"; }

 private:
  std::string name_ = (std::filesystem::temp_directory_path() / "loop.XXXXXX").string();
};

// A libuv loop. It must be destroyed after all objects that use it.
class Loop {
 public:
  Loop() { REQUIRE(uv_loop_init(&loop_) == 0); }
  ~Loop() { uv_loop_close(&loop_); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  uv_loop_t& operator*() { return loop_; }
  void run() { uv_run(&loop_, UV_RUN_DEFAULT); }

 private:
  uv_loop_t loop_{};
};

// Aborts the test after a minute, with a message on standard error.
class Limit {
 public:
  Limit() {
    std::signal(SIGALRM, [](int) {
      const std::string_view words = "agent_loop_test: the loop has run for a minute\n";
      static_cast<void>(!::write(2, words.data(), words.size()));
      ::_exit(1);
    });
    ::alarm(60);
  }
  ~Limit() { ::alarm(0); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
};

// A server that accepts every connection, and never answers.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    REQUIRE(::bind(socket_, reinterpret_cast<sockaddr*>(&address_), size) == 0);
    REQUIRE(::listen(socket_, 1) == 0);
    REQUIRE(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address_), &size) == 0);
  }
  ~SilentServer() { ::close(socket_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;

  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(ntohs(address_.sin_port)) + "/web.json";
  }
  void wait_for_client() const {
    constexpr int patience_ms = 60'000;
    pollfd client{socket_, POLLIN, 0};
    REQUIRE(::poll(&client, 1, patience_ms) == 1);
  }

 private:
  int socket_;
  sockaddr_in address_{};
};

Release release_at(const std::string& url) {
  return {.manifests = {{.arch = "any", .url = url}}};
}

std::string error_of(Fetcher& fetcher, Loop& loop, const Fetcher::Order& order) {
  std::string error;
  fetcher.fetch(order, [&error](const Fetcher::Result& result) { error = result.error; });
  loop.run();
  return error;
}

}  // namespace

TEST_CASE("a fetch ends with its fetcher, however long the server would let it wait") {
  Loop loop;
  Limit limit;
  Directory directory;
  const SilentServer server;
  Fetcher fetcher(*loop, {directory.path() + "/releases", "web", "/nowhere"});
  bool told = false;

  fetcher.fetch({.version = "1.0.0", .release = release_at(server.url())},
                [&told](const Fetcher::Result&) { told = true; });
  server.wait_for_client();
  fetcher.leave();
  // The loop ends only if the fetcher no longer waits for the silent server. If the loop does not
  // end, the time limit aborts the test.
  loop.run();

  CHECK_FALSE(told);
}

TEST_CASE("a fetch fails with a reason if another process holds the directory for too long") {
  Loop loop;
  Directory directory;
  LockHolder held(directory.path() + "/.lock");
  Fetcher fetcher(
      *loop, {.directory = directory.path(), .name = "web", .keys = "/nowhere", .patience = 10ms});

  const std::string error = error_of(fetcher, loop,
                                     {.version = "1.0.0",
                                      .release = release_at("http://127.0.0.1:9/web.json"),
                                      .running = "0.9.0"});

  CHECK(held.has_held());
  CHECK(error.find("another process holds it") != std::string::npos);
}

TEST_CASE("each fetch is answered, and none after the fetcher has ended") {
  Loop loop;
  std::set<std::string> told;
  const auto tell = [&told](const std::string& who) {
    return [&told, who](const Fetcher::Result& result) { told.insert(who + result.error); };
  };
  auto fetcher = std::make_unique<Fetcher>(*loop, Fetcher::Settings{"/nowhere", "web", "/nowhere"});

  fetcher->locate({.version = "one"}, tell("first: "));
  fetcher->desire("1.0.0");
  fetcher->locate({.version = "two"}, tell("second: "));
  loop.run();
  CHECK(told == std::set<std::string>{"first: one is no version", "second: two is no version"});

  fetcher->locate({.version = "three"}, tell("third: "));
  fetcher.reset();
  loop.run();
  CHECK(told.size() == 2);
}

TEST_CASE(
    "an older version than the one that runs is neither fetched nor found without permission") {
  Loop loop;
  Fetcher fetcher(*loop, {"/nowhere", "web", "/nowhere"});
  Fetcher::Order order{.version = "1.0.0",
                       .release = {.manifests = {{.arch = "any", .url = "ftp://x/"}}},
                       .running = "1.1.0"};
  const std::string why =
      "1.0.0 is older than 1.1.0, which runs here: going down needs --downgrade";

  CHECK(error_of(fetcher, loop, order) == why);
  std::string found;
  fetcher.locate(order, [&found](const Fetcher::Result& result) { found = result.error; });
  loop.run();
  CHECK(found == why);
  order.older_is_wanted = true;
  CHECK(error_of(fetcher, loop, order).starts_with("neither http nor https"));
}

TEST_CASE("a file of this machine is a release only below an allowed directory") {
  const Directory directory;
  const std::string allowed = directory.path();
  std::filesystem::create_symlink("/etc", allowed + "/out");
  Loop loop;
  Fetcher fetcher(*loop, {"/nowhere/below", "web", "/nowhere", {allowed}});
  const auto [before, after, taken] = GENERATE(table<std::string, std::string, bool>({
      {"/etc/hostname", "", false},
      {"file:///etc/hostname", "", false},
      {"file://", "/../hostname", false},
      {"file://", "/out/hostname", false},
      {"file://", "x/web.json", false},
      {"FILE://", "/web.json", false},
      {"relative/web.json", "", false},
      {"file://", "/web.json", true},
      {"http://127.0.0.1:1/web.json", "", true},
      {"https://127.0.0.1:1/web.json", "", true},
  }));
  const std::string url = before + (after.empty() ? "" : allowed + after);

  const std::string error = error_of(
      fetcher, loop, {.version = "1.0.0", .release = {.manifests = {{.arch = "any", .url = url}}}});

  INFO(url << ": " << error);
  CHECK(error.starts_with("neither http nor https") == !taken);
}

TEST_CASE("a hook that writes without end is killed in time, and keeps nothing else from running") {
  const Limit limit;
  const Directory directory;
  const std::string hook = directory.file();
  std::ofstream(hook) << "#!/bin/sh\nexec yes\n";
  std::filesystem::permissions(hook, std::filesystem::perms::owner_all);
  Loop loop;
  std::optional<HookRun::Result> told;
  {
    UvTimers timers(*loop);
    std::unique_ptr<HookRun> run;
    run = std::make_unique<HookRun>(*loop, timers, HookRun::Settings{.path = hook, .longest = 50ms},
                                    [&](const HookRun::Result& result) {
                                      told = result;
                                      uv_stop(&*loop);
                                    });
    loop.run();
  }
  loop.run();

  REQUIRE(told);
  CHECK(told->status == 128 + SIGKILL);
  CHECK(told->output == "killed, since it took longer than 0 s");
}

TEST_CASE("a hook is not run if others may write it or its directory") {
  using enum std::filesystem::perms;
  const Directory directory;
  const std::string hook = directory.file();
  std::ofstream(hook) << "#!/bin/sh\necho it runs\n";
  const std::string place = directory.path();
  const auto [mode, place_mode, who] =
      GENERATE(table<std::filesystem::perms, std::filesystem::perms, std::string>(
          {{owner_all, owner_all, ""},
           {owner_all | others_write, owner_all, "hook"},
           {owner_all, owner_all | group_write, "place"}}));
  std::filesystem::permissions(hook, mode);
  std::filesystem::permissions(place, place_mode);
  Loop loop;
  std::optional<HookRun::Result> told;
  {
    UvTimers timers(*loop);
    const HookRun run(*loop, timers,
                      HookRun::Settings{.path = hook, .directory = place, .longest = 60s},
                      [&](const HookRun::Result& result) {
                        told = result;
                        uv_stop(&*loop);
                      });
    loop.run();
  }
  loop.run();

  REQUIRE(told);
  CHECK(told->status == (who.empty() ? 0 : 126));
  const std::string what = who == "hook" ? hook : place;
  CHECK(told->output ==
        (who.empty() ? "it runs"
                     : what + " can be written by others than its owner: chmod go-w " + what));
}

}  // namespace agent_loop_test

// Tests the parts of fleet-agent that do not handle commands:
// * the fetcher, which downloads releases: which releases it accepts, and which of its callers get
//   a result;
// * hooks, which are programs of the node that a plan runs: how and when a hook is run, and when
//   not;
// * writes to the store and requests to the upgrader, which must arrive even if answers get lost or
//   the upgrader is restarted.
#include "fleet/agent/fetcher.h"

#include <agent-protocol/agent.h>
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
#include "fleet/agent/kept_records.h"
#include "fleet/agent/pending_request.h"
#include "fleet/store/uv_timers.h"
#include "tests/support/temporary_directory.h"
#include "tests/together/fleet/fake_store.h"
#include "tests/together/releases/lock_holder.h"

namespace agent_test {

using namespace fleet;
using namespace std::chrono_literals;

// ---- releases that are fetched, and hooks

namespace {

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

// Aborts the test with a message on standard error if this object still exists after a minute.
class Limit {
 public:
  Limit() {
    std::signal(SIGALRM, [](int) {
      const std::string_view words = "agent_test: the loop has run for a minute\n";
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
  TemporaryDirectory directory;
  const SilentServer server;
  Fetcher fetcher(*loop, {directory.path() + "/releases", "web", "/nowhere"});
  bool told = false;

  fetcher.fetch({.version = "1.0.0", .release = release_at(server.url())},
                [&told](const Fetcher::Result&) { told = true; });
  server.wait_for_client();
  fetcher.leave();
  // The loop ends only if the fetcher no longer waits for the silent server. If the loop has not
  // ended after a minute, Limit aborts the test.
  loop.run();

  CHECK_FALSE(told);
}

TEST_CASE("a fetch fails with a reason if another process holds the directory for too long") {
  Loop loop;
  TemporaryDirectory directory;
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
  const TemporaryDirectory directory;
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

// ---- old releases, which are removed to make room for a new one

namespace {

// A directory with six releases of the program `web`, 1.0.0 to 1.5.0.
class SixReleases {
 public:
  SixReleases() {
    for (const char* const version : {"1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0"})
      directory_.write(std::string("web-v") + version, "a program");
  }
  const std::string& path() const { return directory_.path(); }

  // Tries to fetch release 1.6.0, which fails, since no server answers at its URL. Before the
  // download, fleet-agent removes old releases. Returns which of the six releases are left in the
  // directory, as their minor numbers: "015", for example.
  std::string after_a_fetch(std::size_t keep, const std::string& running, const std::string& before,
                            std::vector<std::string> controls = {}) {
    Loop loop;
    Fetcher fetcher(*loop, {.directory = directory_.path(),
                            .name = "web",
                            .keys = "/nowhere",
                            .keep = keep,
                            .controls = std::move(controls)});
    static_cast<void>(error_of(fetcher, loop,
                               {.version = "1.6.0",
                                .release = release_at("http://127.0.0.1:9/web.json"),
                                .running = running,
                                .before = before}));
    std::string left;
    for (int minor = 0; minor <= 5; ++minor) {
      const std::string number = std::to_string(minor);
      if (std::filesystem::exists(directory_ / ("web-v1." + number + ".0"))) left += number;
    }
    return left;
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace

TEST_CASE("the oldest releases make room for the next, but not what runs and what ran before") {
  SixReleases releases;
  CHECK(releases.after_a_fetch(0, "1.1.0", "1.0.0") == "012345");
  CHECK(releases.after_a_fetch(7, "1.1.0", "1.0.0") == "012345");
  CHECK(releases.after_a_fetch(6, "1.1.0", "1.0.0") == "01345");
  CHECK(releases.after_a_fetch(4, "1.1.0+build", "1.0.0") == "015");
  CHECK(releases.after_a_fetch(1, "1.1.0", "") == "1");
}

TEST_CASE("a release is not removed if it may be in use") {
  SixReleases releases;
  const TemporaryDirectory control;
  control.write("status.json",
                R"({"active":{"executable":")" + releases.path() + R"(/web-v1.2.0"}})");
  std::filesystem::create_symlink("web-v1.0.0", releases.path() + "/previous");

  CHECK(releases.after_a_fetch(1, "", "") == "012345");
  CHECK(releases.after_a_fetch(1, "unknown", "") == "012345");
  CHECK(releases.after_a_fetch(1, "1.5.0", "", {control / "absent"}) == "012345");
  CHECK(releases.after_a_fetch(1, "1.5.0", "", {control.path()}) == "025");
}

TEST_CASE("a hook that writes without end is killed in time, and keeps nothing else from running") {
  const Limit limit;
  const TemporaryDirectory directory;
  const std::string hook = directory / "file";
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
  const TemporaryDirectory directory;
  const std::string hook = directory / "file";
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

TEST_CASE("a file is fetched only from below a directory that is allowed") {
  const TemporaryDirectory directory;
  const std::string& path = directory.path();
  std::filesystem::create_directories(path + "/releases/1");
  std::filesystem::create_directories(path + "/releases-old");
  std::filesystem::create_symlink("/etc", path + "/releases/away");
  std::filesystem::create_symlink("loop", path + "/loop");
  const std::string releases = path + "/releases";

  CHECK(why_not_allowed({}, "https://releases.example/agent").empty());
  CHECK(why_not_allowed({releases}, "file://" + releases + "/1/agent").empty());
  CHECK(why_not_allowed({"/nowhere", releases + "/"}, releases + "/1/agent").empty());
  CHECK(why_not_allowed({"/"}, "file:///etc/hostname").empty());

  CHECK(why_not_allowed({}, "file:///etc/hostname") ==
        "neither http nor https, nor a file below what --allow-file names: file:///etc/hostname");
  CHECK_FALSE(why_not_allowed({releases}, "file://" + releases + "-old/agent").empty());
  CHECK_FALSE(why_not_allowed({releases}, "file://" + releases + "/../agent").empty());
  CHECK_FALSE(why_not_allowed({releases}, "file://" + releases + "/away/hostname").empty());
  CHECK_FALSE(why_not_allowed({path + "/loop"}, "file:///etc/hostname").empty());
  CHECK_FALSE(why_not_allowed({releases}, "file://" + path + "/loop/agent").empty());
  CHECK_FALSE(why_not_allowed({releases}, "ftp://releases.example/agent").empty());
}

// ---- records that KeptRecords writes again until they have the wanted values

// Requirements (tests/judging/rows): A-40
TEST_CASE("records get their wanted values, and only while the compared records are unchanged") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    VirtualTime time;
    FakeCell cell(time);
    FakeStore way(time, cell, seed, {.lost_requests = 60, .lost_answers = 60, .cut_watches = 60});
    const Revision active =
        std::get<Committed>(cell.commit({.puts = {{"/n/active", "me"}}})).revision;
    KeptRecords* kept = nullptr;
    Mirror mirror(way, time, {"/n/", true},
                  {.changed =
                       [&kept](const Changes&) {
                         if (kept != nullptr) kept->look();
                       }},
                  seed);
    KeptRecords records(way, time, mirror, seed, {.denied = [](const std::string&) {}});
    kept = &records;
    records.compare({Compare{.key = "/n/active", .revision = active}});

    for (int i = 0; i < 20; ++i) {
      records.want("/n/a", std::to_string(i));
      records.want("/n/b", std::to_string(i / 2));
      time.run_next_until(time.now() + 1s);
    }
    const auto end = time.now() + 600s;
    while (!records.stand() && time.run_next_until(end)) {
    }
    INFO("seed " << seed);
    CHECK(cell.read({"/n/a"}).found.at(0).value == "19");
    CHECK(cell.read({"/n/b"}).found.at(0).value == "9");

    cell.commit({.puts = {{"/n/active", "another"}}});
    records.want("/n/a", "of one who is not active");
    const auto later = time.now() + 60s;
    while (time.run_next_until(later)) {
    }
    CHECK(cell.read({"/n/a"}).found.at(0).value == "19");
  }
}

// ---- requests to an upgrader

using upgraderctl::Status;

namespace {

PendingRequest pending() {
  return PendingRequest(
      {.request = "i.1", .id = "r1.apply.1", .executable = "/web", .args = {}, .terms = {}});
}

// Returns the status of an upgrader that was started at the time `started`, and that can accept an
// upgrade.
Status working(const std::string& started) {
  Status status;
  status.upgrader.started = started;
  status.phase = "running";
  return status;
}

}  // namespace

TEST_CASE("a request goes once to each upgrader that takes upgrades") {
  PendingRequest request = pending();
  const Status first = working("1");
  CHECK(request.is_due(first));
  CHECK_FALSE(request.is_written());

  request.written(first);
  CHECK(request.has(first));
  CHECK_FALSE(request.is_due(first));

  CHECK_FALSE(request.has(working("2")));
  CHECK(request.is_due(working("2")));
}

TEST_CASE("a request does not go to an upgrader that would refuse it now") {
  for (const char* phase : {"starting", "trial", "shutting_down", "ended"}) {
    Status status = working("1");
    status.phase = phase;
    CHECK_FALSE(pending().is_due(status));
  }
}

TEST_CASE("a request that an upgrader could not take is due again, under another name") {
  PendingRequest request = pending();
  Status status = working("1");
  request.written(status);
  status.requests = {
      {.request = "i.1", .type = "upgrade", .ok = false, .reason = "busy: no agent is active yet"}};
  REQUIRE(PendingRequest::is_busy(status.requests[0].reason));
  CHECK_FALSE(request.was_taken(status));

  request.take_back();
  CHECK(request.is_due(status));
  request.rename("i.2");
  CHECK(request.request().request == "i.2");
  CHECK(request.request().id == "r1.apply.1");
}

TEST_CASE("a request was taken if its upgrade is under way, has ended, or was accepted") {
  Status runs = working("1");
  runs.upgrade.emplace().id = "r1.apply.1";
  Status ended = working("1");
  ended.endings.emplace_back().id = "r1.apply.1";
  Status accepted = working("1");
  accepted.requests = {{.request = "i.1", .type = "upgrade", .ok = true, .reason = ""}};

  for (const Status& status : {runs, ended, accepted})
    CHECK(pending().was_taken(status));
  CHECK_FALSE(pending().was_taken(working("1")));
}

}  // namespace agent_test

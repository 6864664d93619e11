// Tests how often the upgrader notifies init's watchdog during an upgrade with --relink, if the
// disk is slow. The upgrader's real event loop runs, the agents are shell scripts, and each fsync()
// takes as long as the test wants.
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstring>

#include "base/descriptors.h"
#include "tests/decisions/unit/blocked_sigchld.h"
#include "tests/decisions/unit/failing_calls.h"
#include "tests/decisions/unit/processes.h"
#include "upgrader/shell/environment.h"
#include "upgrader/shell/init_system.h"
#include "upgrader/shell/log.h"
#include "upgrader/shell/loop.h"

namespace failing_syncs_test {

using namespace upgrader;

namespace {

// The script of both agents. The first agent requests an upgrade to the program `two`. When this
// request is accepted, the agent runs the script `meanwhile`, which can write to the upgrader
// through descriptor 9. Then the agent waits for `stop`, and says `stopped`. The second agent ends
// when the upgrade is committed.
constexpr const char* agent_script = R"(#!/bin/sh
exec 8<&0 9>&1 </dev/null >&2
say() { echo '{"type":'"$1"'}' >&9; }
hear() { while read -r line <&8; do
  case $line in *'"type":"'"$1"'"'*) return 0 ;; esac
done; exit 1; }
say '"hello","protocol":1'
say '"ready"'
hear activate
directory=${0%/*}
if [ -e "$directory/asked" ]; then hear committed; exit 0; fi
: >"$directory/asked"
say '"upgrade","id":"u","executable":"'"$directory"'/two"'
hear accepted
. "$directory/meanwhile"
hear stop
exec >"$directory/gone"
say '"stopped"'
)";

// The notification socket of an init, which the test reads.
class Init {
 public:
  explicit Init(const std::string& path) : path_(path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(path.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, path.c_str(), path.size());
    fd_.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    REQUIRE(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }

  [[nodiscard]] const char* path() const { return path_.c_str(); }

  // Returns how many messages WATCHDOG=1 have arrived since the last call.
  int count_beats() {
    int beats = 0;
    char text[4'096];
    for (ssize_t bytes = 0; (bytes = ::recv(fd_.get(), text, sizeof text, 0)) >= 0;)
      beats += std::string_view(text, static_cast<std::size_t>(bytes)) == "WATCHDOG=1\n" ? 1 : 0;
    return beats;
  }

 private:
  std::string path_;
  OwnedFd fd_;
};

struct Upgrade {
  explicit Upgrade(const std::string& meanwhile) {
    directory.write("one", agent_script);
    directory.write("two", agent_script);
    directory.write("meanwhile", meanwhile);
    options.agent = directory.link("current", "one");
    options.relink = true;
    options.defaults.trial = Duration(0);
  }

  [[nodiscard]] int run(Duration watchdog) {
    REQUIRE(put_signals_right() == 0);
    const OwnedFd log(::memfd_create("log", MFD_CLOEXEC));
    REQUIRE(log);
    Logbook logbook(LogLevel::error, nullptr, log.get());
    InitSystem init_system(init.path(), watchdog);
    Loop loop(options, logbook, init_system, nullptr);
    ChildSetting setting;
    setting.environment = agent_environment(environ, std::nullopt, std::nullopt);
    const int status = loop.run(std::move(setting));
    at_fsync = nullptr;
    return status;
  }

  TemporaryDirectory directory;
  Init init{directory / "init"};
  Options options;
};

void let_pass(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end)
    ::poll(nullptr, 0, 1);
}

}  // namespace

TEST_CASE("init's watchdog is fed before each sync, however little the last one is past") {
  Upgrade upgrade("");
  int syncs = 0;
  at_fsync = [&] {
    const int beats = upgrade.init.count_beats();
    if (syncs > 0) CHECK(beats == 1);
    ++syncs;
    let_pass(early_beat_interval);
  };

  CHECK(upgrade.run(std::chrono::minutes(10)) == 0);

  CHECK(syncs > 3);
  CHECK(std::filesystem::read_symlink(upgrade.options.agent) == "two");
}

TEST_CASE("an agent whose heartbeat is overdue during the syncs is not vouched for any more") {
  Upgrade upgrade("");
  int syncs = 0;
  int beats = 0;
  at_fsync = [&] {
    const int since = upgrade.init.count_beats();
    ++syncs;
    if (syncs == 1) let_pass(std::chrono::milliseconds(1'100));
    if (syncs == 2 || syncs == 3) beats += since;
  };

  CHECK(upgrade.run(std::chrono::seconds(1)) == 0);

  CHECK(syncs > 3);
  CHECK(beats == 0);
}

TEST_CASE("an agent that goes on writing during the syncs is vouched for, though it is not read") {
  Upgrade upgrade(R"(
    while [ -e "$directory/one" ] && [ ! -e "$directory/gone" ]; do
      say '"heartbeat"'
      echo >>"$directory/beats"
      sleep 0.05
    done &
  )");
  const auto said = [&] { return content_of(upgrade.directory / "beats").size(); };
  int syncs = 0;
  int beats = 0;
  at_fsync = [&] {
    const int since = upgrade.init.count_beats();
    if (++syncs == 2) beats = since;
    if (syncs > 1) return;
    const std::size_t before = said();
    let_pass(std::chrono::milliseconds(1'100));
    for (int look = 0; said() <= before + 1 && look < patience_ms; ++look)
      ::poll(nullptr, 0, 1);
  };

  CHECK(upgrade.run(std::chrono::seconds(1)) == 0);

  CHECK(beats == 1);
}

TEST_CASE("an agent that had fallen silent before the syncs is not vouched for in them") {
  Upgrade upgrade(R"(
    hear upgrade_failed
    say '"upgrade","id":"again","executable":"'"$directory"'/two"'
    hear accepted
  )");
  const Failing failing(Call::fsync, EIO);
  int syncs = 0;
  int beats = 0;
  at_fsync = [&] {
    const int since = upgrade.init.count_beats();
    ++syncs;
    if (syncs == 1) let_pass(std::chrono::milliseconds(1'100));
    if (syncs == 3) beats += since;
  };

  CHECK(upgrade.run(std::chrono::seconds(1)) == 0);

  CHECK(syncs > 4);
  CHECK(beats == 0);
}

}  // namespace failing_syncs_test

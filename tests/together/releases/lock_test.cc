// Tests the locks on files in a directory of releases: which process waits, for how long, and for
// which file.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>

#include "agent-releases/releases.h"
#include "tests/support/temporary_directory.h"
#include "tests/together/releases/lock_holder.h"
#include "tools/agent-releases/core/ledger.h"
#include "tools/agent-releases/shell/ledger_file.h"
#include "tools/agent-releases/shell/lock.h"

namespace lock_test {

using namespace agent_releases;
using namespace std::chrono_literals;

namespace {

struct Bench {
  TemporaryDirectory place;
  Directory directory = std::move(Directory::open(place.path()).value());

  [[nodiscard]] mode_t mode(const std::string& name) const {
    struct stat status {};
    REQUIRE(::stat((place / name).c_str(), &status) == 0);
    return status.st_mode & 07777U;
  }
};

}  // namespace

TEST_CASE("a lock that another process holds is waited for no longer than was said") {
  Bench bench;
  LockHolder holder(bench.place / "lock");

  const auto now = try_lock(bench.directory, "lock");
  const auto later = wait_for_lock(bench.directory, "lock", {.limit = 20ms});

  CHECK(holder.has_held());
  REQUIRE(now);
  CHECK_FALSE(now.value());
  REQUIRE_FALSE(later);
  CHECK(later.reason() == "cannot lock " + (bench.place / "lock") + ": another process holds it");
  CHECK(later.refusal().trouble == Trouble::system);
}

TEST_CASE("a wait for a lock ends when the lock is free, or when the wait is cancelled") {
  Bench bench;
  LockHolder holder(bench.place / "lock");
  int asked = 0;
  const Patience cancelled{.limit = 1h, .cancelled = [&] { return ++asked == 3; }};
  const auto none = wait_for_lock(bench.directory, "lock", cancelled);
  REQUIRE_FALSE(none);
  CHECK(none.reason() == "it was cancelled");

  const Patience patient{.limit = 1h, .cancelled = [&] {
                           holder.release();
                           return false;
                         }};
  CHECK(wait_for_lock(bench.directory, "lock", patient));
}

TEST_CASE("a file keeps its mode while another process has the lock") {
  Bench bench;
  bench.place.write("published", "", 0644);
  LockHolder holder(bench.place / "published");

  const auto lock = try_lock(bench.directory, "published");

  CHECK(holder.has_held());
  REQUIRE(lock);
  CHECK_FALSE(lock.value());
  CHECK(bench.mode("published") == 0644);
}

TEST_CASE("a file that others could open is closed to them, and one that is new is, too") {
  Bench bench;
  bench.place.write("old", "", 0644);

  CHECK(try_lock(bench.directory, "old").value());
  CHECK(try_lock(bench.directory, "new").value());

  CHECK(bench.mode("old") == 0600);
  CHECK(bench.mode("new") == 0600);
}

TEST_CASE("a lock is for the file that has the name now, which must be a regular file") {
  Bench bench;
  bench.place.write("lock", "");
  {
    const auto old = try_lock(bench.directory, "lock");
    REQUIRE(old.value());
    std::filesystem::remove(bench.place / "lock");

    CHECK(try_lock(bench.directory, "lock").value());
  }
  REQUIRE(::mkfifo((bench.place / "fifo").c_str(), 0600) == 0);
  CHECK(try_lock(bench.directory, "fifo").reason() ==
        (bench.place / "fifo") + " is not a regular file");
}

TEST_CASE("a directory whose lock another process holds is not written to, and says why") {
  Bench bench;
  LockHolder holder(bench.place / ".lock");
  auto releases = Releases::open(
      {.directory = bench.place.path(), .name = "agent", .patience = 0ms, .cancelled = {}});
  REQUIRE(releases);

  const auto pruned = releases.value().prune(1, std::nullopt);

  REQUIRE_FALSE(pruned);
  CHECK(pruned.reason().ends_with("/.lock: another process holds it"));
  CHECK(holder.has_held());
}

TEST_CASE("a caller may forbid files as sources, and is told nothing about them") {
  Bench bench;
  bench.place.write("there.json", "{}", 0644);
  auto releases = Releases::open({.directory = bench.place.path(), .name = "agent"});
  REQUIRE(releases);
  for (const std::string& source :
       {bench.place / "there.json", bench.place / "absent.json",
        "file://" + (bench.place / "there.json"), std::string("gopher://x/y")}) {
    const auto added =
        releases.value().add({.source = source, .allow_files = false, .unsigned_is_wanted = true});
    REQUIRE_FALSE(added);
    CHECK(added.reason() == source + " is no URL of http or https, and no other is allowed");
    CHECK(added.refusal().trouble == Trouble::refused);
  }
}

TEST_CASE("an entry is not written into a ledger that another process locks") {
  Bench bench;
  LockHolder holder(bench.place / "ledger.jsonl");

  Entry entry;
  entry.version = *Version::parse("1.0.0");
  const Outcome noted = append_to_ledger(bench.directory, entry);

  REQUIRE_FALSE(noted);
  CHECK(noted.reason().ends_with("another process holds it"));
  CHECK(read_ledger(bench.directory).value().empty());
}

}  // namespace lock_test

// Tests small parts of fleet-agent: the format of its ledger on disk, the causes that it names for
// a failure, and its writes to the store, which must succeed even if the store's answers are lost.
#include <agent-protocol/agent.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "fleet/agent/failure_meaning.h"
#include "fleet/agent/fetcher.h"
#include "fleet/agent/kept_records.h"
#include "fleet/agent/ledger_file.h"
#include "tests/together/fleet/fake_store.h"

namespace agent_parts_test {

using namespace fleet;
using namespace std::chrono_literals;

namespace {

NodeLedger full_ledger() {
  NodeLedger ledger;
  ledger.begun = Command{.id = "r1.apply.1", .action = CommandAction::apply, .version = "2.0.0"};
  ledger.upgrade = ledger.begun;
  ledger.prepared = "2.0.0 d1";
  ledger.boot_id = "b1";
  ledger.reboot_wanted = true;
  ledger.late = "r0.apply.1";
  ledger.committed = "r0";
  ledger.answers = {Answer{.command = "a.b.1", .result = "two\nlines \"and\" quotes"},
                    Answer{.command = "a.b.2", .result = "done", .evidence = {{.stage = "s"}}}};
  ledger.progress = Upgrade{.phase = UpgradePhase::soaking,
                            .attempt = "r1.apply.1",
                            .evidence = {{.stage = "trial", .lines = {"one", "two"}}}};
  return ledger;
}

class Directory {
 public:
  Directory() { REQUIRE(mkdtemp(name_.data()) != nullptr); }
  ~Directory() { std::filesystem::remove_all(name_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  std::string file() const { return name_ + "/ledger"; }
  const std::string& path() const { return name_; }

 private:
  std::string name_ = (std::filesystem::temp_directory_path() / "ledger.XXXXXX").string();
};

agent_protocol::Agent::Failure failure(const std::string& stage, const std::string& reason) {
  return {.id = "r1.apply.1", .stage = stage, .reason = reason};
}

}  // namespace

TEST_CASE("a file is fetched only from below a directory that is allowed") {
  const Directory directory;
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

TEST_CASE("a ledger comes back from the disk as it went there") {
  const Directory directory;
  const LedgerFile file(directory.file());
  REQUIRE(file.read());
  CHECK(file.read().value() == NodeLedger());

  const NodeLedger ledger = full_ledger();
  REQUIRE(file.write(ledger).empty());

  REQUIRE(file.read());
  CHECK(file.read().value() == ledger);
  NodeLedger little;
  little.begun = Command{.id = "desired.stop.1", .action = CommandAction::stop};
  REQUIRE(file.write(little).empty());
  REQUIRE(file.read());
  CHECK(file.read().value() == little);
}

TEST_CASE("a ledger that is cut off anywhere is refused, and never read in part") {
  const std::string text = ledger_text(full_ledger());

  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    INFO(size);
    CHECK_FALSE(ledger_from(text.substr(0, size)));
  }
  CHECK(ledger_from(text));
  CHECK_FALSE(ledger_from("begun {nonsense\nend\n"));
}

TEST_CASE("a line that a newer fleet-agent has written is ignored") {
  const std::string text = "something new\n" + ledger_text(full_ledger());

  REQUIRE(ledger_from(text));
  CHECK(ledger_from(text).value() == full_ledger());
}

TEST_CASE("an error in writing the ledger is reported, and the old ledger stays") {
  const Directory directory;
  const LedgerFile file(directory.file());
  REQUIRE(file.write(full_ledger()).empty());
  REQUIRE(std::filesystem::create_directory(directory.file() + ".new"));

  CHECK_FALSE(file.write(NodeLedger()).empty());

  CHECK(file.read().value() == full_ledger());
}

TEST_CASE("an upgrade that went back by order or unconfirmed is not a failure of the version") {
  NodeLedger applied = full_ledger();
  NodeLedger ordered = applied;
  ordered.begun = Command{.id = "r1.rollback.1", .action = CommandAction::rollback};
  const std::string silent = "did not say healthy within 60s";

  CHECK(ending_of(failure("trial", silent), applied) == UpgradeEnding::rolled_back);
  CHECK(ending_of(failure("trial", "exited with status 3"), applied) == UpgradeEnding::failed);
  CHECK(ending_of(failure("start", silent), applied) == UpgradeEnding::failed);
  CHECK(ending_of(failure("trial", "unfit: told"), ordered) == UpgradeEnding::rolled_back);
  CHECK(ending_of(failure("cancel", "told"), ordered) == UpgradeEnding::rolled_back);
  CHECK(ending_of(failure("start", "exited"), ordered) == UpgradeEnding::failed);
}

TEST_CASE("an upgrade is under way until the ledger has its end") {
  NodeLedger ledger = full_ledger();
  CHECK(is_under_way(ledger));
  ledger.progress.phase = UpgradePhase::done;
  CHECK_FALSE(is_under_way(ledger));
  ledger.progress.attempt = "an earlier one";
  CHECK(is_under_way(ledger));
  CHECK_FALSE(is_under_way(NodeLedger()));
}

// Rows: A-40
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

}  // namespace agent_parts_test

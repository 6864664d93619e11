// Tests the files in which fleet-agent keeps its state: the ledger, a file that records which
// commands it has begun, and the file by which the node recognises its store. Also tests when a
// node stops trusting the store.
#include "fleet/agent/state_files.h"

#include <agent-protocol/agent.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/directory.h"
#include "fleet/agent/failure_meaning.h"
#include "fleet/common/text_file.h"
#include "fleet/model/signer/store_snapshots.h"
#include "tests/support/temporary_directory.h"

namespace state_files_test {

using namespace fleet;

// ---- the ledger

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

agent_protocol::Agent::Failure failure(const std::string& stage, const std::string& reason) {
  return {.id = "r1.apply.1", .stage = stage, .reason = reason};
}

}  // namespace

TEST_CASE("a ledger comes back from the disk as it went there") {
  const TemporaryDirectory directory;
  const LedgerFile file(directory / "file");
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

TEST_CASE("what is no file in the place of a ledger is refused, and is not waited for") {
  const TemporaryDirectory directory;
  const LedgerFile file(directory / "file");
  SECTION("a directory") {
    REQUIRE(std::filesystem::create_directory(directory / "file"));
  }
  SECTION("a link to itself") {
    std::filesystem::create_symlink(directory / "file", directory / "file");
  }
  SECTION("a FIFO") {
    REQUIRE(::mkfifo((directory / "file").c_str(), 0600) == 0);
  }

  const auto ledger = file.read();

  REQUIRE_FALSE(ledger);
  CHECK(ledger.reason().starts_with((directory / "file") + ": "));
  CHECK(read_known_store(directory / "file").reason().starts_with((directory / "file") + ": "));
}

TEST_CASE("the store that a node knows is read as it was written, and never guessed") {
  const TemporaryDirectory directory;
  const std::string file = directory / "file";
  CHECK(read_known_store(file).value() == KnownStore());
  REQUIRE(write_known_store(file, {3, 120}).empty());
  CHECK(read_known_store(file).value() == KnownStore{3, 120});
  REQUIRE(replace_file(file, GENERATE("", "3 ", "x 120\n", "3 120x\n")).empty());
  CHECK(read_known_store(file).reason() == file + ": is not an epoch and a revision");
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

TEST_CASE("a version with several lines does not make the ledger unreadable") {
  NodeLedger ledger = full_ledger();
  ledger.leaves = GENERATE("1.0.0\nbuilt on Monday", "1.0.0\nend", "\n");
  ledger.came_from = ledger.leaves;

  const auto read = ledger_from(ledger_text(ledger));

  REQUIRE(read);
  CHECK(read.value().answers == ledger.answers);
  CHECK_FALSE(read.value().ran_before("1.0.0", ""));
}

TEST_CASE("an error in writing the ledger is reported, and the old ledger stays") {
  const TemporaryDirectory directory;
  const LedgerFile file(directory / "file");
  REQUIRE(file.write(full_ledger()).empty());
  REQUIRE(
      std::filesystem::create_directory(directory / upgrader::Directory::prepared_name("file")));

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

// If the interrupted upgrade still counted as under way, a later upgrade to a desired version would
// fail: fleet-agent would wait for a command `confirm` that never comes, and the upgrader would go
// back to the old version.
TEST_CASE("an upgrade whose command was interrupted before a restart is not under way afterwards") {
  const UpgradePhase phase = GENERATE(UpgradePhase::done, UpgradePhase::staging);
  const std::string attempt = phase == UpgradePhase::staging ? "r2.apply.1" : "r1.apply.1";
  const Command apply{.id = "r2.apply.1", .action = CommandAction::apply, .trace = "r2"};
  NodeCommander next({"n", "agent", "i", "b"},
                     {.begun = apply, .progress = {.phase = phase, .attempt = attempt}});
  static_cast<void>(next.step(Restarted{}, 0));
  REQUIRE(next.ledger().answer_to("r2.apply.1") != nullptr);
  CHECK_FALSE(is_under_way(next.ledger()));
}

// ---- a store that may have been restored from an older snapshot

TEST_CASE("a node that knows no store takes the first, and follows its revisions") {
  StoreVerdict now = judge_store({}, {.number = 3}, 100);
  CHECK(now.doubt == "");
  CHECK(now.known == KnownStore{3, 100});
  now = judge_store(now.known, {.number = 3}, 120);
  CHECK(now.doubt == "");
  CHECK(now.known == KnownStore{3, 120});
}

TEST_CASE("a store at a lower revision is an older copy, and nothing is done") {
  const StoreVerdict now = judge_store({3, 120}, {.number = 3}, 119);
  CHECK(now.doubt == "the store has gone back to an older revision");

  // The nodes continue to write to the older copy of the store, so its revision grows. Each node
  // writes into the store why it doubts the store. This text must not contain the revision.
  // Otherwise each write of a node would make all other nodes write their texts again.
  CHECK(judge_store(now.known, {.number = 3}, 120).doubt == now.doubt);
  CHECK(judge_store(now.known, {.number = 3}, 1'000'000).doubt == now.doubt);
  CHECK(judge_store(now.known, {.number = 3}, 1'000'000).known == now.known);
  const StoreVerdict last = judge_store(now.known, {.number = 4, .accepted = true}, 130);
  CHECK(last.doubt == "");
  CHECK(last.known == KnownStore{4, 130});
}

TEST_CASE("a node goes on with another epoch only when it is accepted") {
  const KnownStore known{3, 120};
  CHECK(judge_store(known, {.number = 4}, 500).doubt == "epoch 4 is not accepted (known: 3)");
  const StoreVerdict now = judge_store(known, {.number = 4, .accepted = true}, 80);
  CHECK(now.doubt == "");
  CHECK(now.known == KnownStore{4, 80});
  // An epoch begins when the store is restored from a snapshot. A person has accepted epoch 4, and
  // in this epoch the node has seen revision 90. Now the store is at revision 80, although
  // revisions only grow. So the store was restored once more, without a new epoch. No person has
  // accepted this restore.
  CHECK(judge_store({4, 90}, {.number = 4, .accepted = true}, 80).doubt != "");
}

TEST_CASE("a second restore is doubted, too, if its snapshot knows nothing of the first one") {
  const Epoch in_snapshot;
  Epoch first = next_epoch(in_snapshot, 1'000, "an old snapshot");
  CHECK(first.number == 1'000);
  first.accepted = true;
  const KnownStore known = judge_store({0, 400}, first, 100).known;
  CHECK(known == KnownStore{1'000, 100});

  // Now the store is restored a second time, from a newer snapshot. But this snapshot, too, was
  // taken before the first restore. So it does not have the epoch, the record that marks the first
  // restore.
  const Epoch second = next_epoch(in_snapshot, 1'600, "the right snapshot");
  CHECK(judge_store(known, second, 400).doubt == "epoch 1600 is not accepted (known: 1000)");
  CHECK(next_epoch(second, 7, "a clock that is wrong").number == 1'601);
}

}  // namespace state_files_test

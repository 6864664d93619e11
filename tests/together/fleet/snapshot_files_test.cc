// Tests the store's snapshots as files in a directory: when the next snapshot is due, and which
// snapshots are kept.
#include "fleet/model/snapshot_files.h"

#include <catch2/catch.hpp>

namespace snapshot_files_test {

namespace {

using namespace fleet;
using Files = std::vector<std::string>;

TEST_CASE("the name of a snapshot's file tells its time, and names sort by time") {
  CHECK(snapshot_name(1'800'000'000) == "cell-001800000000.snapshot");
  CHECK(snapshot_time("cell-001800000000.snapshot") == 1'800'000'000);
  CHECK(snapshot_name(999'999'999) < snapshot_name(1'000'000'000));
}

TEST_CASE("a file with another name is not a snapshot") {
  const auto* name =
      GENERATE("", "cell-.snapshot", "cell-12.snapshot", "cell-00180000000x.snapshot",
               "cell-001800000000.snapshot.new", "cell--01800000000.snapshot");

  CHECK_FALSE(snapshot_time(name));
}

TEST_CASE("a snapshot is due an hour after the last one, and at once if there is none") {
  const Files files{snapshot_name(10'000), snapshot_name(6'000), "notes"};

  CHECK(until_snapshot({}, 10'000) == 0);
  CHECK(until_snapshot(files, 10'000) == 3'600);
  CHECK(until_snapshot(files, 13'000) == 600);
  CHECK(until_snapshot(files, 20'000) == 0);
  // The newest snapshot's time is in the future: the clock was an hour ahead when it was taken. A
  // new snapshot is due at once.
  CHECK(until_snapshot(files, 9'000) == 0);
}

TEST_CASE("the last snapshots are kept, and other files are left alone") {
  const Files files{snapshot_name(3), "notes", snapshot_name(1), snapshot_name(2)};

  CHECK(outlived_snapshots(files, 2) == Files{snapshot_name(1)});
  CHECK(outlived_snapshots(files, 3).empty());
  CHECK(outlived_snapshots({}, 3).empty());
}

}  // namespace

}  // namespace snapshot_files_test

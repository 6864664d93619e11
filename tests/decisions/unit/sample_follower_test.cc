// Tests how the sample agent follows a log across rotations, both while it runs and after it has
// been stopped.
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "sample-agent/follower.h"
#include "tests/support/temporary_directory.h"

namespace sample_follower_test {

using namespace sample_agent;
namespace fs = std::filesystem;

namespace {

class Log {
 public:
  Log() { append(""); }

  void append(const std::string& text, const std::string& name = "log") const {
    std::ofstream(directory_ / name, std::ios::binary | std::ios::app) << text;
  }
  void rename(const std::string& from, const std::string& to) const {
    fs::rename(directory_ / from, directory_ / to);
  }
  // Renames the logs as logrotate does, and makes no new log.
  void rotate() {
    for (int age = ++rotations_; age > 1; --age) {
      rename("log." + std::to_string(age - 1), "log." + std::to_string(age));
    }
    rename("log", "log.1");
  }
  // Sets the time of the file's last write.
  void set_modified(const std::string& name, std::uint64_t time_us) const {
    const timespec time{.tv_sec = static_cast<std::time_t>(time_us / 1'000'000),
                        .tv_nsec = static_cast<long>(time_us % 1'000'000 * 1'000)};
    const timespec times[2] = {time, time};
    if (utimensat(AT_FDCWD, (directory_ / name).c_str(), times, 0) != 0) std::abort();
  }
  void remove(const std::string& name) const { fs::remove(directory_ / name); }
  [[nodiscard]] std::string path(const std::string& name = "log") const {
    return directory_ / name;
  }

 private:
  TemporaryDirectory directory_;
  int rotations_ = 0;
};

constexpr std::uint64_t second_us = 1'000'000;

// The current time in tests that do not set a time. It is long after every write to the logs.
constexpr std::uint64_t long_after_us = 10'000'000'000 * second_us;

std::optional<std::string> next(Follower& follower, std::uint64_t now_us = long_after_us) {
  const auto line = follower.peek(now_us);
  REQUIRE(line);
  if (!line.value()) return std::nullopt;
  const std::string text(*line.value());
  follower.take();
  return text;
}

using Texts = std::vector<std::string>;

Texts all(Follower& follower, std::uint64_t now_us = long_after_us) {
  Texts lines;
  while (const auto line = next(follower, now_us))
    lines.push_back(*line);
  return lines;
}

Position place_of(const Follower& follower) {
  Position position;
  follower.note_place(position);
  return position;
}

Texts names(const std::vector<RotatedFile>& files) {
  Texts result;
  for (const RotatedFile& file : files)
    result.push_back(file.name);
  return result;
}

}  // namespace

TEST_CASE("names with a number or a date after a dot or a dash are rotated ones") {
  for (const char* name : {"log.1", "log.10", "log-20240102", "log.2024-01-02", "log-1700000000",
                           "log-2024-01-02T10:11:12", "log.1_2"}) {
    INFO(name);
    CHECK(is_rotated_name("log", name));
  }
  for (const char* name : {"log", "log.", "log-", "log1", "log.1.gz", "log.old", "log..1", "log.-1",
                           "other.1", "lo", "log.1~", "log.T1"}) {
    INFO(name);
    CHECK_FALSE(is_rotated_name("log", name));
  }
}

TEST_CASE("rotated files are sorted by age: dates grow, numbers of rotations fall") {
  std::vector<RotatedFile> files;
  for (const char* name : {"log.1", "log", "log.10", "log-20240102", "log.2", "log-20240101"}) {
    files.push_back({.name = name, .id = {}});
  }

  sort_by_age(files, "log");

  CHECK(names(files) == Texts{"log-20240101", "log-20240102", "log.10", "log.2", "log.1", "log"});
}

TEST_CASE("only regular files with such names beside the log are found") {
  const Log log;
  log.append("", "log.1");
  log.append("", "log.1.gz");
  log.append("", "other.1");
  fs::create_directory(log.path("log.2"));

  CHECK(names(rotated_files(log.path())) == Texts{"log.1", "log"});
}

TEST_CASE("a log that appears later is followed from its beginning") {
  const Log log;
  log.remove("log");
  Follower follower(log.path());
  CHECK(all(follower).empty());
  CHECK(follower.file() == std::nullopt);

  log.append("one\n");

  CHECK(all(follower) == Texts{"one"});
}

TEST_CASE("a rotated log is read to its end before the new one is begun") {
  Log log;
  Follower follower(log.path());
  log.append("one\n");
  CHECK(all(follower) == Texts{"one"});

  log.append("two\n");
  log.rotate();
  log.append("three\n", "log.1");
  log.append("four\n");

  CHECK(all(follower) == Texts{"two", "three", "four"});
  CHECK(follower.take_reports().empty());
}

TEST_CASE("a log that is renamed is followed until the new one has something in it") {
  Log log;
  Follower follower(log.path());
  log.append("one\n");
  CHECK(all(follower) == Texts{"one"});
  log.rotate();
  log.append("two\n", "log.1");
  CHECK(all(follower) == Texts{"two"});

  log.append("");
  log.append("three\n", "log.1");
  CHECK(all(follower) == Texts{"three"});
  log.append("fo");
  CHECK(all(follower).empty());
  log.append("ur\n");

  CHECK(all(follower) == Texts{"four"});
}

TEST_CASE("an unfinished last line of a log that was left is a line") {
  Log log;
  Follower follower(log.path());
  log.append("one\ntw");
  CHECK(all(follower) == Texts{"one"});
  log.rotate();

  log.append("three\n");

  CHECK(all(follower) == Texts{"tw", "three"});
}

TEST_CASE("several rotations at once are followed one after the other") {
  Log log;
  Follower follower(log.path());
  log.append("one\n");
  CHECK(all(follower) == Texts{"one"});

  for (const char* line : {"two\n", "three\n", "four\n"}) {
    log.rotate();
    log.append(line);
  }

  CHECK(all(follower) == Texts{"two", "three", "four"});
  CHECK(follower.take_reports().empty());
}

TEST_CASE("rotations that were missed while down are found by inode") {
  Log log;
  Position position;
  {
    Follower follower(log.path());
    log.append("one\ntwo\n");
    CHECK(next(follower) == "one");
    position = place_of(follower);
  }
  SECTION("none") {}
  SECTION("one") {
    log.rotate();
  }
  SECTION("one, by date") {
    log.rename("log", "log-20240102");
  }
  SECTION("one, before a start of the machine that gave the device another number") {
    log.rotate();
    ++position.input.device;
  }
  SECTION("three") {
    log.rotate();
    log.append("three\n");
    log.rotate();
    log.append("four\n");
    log.rotate();
  }
  log.append("last\n");

  Follower follower(log.path());
  CHECK(follower.resume(position).value());

  Texts lines = all(follower);
  CHECK(lines.front() == "two");
  CHECK(lines.back() == "last");
  CHECK((lines.size() == 2 || lines == Texts{"two", "three", "four", "last"}));
  CHECK(follower.take_reports().empty());
}

TEST_CASE("a log that has gone while the agent was down is reported, and the present one read") {
  Log log;
  Position position;
  {
    Follower follower(log.path());
    log.append("one\ntwo\n");
    CHECK(next(follower) == "one");
    position = place_of(follower);
  }
  log.rename("log", "elsewhere");
  log.append("three\n");

  Follower follower(log.path());
  CHECK_FALSE(follower.resume(position).value());

  CHECK(all(follower) == Texts{"three"});
  const Texts reports = follower.take_reports();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].find("lines after that may be missing") != std::string::npos);
  CHECK(follower.take_reports().empty());
}

TEST_CASE("another file under the same inode is told apart by the mark, and by nothing else") {
  Log log;
  log.append("one\ntwo\n");
  Follower follower(log.path());
  CHECK(next(follower) == "one");
  Position position = place_of(follower);
  std::ofstream(log.path()) << "ONE\nTWO\nTHREE\n";

  CHECK_FALSE(Follower(log.path()).resume(position).value());
  position.mark.reset();
  CHECK(Follower(log.path()).resume(position).value());
}

TEST_CASE("a log that was cut is reported, and read from its beginning") {
  Log log;
  Follower follower(log.path());
  log.append("one\ntwo\n");
  CHECK(all(follower) == Texts{"one", "two"});

  std::ofstream(log.path()) << "new\n";

  CHECK(all(follower) == Texts{"new"});
  CHECK(follower.take_reports().size() == 1);
}

TEST_CASE("a log that was cut and has outgrown its former size is not taken for one that grew") {
  Log log;
  Follower follower(log.path());
  log.append("one\ntwo\n");
  CHECK(all(follower) == Texts{"one", "two"});

  std::ofstream(log.path()) << "ONE\nTWO\nTHREE\n";

  CHECK(all(follower) == Texts{"ONE", "TWO", "THREE"});
  const Texts reports = follower.take_reports();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].find("before its byte 8 is not what was read") != std::string::npos);
  CHECK(reports[0].find("lines may be missing") != std::string::npos);
}

TEST_CASE("what had been read of a line when the log was cut is a line") {
  Log log;
  Follower follower(log.path());
  log.append("one\nhalf of a ");
  CHECK(all(follower) == Texts{"one"});

  SECTION("and has outgrown it since") {
    std::ofstream(log.path()) << "ONE\nline with another beginning\n";
    CHECK(all(follower) == Texts{"half of a ", "ONE", "line with another beginning"});
  }
  SECTION("and is empty now") {
    std::ofstream(log.path()).flush();
    CHECK(all(follower) == Texts{"half of a "});
    log.append("ONE\n");
    CHECK(all(follower) == Texts{"ONE"});
  }
  CHECK(follower.take_reports().size() == 1);
}

TEST_CASE("a log that is cut more than once is reported each time") {
  Log log;
  Follower follower(log.path());
  for (const char* line : {"one", "longer than one", "much longer than the one before it"}) {
    std::ofstream(log.path()) << line << '\n';
    CHECK(all(follower) == Texts{line});
  }
  CHECK(follower.take_reports().size() == 2);
}

TEST_CASE("the place in a log is marked by what was read, not by what stands there now") {
  Log log;
  log.append("one\ntwo\n");
  Follower follower(log.path());
  CHECK(all(follower) == Texts{"one", "two"});
  std::ofstream(log.path()) << "ONE\nTWO\nTHREE\n";

  const Position position = place_of(follower);

  Follower heir(log.path());
  CHECK_FALSE(heir.resume(position).value());
  CHECK(all(heir) == Texts{"ONE", "TWO", "THREE"});
}

TEST_CASE("an heir finds out that a log was cut between its start and its first read") {
  Log log;
  log.append("one\ntwo\n");
  Follower follower(log.path());
  CHECK(all(follower) == Texts{"one", "two"});
  const Position position = place_of(follower);
  Follower heir(log.path());
  CHECK(heir.resume(position).value());

  std::ofstream(log.path()) << "ONE\nTWO\nTHREE\n";

  CHECK(all(heir) == Texts{"ONE", "TWO", "THREE"});
  CHECK(heir.take_reports().size() == 1);
}

TEST_CASE("a writer that is late on the old log loses nothing while that has not been quiet") {
  constexpr std::uint64_t wait_us = 5 * second_us;
  constexpr std::uint64_t start_us = 1'000 * second_us;
  Log log;
  Follower follower(log.path(), wait_us);
  log.append("one\n");
  CHECK(all(follower, start_us) == Texts{"one"});
  CHECK(follower.wait_us() == std::nullopt);

  log.rotate();
  log.append("four\n");
  log.set_modified("log.1", start_us);
  CHECK(all(follower, start_us).empty());
  CHECK(follower.wait_us() == wait_us);
  log.append("two\nth", "log.1");
  log.set_modified("log.1", start_us + 4 * second_us);
  CHECK(all(follower, start_us + 6 * second_us) == Texts{"two"});
  CHECK(follower.wait_us() == 3 * second_us);
  log.append("ree\n", "log.1");
  log.set_modified("log.1", start_us + 8 * second_us);
  CHECK(all(follower, start_us + 12 * second_us) == Texts{"three"});

  CHECK(all(follower, start_us + 13 * second_us) == Texts{"four"});
  CHECK(follower.wait_us() == std::nullopt);
  CHECK(follower.take_reports().empty());
}

TEST_CASE("an old log that was quiet before the agent started is left at once") {
  Log log;
  log.append("one\n");
  log.rotate();
  log.append("two\n");
  log.rotate();
  log.append("three\n");
  for (const char* name : {"log", "log.1", "log.2"})
    log.set_modified(name, 1'000 * second_us);
  Position position;
  {
    Follower follower(log.path("log.2"));
    CHECK(next(follower) == "one");
    position = place_of(follower);
  }

  Follower follower(log.path(), 5 * second_us);
  CHECK(follower.resume(position).value());

  CHECK(all(follower, 1'005 * second_us) == Texts{"two", "three"});
}

TEST_CASE("where the time of the old log lies in the future, only what was seen counts") {
  constexpr std::uint64_t start_us = 1'000 * second_us;
  Log log;
  Follower follower(log.path(), 5 * second_us);
  log.append("one\n");
  CHECK(all(follower, start_us) == Texts{"one"});
  log.rotate();
  log.set_modified("log.1", 9'000 * second_us);
  log.append("two\n");

  CHECK(all(follower, start_us).empty());
  CHECK(follower.wait_us() == 5 * second_us);
  CHECK(all(follower, start_us - 100 * second_us).empty());  // the clock was set back by 100 s
  CHECK(follower.wait_us() == 5 * second_us);

  CHECK(all(follower, start_us - 95 * second_us) == Texts{"two"});
}

TEST_CASE("what comes to an old log after it was left is reported with its size") {
  constexpr std::uint64_t wait_us = 5 * second_us;
  constexpr std::uint64_t start_us = 1'000 * second_us;
  Log log;
  Follower follower(log.path(), wait_us);
  log.append("one\n");
  CHECK(all(follower, start_us) == Texts{"one"});
  log.rotate();
  log.set_modified("log.1", start_us);
  log.append("two\n");
  CHECK(all(follower, start_us + wait_us) == Texts{"two"});
  CHECK(follower.take_reports().empty());

  log.append("late\n", "log.1");
  CHECK(all(follower, start_us + 2 * wait_us).empty());
  const Texts reports = follower.take_reports();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].starts_with("5 bytes were written to the input that was rotated"));

  CHECK(all(follower, start_us + 3 * wait_us).empty());
  CHECK(follower.take_reports().empty());
  log.append("later\n", "log.1");
  CHECK(all(follower, start_us + 4 * wait_us).empty());
  CHECK(follower.take_reports().size() == 1);
}

TEST_CASE("a file is begun whenever its first line is shown, and again when it was cut") {
  Log log;
  Follower follower(log.path());
  CHECK(follower.files_begun() == 0);
  log.append("one\n");
  CHECK(all(follower) == Texts{"one"});
  CHECK(follower.files_begun() == 1);

  log.rotate();
  log.append("two\n");
  CHECK(all(follower) == Texts{"two"});
  CHECK(follower.files_begun() == 2);
  std::ofstream(log.path()) << "three\n";
  CHECK(all(follower) == Texts{"three"});

  CHECK(follower.files_begun() == 3);
}

TEST_CASE("a log that was deleted under the agent is reported, and the present one read") {
  Log log;
  Follower follower(log.path());
  log.append("one\n");
  CHECK(all(follower) == Texts{"one"});

  log.append("two\n");
  log.remove("log");
  log.append("three\n");

  CHECK(all(follower) == Texts{"two", "three"});
  CHECK(follower.take_reports().size() == 1);
}

TEST_CASE("a log that cannot be read is told") {
  Log log;
  log.remove("log");
  fs::create_directory(log.path());
  Follower follower(log.path());

  CHECK_FALSE(follower.peek(0));
}

}  // namespace sample_follower_test

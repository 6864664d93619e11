// Following a log across its rotations, while running and after having been down.
#include <catch2/catch.hpp>

#include "sample-agent/follower.h"
#include "sample-agent/rotation.h"
#include "tests/unit/temporary_directory.h"

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
  // As logrotate does, without the new file.
  void rotate() {
    for (int age = ++rotations_; age > 1; --age) {
      rename("log." + std::to_string(age - 1), "log." + std::to_string(age));
    }
    rename("log", "log.1");
  }
  void remove(const std::string& name) const { fs::remove(directory_ / name); }
  [[nodiscard]] std::string path(const std::string& name = "log") const {
    return directory_ / name;
  }

 private:
  TemporaryDirectory directory_;
  int rotations_ = 0;
};

std::optional<std::string> next(Follower& follower) {
  const auto line = follower.peek();
  REQUIRE(line);
  if (!line.value()) return std::nullopt;
  const std::string text(*line.value());
  follower.take();
  return text;
}

using Texts = std::vector<std::string>;

Texts all(Follower& follower) {
  Texts lines;
  while (const auto line = next(follower))
    lines.push_back(*line);
  return lines;
}

Position place_of(const Follower& follower) {
  Position position;
  REQUIRE(follower.note_place(position));
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
  CHECK_FALSE(follower.take_report());
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
  CHECK_FALSE(follower.take_report());
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
  CHECK_FALSE(follower.take_report());
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
  const auto report = follower.take_report();
  REQUIRE(report);
  CHECK(report->find("lines after that may be missing") != std::string::npos);
  CHECK_FALSE(follower.take_report());
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
  CHECK(follower.take_report());
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
  CHECK(follower.take_report());
}

TEST_CASE("a log that cannot be read is told") {
  Log log;
  log.remove("log");
  fs::create_directory(log.path());
  Follower follower(log.path());

  CHECK_FALSE(follower.peek());
}

// Tests how the sample agent reads lines from a file that grows, and how it formats and parses the
// records of its output.
#include <catch2/catch.hpp>

#include "sample-agent/copier.h"
#include "sample-agent/lines.h"
#include "tests/support/temporary_directory.h"

namespace sample_lines_test {

using namespace sample_agent;

namespace {

class GrowingFile {
 public:
  GrowingFile() { directory_.write("file", ""); }

  void append(const std::string& text) const {
    std::ofstream(path(), std::ios::binary | std::ios::app) << text;
  }
  [[nodiscard]] std::string path() const { return directory_ / "file"; }
  [[nodiscard]] Lines lines(std::uint64_t offset = 0, std::size_t bytes_max = 1'000'000) const {
    Result<File> file = File::open(path(), O_RDONLY);
    return Lines(std::move(file.value()), offset, bytes_max);
  }

 private:
  TemporaryDirectory directory_;
};

// Returns the next line and consumes it.
std::optional<std::string> next(Lines& lines) {
  const auto line = lines.peek();
  REQUIRE(line);
  if (!line.value()) return std::nullopt;
  const std::string text(*line.value());
  lines.take();
  return text;
}

}  // namespace

TEST_CASE("lines are shown in order, empty ones and every byte included") {
  const GrowingFile file;
  file.append(std::string("one\n\ntwo\r\n\0\xff three\n", 19));
  Lines lines = file.lines();

  CHECK(next(lines) == "one");
  CHECK(next(lines) == "");
  CHECK(next(lines) == "two\r");
  CHECK(next(lines) == std::string("\0\xff three", 8));
  CHECK(next(lines) == std::nullopt);
  CHECK(lines.offset() == 19);
}

TEST_CASE("a line that is not whole is not shown until it is") {
  const GrowingFile file;
  Lines lines = file.lines();
  for (const char* part : {"a", " line", " in", " parts"}) {
    file.append(part);
    CHECK(next(lines) == std::nullopt);
    CHECK(lines.offset() == 0);
  }

  file.append("\nnext");

  CHECK(next(lines) == "a line in parts");
  CHECK(next(lines) == std::nullopt);
  CHECK(lines.offset() == 16);
}

TEST_CASE("a line that is not taken is shown again") {
  const GrowingFile file;
  file.append("one\ntwo\n");
  Lines lines = file.lines();

  CHECK(lines.peek().value() == "one");
  CHECK(lines.peek().value() == "one");
  CHECK(lines.offset() == 0);
}

TEST_CASE("lines begin where they are told to") {
  const GrowingFile file;
  file.append("one\ntwo\n");
  Lines lines = file.lines(4);

  CHECK(next(lines) == "two");
  CHECK(lines.offset() == 8);
}

TEST_CASE("the rest after the last newline is shown when it is asked for") {
  const GrowingFile file;
  file.append("one\nrest");
  Lines lines = file.lines();
  CHECK(next(lines) == "one");
  CHECK(next(lines) == std::nullopt);

  CHECK(lines.peek_rest() == "rest");
  lines.take();

  CHECK(lines.offset() == 8);
  CHECK(lines.peek_rest() == std::nullopt);
}

TEST_CASE("a line over the limit is shown in pieces that do not depend on when it is read") {
  const GrowingFile file;
  const std::string text =
      std::string(10, 'a') + std::string(10, 'b') + "c\n" + std::string(10, 'd') + "\nend\n";
  const std::vector<std::optional<std::string>> pieces{std::string(10, 'a'), std::string(10, 'b'),
                                                       "c", std::string(10, 'd'), "end"};
  std::vector<std::optional<std::string>> found;

  SECTION("at once") {
    file.append(text);
    Lines lines = file.lines(0, 10);
    while (const auto line = next(lines))
      found.push_back(line);
  }
  SECTION("byte for byte") {
    Lines lines = file.lines(0, 10);
    for (const char byte : text) {
      file.append(std::string(1, byte));
      while (const auto line = next(lines))
        found.push_back(line);
    }
  }

  CHECK(found == pieces);
}

TEST_CASE("many lines over many reads are all shown") {
  const GrowingFile file;
  std::string text;
  for (int i = 0; i < 50'000; ++i)
    text += std::to_string(i) + "\n";
  file.append(text);
  Lines lines = file.lines();

  for (int i = 0; i < 50'000; ++i) {
    if (next(lines) != std::to_string(i)) FAIL("line " << i);
  }
  CHECK(next(lines) == std::nullopt);
  CHECK(lines.offset() == text.size());
}

TEST_CASE("a record is read as it was written, whatever is in its line") {
  const std::string line = GENERATE("a line", "", " ", "1 2 3", "\xff\r");
  std::string text;
  append_record(text, {.number = 17, .version = "1.2.3", .time_us = 1'700, .line = line});

  CHECK(text == "17 1.2.3 1700 " + line + "\n");
  text.pop_back();
  const auto record = parse_record(text);
  REQUIRE(record);
  CHECK(record->number == 17);
  CHECK(record->version == "1.2.3");
  CHECK(record->time_us == 1'700);
  CHECK(record->line == line);
}

TEST_CASE("what is no record is not taken for one") {
  for (const char* text : {"", "17", "17 ", "17 1.2.3", "17 1.2.3 torn", "17  5 line",
                           "x 1.2.3 5 line", "-1 1.2.3 5 line", "1 1.2.3 5x line"}) {
    INFO(text);
    CHECK_FALSE(parse_record(text));
  }
}

}  // namespace sample_lines_test

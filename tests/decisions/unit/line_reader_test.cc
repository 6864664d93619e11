// Tests how the line reader cuts a stream into lines. The resulting lines must not depend on how
// the stream is split when it arrives, and the reader's memory must not grow with the stream.
#include "agent-protocol/cpp/wire/line_reader.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/decisions/unit/counted_memory.h"

namespace line_reader_test {

using namespace agent_protocol;

namespace {

struct Cut {
  std::string text;
  bool complete = true;
  bool operator==(const Cut&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Cut& cut) {
  return out << (cut.complete ? "whole " : "incomplete ") << cut.text.size() << " bytes";
}

// Cuts the stream by simple code into the lines that the line reader must return.
std::vector<Cut> cut_plainly(std::string_view stream) {
  std::vector<Cut> lines;
  while (!stream.empty()) {
    const std::size_t newline = std::min(stream.find('\n'), stream.size());
    const bool whole = newline < stream.size() && newline < 65'536;
    lines.push_back(
        {std::string(stream.substr(0, whole ? newline : std::min<std::size_t>(newline, 200))),
         whole});
    stream.remove_prefix(std::min(newline + 1, stream.size()));
  }
  return lines;
}

// Passes the stream to a line reader, at most `piece()` bytes at a time, and returns the lines.
template <class Piece>
std::vector<Cut> cut_by_reader(std::string_view stream, Piece piece) {
  LineReader reader;
  std::vector<Cut> lines;
  bool keeps_its_word = true;
  while (!stream.empty() && keeps_its_word) {
    const std::span<char> space = reader.space();
    const std::size_t count = std::min({space.size(), stream.size(), std::size_t{piece()}});
    std::memcpy(space.data(), stream.data(), count);
    reader.written(count);
    stream.remove_prefix(count);
    while (const std::optional<Line> line = reader.next()) {
      lines.push_back({std::string(line->text), line->complete});
    }
    keeps_its_word = !reader.space().empty() && !reader.pending();
  }
  REQUIRE(keeps_its_word);
  if (const std::optional<Line> line = reader.rest()) {
    lines.push_back({std::string(line->text), line->complete});
  }
  REQUIRE_FALSE(reader.rest());
  return lines;
}

std::string line_of(std::size_t size, char c = 'x') {
  return std::string(size, c) + '\n';
}

std::vector<std::string> streams() {
  return {
      "",
      "\n",
      "\n\n\n",
      "a",
      "a\n",
      "\na",
      "a\r\nb\n",
      std::string("a\0b\n\0", 5),
      "{\"type\":\"ready\"}\n{\"type\":\"healthy\"}\n",
      line_of(200) + line_of(201) + std::string(201, 'y'),
      std::string(65'535, 'x'),
      std::string(65'536, 'x'),
      std::string(65'537, 'x'),
      line_of(65'534) + line_of(65'535, 'y') + line_of(65'536, 'z') + line_of(65'537, 'w') + "end",
      "a\n" + line_of(65'535) + "b\n" + line_of(65'536) + "c\n",
      line_of(999) + line_of(65'000),
      line_of(131'072) + line_of(300'000, 'y') + "a\n" + std::string(70'000, 'z'),
  };
}

}  // namespace

TEST_CASE("a stream gives the same lines whether it arrives at once or byte by byte") {
  for (const std::string& stream : streams()) {
    const std::vector<Cut> lines = cut_plainly(stream);
    CAPTURE(stream.size());
    for (const std::size_t piece :
         {1U, 2U, 3U, 7U, 199U, 4'096U, 16'384U, 64'536U, 65'536U, 1'000'000U}) {
      CHECK(cut_by_reader(stream, [piece] { return piece; }) == lines);
    }
  }
}

TEST_CASE("a stream gives the same lines wherever it is split in two") {
  const std::string stream = "ab\n\ncd\n" + std::string(200, 'e') + "\nf";
  const std::vector<Cut> lines = cut_plainly(stream);
  for (std::size_t at = 1; at < stream.size(); ++at) {
    bool first = true;
    const auto piece = [&first, at, &stream] {
      return std::exchange(first, false) ? at : stream.size();
    };
    CHECK(cut_by_reader(stream, piece) == lines);
  }
}

TEST_CASE("random streams give the same lines in random pieces") {
  std::minstd_rand random(7);  // NOLINT: the same stream every time
  for (int round = 0; round < 300; ++round) {
    std::string stream;
    for (auto lines = random() % 12; lines > 0; --lines) {
      const std::size_t size = random() % 4 == 0 ? 65'500 + random() % 80 : random() % 300;
      stream += line_of(size, static_cast<char>('a' + random() % 26));
    }
    stream.resize(stream.size() - std::min<std::size_t>(stream.size(), random() % 3));
    const unsigned largest = 1U << (1 + random() % 18);
    const auto piece = [&random, largest] { return std::size_t{1 + random() % largest}; };

    CHECK(cut_by_reader(stream, piece) == cut_plainly(stream));
  }
}

TEST_CASE("an over-long line is told with its first bytes, and the line after it is whole") {
  std::string stream;
  for (int i = 0; i < 70'000; ++i)
    stream += static_cast<char>('a' + i % 26);

  const std::vector<Cut> lines = cut_by_reader(stream + "\nnext\n", [] { return 1'000U; });

  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == Cut{stream.substr(0, 200), false});
  CHECK(lines[1] == Cut{"next", true});
}

TEST_CASE("bytes that were written are pending until they have been looked at") {
  LineReader reader;
  CHECK_FALSE(reader.pending());

  std::memcpy(reader.space().data(), "a\nb\nc", 5);
  reader.written(5);

  CHECK(reader.pending());
  CHECK(reader.next()->text == "a");
  CHECK(reader.pending());
  CHECK(reader.next()->text == "b");
  CHECK(reader.pending());
  CHECK_FALSE(reader.next());
  CHECK_FALSE(reader.pending());
  CHECK(reader.rest()->text == "c");
  CHECK_FALSE(reader.pending());
}

TEST_CASE("a reader that has told the end reads on") {
  LineReader reader;
  std::memcpy(reader.space().data(), "cut", 3);
  reader.written(3);
  CHECK_FALSE(reader.next());
  CHECK_FALSE(reader.rest()->complete);

  std::memcpy(reader.space().data(), "new\n", 4);
  reader.written(4);

  CHECK(reader.next()->text == "new");
}

TEST_CASE("a reader takes no memory beyond its buffer, whatever arrives") {
  LineReader reader;
  // The first call of space() allocates the reader's buffer. `memory` counts only what is allocated
  // after that.
  REQUIRE(reader.space().size() == line_bytes_max);
  const wire_test::CountedMemory memory;
  std::size_t lines = 0;
  const auto feed = [&reader, &lines](char c, std::size_t bytes) {
    while (bytes > 0) {
      const std::span<char> space = reader.space().first(std::min(bytes, reader.space().size()));
      std::fill(space.begin(), space.end(), c);
      reader.written(space.size());
      bytes -= space.size();
      while (reader.next())
        ++lines;
    }
  };

  for (int round = 0; round < 20; ++round) {
    feed('x', 1'000'000);
    feed('\n', 100'000);
  }
  feed('x', 1'000'000);
  const bool has_rest = reader.rest().has_value();
  const std::size_t taken = memory.taken();

  CHECK(has_rest);
  CHECK(lines == 20 * 100'000);
  // The reader keeps only the beginning of a line that is too long. So the reader may have
  // allocated memory for this beginning and a NUL, and no more, although the stream is much larger.
  CHECK(taken <= incomplete_bytes_max + 1);
}

}  // namespace line_reader_test

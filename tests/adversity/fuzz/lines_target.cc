// Tests the line reader with a stream of bytes that arrives in reads of arbitrary lengths. The
// lines must be the same as from a single read, and the same as those of a simple reader that
// follows agent-protocol(7). The line reader must never exceed its memory limits.
#include <algorithm>
#include <vector>

#include "agent-protocol/cpp/wire/line_reader.h"
#include "tests/adversity/fuzz/target.h"

namespace fuzz {

namespace {

using agent_protocol::LineReader;

struct TakenLine {
  std::string text;
  bool complete = true;
  bool operator==(const TakenLine&) const = default;
};
using Lines = std::vector<TakenLine>;

// These two bytes of the fuzzer's input are commands to the test, and are not passed to the line
// reader. At the first one, the test gets all complete lines from the line reader; at the second
// one, it gets one line.
constexpr char drain_here = 0x02;
constexpr char one_line_here = 0x03;

constexpr std::size_t line_max = 65'536;  // the maximum length of a line, with its newline
constexpr std::size_t beginning_max = 200;

// Returns the lines that agent-protocol(7) requires, with simple code that may use any amount of
// memory. A line has at most line_max bytes, with its newline. If a line is longer, or has no
// newline, keeps only its beginning.
Lines simple_lines(std::string_view stream) {
  const std::size_t longest = planted("line-limit") ? line_max + 1 : line_max;
  Lines lines;
  while (!stream.empty()) {
    const std::size_t end = stream.find('\n');
    const std::string_view text = stream.substr(0, end);
    const bool complete = end != std::string_view::npos && text.size() + 1 <= longest;
    lines.push_back({std::string(complete ? text : text.substr(0, beginning_max)), complete});
    stream.remove_prefix(end == std::string_view::npos ? stream.size() : end + 1);
  }
  return lines;
}

class Reading {
 public:
  // Makes a line reader that is given at most `read_max` bytes at a time.
  explicit Reading(std::size_t read_max) : read_max_(read_max) {}

  void read(std::string_view bytes) {
    while (!bytes.empty()) {
      if (reader_.space().empty()) drain();
      std::span<char> space = reader_.space();
      must(!space.empty(), "a line reader that is drained has no space");
      must(space.size() <= line_max, "a line reader has more space than a line");
      const std::size_t count = std::min({bytes.size(), space.size(), read_max_});
      std::copy_n(bytes.data(), count, space.data());
      const bool loses_one = planted("lost-byte") && count == 7;
      reader_.written(loses_one ? count - 1 : count);
      bytes.remove_prefix(count);
      if (count == read_max_) drain();
    }
  }

  bool take_line() {
    const bool pending = reader_.pending();
    const auto line = reader_.next();
    if (!line) return false;
    must(pending, "a line that was not pending");
    take(*line);
    return true;
  }

  void drain() {
    while (take_line())
      continue;
    must(!reader_.pending(), "nothing is left, and something is pending");
  }

  Lines end() {
    drain();
    if (const auto rest = reader_.rest()) {
      must(!rest->complete, "what was cut off is no whole line");
      take(*rest);
    }
    must(!reader_.rest(), "there is a rest behind the rest");
    return lines_;
  }

 private:
  void take(const agent_protocol::Line& line) {
    must(line.text.find('\n') == std::string_view::npos, "a newline in a line");
    must(line.text.size() < line_max, "a line over the limit");
    must(line.complete || line.text.size() <= beginning_max, "too long a beginning");
    lines_.push_back({std::string(line.text), line.complete});
  }

  std::size_t read_max_;
  LineReader reader_;
  Lines lines_;
};

void compare(const Lines& lines, const Lines& expected, const char* how) {
  ++comparisons;
  if (lines == expected) return;
  const auto [at, other] = std::ranges::mismatch(lines, expected);
  const auto told = [](const Lines& all, auto line) {
    if (line == all.end()) return std::string("nothing");
    return printable(line->text) + ", " + std::to_string(line->text.size()) + " bytes, " +
           (line->complete ? "complete" : "incomplete");
  };
  throw Finding{std::string(how) + "\n  line " + std::to_string(at - lines.begin() + 1) + " is " +
                told(lines, at) + "\n  and not " + told(expected, other)};
}

Lines read_as_marked(std::string_view marked) {
  Reading reading(line_max);
  while (!marked.empty()) {
    const std::size_t end = marked.find_first_of(std::string{drain_here, one_line_here});
    reading.read(marked.substr(0, end));
    if (end == std::string_view::npos) break;
    if (marked[end] == drain_here) {
      reading.drain();
    } else {
      (void)reading.take_line();
    }
    marked.remove_prefix(end + 1);
  }
  return reading.end();
}

}  // namespace

void take_lines(std::string_view input) {
  // The maximum length of a stream: enough for a line of the maximum length, a line that is too
  // long, and some more.
  static constexpr std::size_t stream_max = 200'000;
  const std::string marked = unfold(input, stream_max);
  std::string stream = marked;
  std::erase_if(stream, [](char byte) { return byte == drain_here || byte == one_line_here; });

  const Lines expected = simple_lines(stream);
  compare(read_as_marked(marked), expected, "read in pieces");
  Reading whole(stream_max);
  whole.read(stream);
  compare(whole.end(), expected, "read in one piece");
  const std::size_t some = input.size() % 13 + 1;
  // Skips this comparison for long streams, because reading them in pieces of a few bytes would
  // take too long.
  if (stream.size() > 5'000 * some) return;
  Reading crumbs(some);
  crumbs.read(stream);
  compare(crumbs.end(), expected, "read in crumbs");
}

}  // namespace fuzz

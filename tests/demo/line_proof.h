// Checks that sample agents have copied each line of a log exactly once. Reads only files: the log
// and its rotated files (the input), the copy (the output), and the agents' event logs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace demo {

struct SeenRecord {
  std::uint64_t number = 0;
  std::string version;
  std::uint64_t time_us = 0;
  std::string line;
};

struct SeenEvent {
  std::uint64_t time_us = 0;
  int pid = 0;
  std::string version;
  std::string text;
};

// Parses a line. A line that is not an event becomes an event with time 0 and the whole line as its
// text.
[[nodiscard]] SeenEvent parse_event(std::string_view line);

struct Proof {
  std::size_t lines_in = 0;
  std::size_t lines_out = 0;
  std::size_t missing = 0;
  std::size_t doubled = 0;
  std::size_t strange = 0;      // records without a line in the input, and malformed records
  std::size_t disordered = 0;   // records that are not in the order of the input
  std::size_t misnumbered = 0;  // records whose number is not the previous number plus 1
  // Each text describes one error: an agent wrote while it was not active, or two agents were
  // active at once.
  std::vector<std::string> trespasses;

  [[nodiscard]] bool holds() const;
  // Returns the result as text for people, in one line or several.
  [[nodiscard]] std::string text() const;
};

// Returns the lines of the input, the oldest first.
[[nodiscard]] std::vector<std::string> read_input(const std::string& path);
[[nodiscard]] std::vector<SeenRecord> read_output(const std::string& path);
[[nodiscard]] std::vector<SeenEvent> read_events(const std::string& path);

[[nodiscard]] Proof prove(const std::vector<std::string>& input,
                          const std::vector<SeenRecord>& output,
                          const std::vector<SeenEvent>& events);

// Returns the longest time between two consecutive records. Ignores a pair of records if both are
// before `from_us`, or both after `to_us`.
[[nodiscard]] std::uint64_t longest_pause_us(const std::vector<SeenRecord>& output,
                                             std::uint64_t from_us, std::uint64_t to_us);

}  // namespace demo

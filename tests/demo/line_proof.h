// Judges what the sample agents have done, from the files alone: the input with all that it was
// rotated to, the output, and the agents' own event logs. Believes nobody's word but these.
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

// Anything that is no event is an event with time 0 and the whole line as text.
[[nodiscard]] SeenEvent parse_event(std::string_view line);

struct Proof {
  std::size_t lines_in = 0;
  std::size_t lines_out = 0;
  std::size_t missing = 0;
  std::size_t doubled = 0;
  std::size_t strange = 0;              // records of lines that nobody wrote, or no records
  std::size_t disordered = 0;           // records of lines that were written before the last
  std::size_t misnumbered = 0;          // records whose number is not the one before plus one
  std::vector<std::string> trespasses;  // work by an agent that was not active; two active

  [[nodiscard]] bool holds() const;
  [[nodiscard]] std::string text() const;  // a line or more, for people
};

[[nodiscard]] std::vector<std::string> read_input(const std::string& path);  // oldest line first
[[nodiscard]] std::vector<SeenRecord> read_output(const std::string& path);
[[nodiscard]] std::vector<SeenEvent> read_events(const std::string& path);

[[nodiscard]] Proof prove(const std::vector<std::string>& input,
                          const std::vector<SeenRecord>& output,
                          const std::vector<SeenEvent>& events);

// The longest time without a record of which a part lies between the two moments.
[[nodiscard]] std::uint64_t longest_pause_us(const std::vector<SeenRecord>& output,
                                             std::uint64_t from_us, std::uint64_t to_us);

}  // namespace demo

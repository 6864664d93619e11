// One line of the output: "SEQUENCE-NUMBER VERSION MICROSECONDS LINE". VERSION is the version of
// the agent that wrote the record. MICROSECONDS is when it was written, since the epoch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <string>

namespace sample_agent {

struct Record {
  std::uint64_t number = 0;
  std::string_view version;
  std::uint64_t time_us = 0;
  std::string_view line;
};

// Appends the record and a newline to `text`.
void append_record(std::string& text, const Record& record);

// Parses a record without its newline. The members of the result point into `text`.
[[nodiscard]] std::optional<Record> parse_record(std::string_view text);

}  // namespace sample_agent

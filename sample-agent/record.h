// One line of the output: "SEQUENCE-NUMBER VERSION MICROSECONDS LINE". VERSION is that of the agent
// that wrote it, and MICROSECONDS the time of the writing, since the epoch.
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

// Appends a record with its newline.
void append_record(std::string& text, const Record& record);

// Parses a record without its newline; the result points into `text`.
[[nodiscard]] std::optional<Record> parse_record(std::string_view text);

}  // namespace sample_agent

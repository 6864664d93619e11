// One line of the output: "SEQUENCE-NUMBER VERSION MICROSECONDS LINE", the version being that of
// the agent that wrote it, the time that of writing since the epoch.
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

// With its newline.
void append_record(std::string& text, const Record& record);

// `text` is without the newline; what is returned points into it.
[[nodiscard]] std::optional<Record> parse_record(std::string_view text);

}  // namespace sample_agent

#include "sample-agent/record.h"

#include "sample-agent/words.h"

namespace sample_agent {

void append_record(std::string& text, const Record& record) {
  text.append(std::to_string(record.number)).append(" ");
  text.append(record.version).append(" ");
  text.append(std::to_string(record.time_us)).append(" ");
  text.append(record.line).append("\n");
}

std::optional<Record> parse_record(std::string_view text) {
  const auto number = to_number<std::uint64_t>(cut_off(text, ' '));
  const std::string_view version = cut_off(text, ' ');
  const auto time_us = to_number<std::uint64_t>(cut_off(text, ' '));
  if (!number || version.empty() || !time_us) return std::nullopt;
  return Record{.number = *number, .version = version, .time_us = *time_us, .line = text};
}

}  // namespace sample_agent

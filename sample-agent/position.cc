#include "sample-agent/position.h"

#include "sample-agent/words.h"

namespace sample_agent {
namespace {

// Removes a line "NAME NUMBER ..." from the front of the text, and sets `numbers`. Returns false if
// the first line has a different form.
template <class... Numbers>
bool read_line(std::string_view& text, std::string_view name, Numbers&... numbers) {
  if (text.find('\n') == std::string_view::npos) return false;
  std::string_view line = cut_off(text, '\n');
  if (cut_off(line, ' ') != name) return false;
  const auto read_one = [&line](std::uint64_t& number) {
    const auto found = to_number<std::uint64_t>(cut_off(line, ' '));
    number = found.value_or(0);
    return found.has_value();
  };
  return (read_one(numbers) && ...) && line.empty();
}

}  // namespace

std::string encode_position(const Position& position, unsigned format) {
  std::string text = "sample-agent position " + std::to_string(format) + "\n";
  text += "input " + std::to_string(position.input.device) + " " +
          std::to_string(position.input.inode) + " " + std::to_string(position.offset) + "\n";
  text += "next " + std::to_string(position.next) + "\n";
  text += "output " + std::to_string(position.output_size) + "\n";
  if (format >= 2) text += "mark " + std::to_string(position.mark.value_or(0)) + "\n";
  return text;
}

Result<PositionText> decode_position(std::string_view text, unsigned known_format) {
  const Refusal damaged{"the position is damaged"};
  std::string_view first = cut_off(text, '\n');
  if (cut_off(first, ' ') != "sample-agent" || cut_off(first, ' ') != "position") return damaged;
  const auto format = to_number<unsigned>(first);
  if (!format || *format == 0) return damaged;
  if (*format > known_format) {
    return Refusal{"the position has format " + std::to_string(*format) +
                   ", this version knows formats up to " + std::to_string(known_format)};
  }

  PositionText found{.format = *format, .position = {}};
  Position& position = found.position;
  if (!read_line(text, "input", position.input.device, position.input.inode, position.offset) ||
      !read_line(text, "next", position.next) || !read_line(text, "output", position.output_size)) {
    return damaged;
  }
  if (*format >= 2 && !read_line(text, "mark", position.mark.emplace())) return damaged;
  if (!text.empty()) return damaged;
  return found;
}

}  // namespace sample_agent

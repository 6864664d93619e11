#include "fleet/model/measure_lines.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "fleet/model/enum_text.h"
#include "fleet/model/ids.h"
#include "fleet/model/record_brief.h"
#include "fleet/model/record_checks.h"

namespace fleet {

using agent_protocol::Refusal;
using agent_protocol::Result;

namespace {

// At most this many bytes of a bad line, and of a value, are kept.
constexpr std::size_t shown_bytes_max = 40;

std::vector<std::string_view> words_of_line(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view blanks = " \t\r";
  for (;;) {
    const std::size_t begin = line.find_first_not_of(blanks);
    if (begin == line.npos) return words;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(blanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

// Returns the measure of a line, or why the line is bad.
Result<Measure> measure_of(const std::vector<std::string_view>& words) {
  if (words.size() != 3 && words.size() != 4)
    return Refusal{"needs NAME counter|gauge [up|down] NUMBER"};
  Measure measure{.name = std::string(words[0]),
                  .type = value_of<MeasureType>(words[1]),
                  .value = std::string(words.back())};
  if (words.size() == 4) measure.worse = value_of<MeasureWorse>(words[2]);
  if (!is_id(measure.name)) return Refusal{"the name: " + why_no_id(measure.name)};
  if (measure.type == MeasureType::unknown)
    return Refusal{record_checks::quoted(words[1]) + " is neither counter nor gauge"};
  if (words.size() == 4 && measure.worse == MeasureWorse::unknown)
    return Refusal{record_checks::quoted(words[2]) + " is neither up nor down"};
  if (measure.value.size() > shown_bytes_max || !measured_number(measure.value))
    return Refusal{record_checks::quoted(measure.value) + " is no number"};
  return measure;
}

}  // namespace

MeasureLines read_measures(std::string_view output) {
  MeasureLines read;
  const auto add = [&read](const std::string& why) {
    read.trouble += (read.trouble.empty() ? "" : "; ") + why;
  };
  const bool is_cut = output.size() > measure_bytes_max;
  std::size_t number = 0;
  for (std::string_view rest = output.substr(0, measure_bytes_max); !rest.empty();) {
    const std::size_t end = rest.find('\n');
    // If the output was cut off, the last line may end in the middle of its number, so it is
    // dropped.
    if (end == rest.npos && is_cut) break;
    const std::string_view line = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
    ++number;
    const auto words = words_of_line(line);
    if (words.empty()) continue;
    const std::string where =
        "line " + std::to_string(number) + " \"" + brief(line, shown_bytes_max) + "\": ";
    const auto measure = measure_of(words);
    if (!measure) {
      add(where + measure.reason());
      continue;
    }
    const bool is_there =
        std::any_of(read.measures.begin(), read.measures.end(),
                    [&](const Measure& one) { return one.name == measure.value().name; });
    if (is_there) {
      add(where + "the name is there already");
    } else if (read.measures.size() == measures_max) {
      add(where + "at most " + std::to_string(measures_max) + " measures");
    } else {
      read.measures.push_back(measure.value());
    }
  }
  if (is_cut) add("longer than " + std::to_string(measure_bytes_max) + " bytes");
  read.trouble = brief(read.trouble);
  return read;
}

std::optional<double> measured_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc{} && end == text.data() + text.size();
  return is_whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string measured_text(double number) {
  std::array<char, 32> text = {};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} ? std::string(text.data(), end) : "";
}

}  // namespace fleet

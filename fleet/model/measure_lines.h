// Parses the measures that a component reports about itself: the output of a program, or the answer
// of a server, with one measure on each line. The output may contain any bytes. Pure.
//
//     NAME TYPE WORSE VALUE        latency gauge up 12.5
//     NAME TYPE VALUE              shown, never judged, since WORSE is missing
//
// A NAME has small letters, digits, dots and hyphens, TYPE is `counter` or `gauge`, WORSE is `up`
// or `down`, and VALUE is a number. Empty lines are ignored.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/node_records.h"

namespace fleet {

// At most this many bytes of a component's output are read.
inline constexpr std::size_t measure_bytes_max = 8'192;

struct MeasureLines {
  std::vector<Measure> measures = {};  // in the order of the lines, each name once
  // Which lines are bad, and why, such as `line 2 "a gauge x": "x" is no number`. Empty if all
  // lines are good.
  std::string trouble = {};
};

// Parses the output of a component. Leaves out bad lines, measures beyond the first measures_max,
// and bytes beyond measure_bytes_max; notes in `trouble` what was left out.
[[nodiscard]] MeasureLines read_measures(std::string_view output);

// Returns the number in a measure's text, or no value if the text is not a finite number.
[[nodiscard]] std::optional<double> measured_number(std::string_view text);

// Returns the number as a text that measured_number() reads back unchanged.
[[nodiscard]] std::string measured_text(double number);

}  // namespace fleet

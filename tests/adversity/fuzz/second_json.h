// A line of JSON as a value: a plain recursive reader, written from RFC 8259 alone, to compare the
// codec's own with. It keeps what the codec has to judge: how a number is spelt, which members come
// twice, and whether a text holds a lone surrogate.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

struct Json {
  enum class Kind { null, boolean, number, text, array, object };

  Kind kind = Kind::null;
  bool boolean = false;
  std::string number{};         // as it is spelt
  std::string text{};           // in UTF-8; where there is a lone surrogate, without it
  bool lone_surrogate = false;  // of the text
  std::vector<Json> names{};    // of an object's members, in order; each is a text
  std::vector<Json> items{};    // of an array, or of an object: a value for each name
};

// The value that the whole line is, with white space around it. Nothing if it is no JSON in UTF-8,
// or has more than `levels_max` arrays and objects inside each other.
std::optional<Json> read_json(std::string_view line, int levels_max);

}  // namespace fuzz

// A plain recursive reader for a line of JSON, written from RFC 8259 alone, with which the codec's
// reader is compared. This reader keeps everything that the codec checks: how a number is spelled,
// which members occur twice, and whether a string has a lone surrogate.
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
  std::string number{};         // the number as it is spelt in the line
  std::string text{};           // the text in UTF-8, without its lone surrogates
  bool lone_surrogate = false;  // the text has a lone surrogate
  // The names of an object's members, in the order in which they are in the line. Each name is a
  // JSON string.
  std::vector<Json> names{};
  std::vector<Json> items{};  // the items of an array, or the values of an object
};

// Returns the value of the whole line, which may have white space around it. Returns nothing if the
// line is not JSON in UTF-8, or nests more than `levels_max` arrays and objects.
std::optional<Json> read_json(std::string_view line, int levels_max);

}  // namespace fuzz

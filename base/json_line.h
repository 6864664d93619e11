// Parses one line of JSON, which a hostile peer may have sent, into a flat list of checked values.
// The list's size is bounded. Knows only JSON: serialize.h defines the members of a message, and
// archive.h reads the members from the list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace agent_protocol {

// The deepest nesting of arrays and objects. The line itself is an object, which is level 1.
inline constexpr std::size_t nesting_max = 32;

class JsonLine {
 public:
  enum class Kind : std::uint8_t { null, boolean, number, text, array, object };

  // An element of the flat list into which a line is parsed: a value, or the name of a member. An
  // array is followed by its elements. An object is followed by its members, each as its name and
  // then its value.
  struct Node {
    std::uint32_t begin = 0;  // the offset of the text or number in `bytes_`
    // the length of a text or number, 1 for the boolean true, or the number of nodes in an array or
    // object
    std::uint32_t size = 0;
    Kind kind = Kind::null;
  };

  // Parses the line: one JSON object (RFC 8259) in UTF-8, nested no deeper than nesting_max, with
  // only white space around it. For any other line, the refusal says what was expected at which
  // byte, counted from 1. Allocates at most about seven times the length of the line, and uses a
  // bounded stack. A lone surrogate becomes U+0000, because the protocol forbids both.
  [[nodiscard]] static Result<JsonLine> parse(std::string_view line);

  // The index of the node for the whole line, which is one object.
  static constexpr std::size_t root = 0;

  [[nodiscard]] const Node& node(std::size_t index) const { return nodes_[index]; }

  // Returns the index of the node that follows the node `index`. If the node `index` is an array or
  // an object, skips its elements or members.
  [[nodiscard]] std::size_t after(std::size_t index) const;

  // Returns the value of a text, without escapes, or of an integer of at most 18 digits, with its
  // minus sign. For any other number, returns "0e0" or "-0e0", which are never integers.
  [[nodiscard]] std::string_view text(std::size_t index) const;

  struct Found {
    // the index of the member's value in the list; root if there is no such member
    std::size_t index = root;
    bool twice = false;  // the object has another member of the same name
  };

  // Finds the first member called `name` in the object whose index is `object`.
  [[nodiscard]] Found find(std::size_t object, std::string_view name) const;

 private:
  explicit JsonLine(std::string_view line);

  std::string bytes_;  // the line, with its texts unescaped in place
  std::vector<Node> nodes_;
};

}  // namespace agent_protocol

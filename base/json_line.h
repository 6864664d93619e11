// One line of JSON, taken apart: a hostile peer's bytes become a flat list of values, checked and
// bounded. Knows JSON only: what a message may hold is in serialize.h, and how it is read from here
// in archive.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace agent_protocol {

// The line's object is level 1.
inline constexpr std::size_t nesting_max = 32;

class JsonLine {
 public:
  enum class Kind : std::uint8_t { null, boolean, number, text, array, object };

  // A value, or the name of a member. An array's elements follow it; so do an object's members,
  // each as its name and its value.
  struct Node {
    std::uint32_t begin = 0;  // of a text or number: where it stands
    std::uint32_t size = 0;   // of a text or number its bytes, of a boolean 1 if it is true,
                              // of an array or object the number of nodes that follow in it
    Kind kind = Kind::null;
  };

  // The line if it is one JSON object (RFC 8259), in UTF-8, with nothing but white space around it,
  // and nests no deeper than nesting_max; otherwise at which byte, counted from 1, it ceases to be
  // one, and what was expected there. Takes memory for at most about seven times the line, and a
  // fixed small part of the stack, whatever the line holds. A lone surrogate, which JSON can spell
  // and a text of the protocol must not hold, is given as U+0000, which it must not hold either.
  [[nodiscard]] static Result<JsonLine> parse(std::string_view line);

  // The node of the line's object.
  static constexpr std::size_t root = 0;

  [[nodiscard]] const Node& node(std::size_t index) const { return nodes_[index]; }

  // The index behind a node and all that is in it.
  [[nodiscard]] std::size_t after(std::size_t index) const;

  // Of a text: the text unescaped. Of an integer of at most 18 digits: its digits, with a minus if
  // it has one. Of any other number: "0e0" with its minus, which no integer is spelled as.
  [[nodiscard]] std::string_view text(const Node& node) const;

  struct Found {
    const Node* value = nullptr;
    std::size_t index = 0;  // the value's
    bool twice = false;     // there is another member of that name
  };

  // The first member called `name` in the object at `object`, if there is one.
  [[nodiscard]] Found find(std::size_t object, std::string_view name) const;

 private:
  explicit JsonLine(std::string_view line);

  std::string bytes_;  // the line; the parser unescapes its texts in place
  std::vector<Node> nodes_;
};

}  // namespace agent_protocol

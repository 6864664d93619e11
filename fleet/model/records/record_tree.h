// This file parses a JSON object into a tree, and writes a tree as JSON. The object may have any
// members. It may be written by a person or by another program, or be a record of the store that a
// person wants to see or change. JsonLine (base/json_line.h) parses the bytes, and limits the depth
// of nesting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fleet {

struct JsonTree {
  enum class Kind { null, boolean, number, text, array, object };

  Kind kind = Kind::null;
  bool truth = false;
  std::string text = {};  // the text, or the digits of a number
  std::vector<JsonTree> elements = {};
  std::map<std::string, JsonTree> members = {};

  bool operator==(const JsonTree&) const = default;

  [[nodiscard]] bool is_object() const { return kind == Kind::object; }
  [[nodiscard]] bool is_array() const { return kind == Kind::array; }
  // Returns the member of this name, or null if the member is absent or this value is not an
  // object.
  [[nodiscard]] const JsonTree* find(const std::string& name) const;
  // Returns the member's string, or an empty string if the member is absent or not a string.
  [[nodiscard]] std::string text_of(const std::string& name) const;
  [[nodiscard]] bool is_true(const std::string& name) const;
};

[[nodiscard]] JsonTree json_text(std::string text);
[[nodiscard]] JsonTree json_number(std::int64_t number);
[[nodiscard]] JsonTree json_truth(bool truth);
[[nodiscard]] JsonTree json_texts(const std::vector<std::string>& texts);
// Returns an object without members.
[[nodiscard]] JsonTree json_object();

// Parses one JSON object. Returns a Refusal if the text is not a JSON object, a member occurs
// twice, or a number is not an integer of at most 18 digits.
[[nodiscard]] agent_protocol::Result<JsonTree> parse_tree(std::string_view text);
// Parses one JSON object from a program that may write numbers which are not integers. Such numbers
// become null.
[[nodiscard]] agent_protocol::Result<JsonTree> parse_foreign_tree(std::string_view text);

[[nodiscard]] std::string write_tree(const JsonTree& tree);

// Returns `target` changed by `patch` (RFC 7396): objects are merged member by member, and null
// removes a member.
[[nodiscard]] JsonTree merge_patch(JsonTree target, const JsonTree& patch);

// Returns the object with only the members that `fields` lists as paths, such as `a,b.c`. If a
// member on a path is an array, the rest of the path applies to each element of the array. Ignores
// paths to members that are absent.
[[nodiscard]] JsonTree select_fields(const JsonTree& tree, std::string_view fields);

}  // namespace fleet

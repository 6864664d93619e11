// A JSON value as a tree, for what is not one of our records: what people and other programs send.
// Bytes are taken apart by agent-protocol, which bounds them.
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
  std::string text = {};  // of a text, and the digits of a number
  std::vector<JsonTree> elements = {};
  std::map<std::string, JsonTree> members = {};

  bool operator==(const JsonTree&) const = default;

  [[nodiscard]] bool is_object() const { return kind == Kind::object; }
  [[nodiscard]] bool is_array() const { return kind == Kind::array; }
  // The member of an object; none: it has none, or is no object.
  [[nodiscard]] const JsonTree* find(const std::string& name) const;
  // A member that is a text; empty where there is none.
  [[nodiscard]] std::string text_of(const std::string& name) const;
  [[nodiscard]] bool is_true(const std::string& name) const;
};

[[nodiscard]] JsonTree json_text(std::string text);
[[nodiscard]] JsonTree json_number(std::int64_t number);
[[nodiscard]] JsonTree json_truth(bool truth);
[[nodiscard]] JsonTree json_texts(const std::vector<std::string>& texts);

// Of one object. Refused: no JSON, a member twice, a number that is no integer of 18 digits.
[[nodiscard]] agent_protocol::Result<JsonTree> parse_tree(std::string_view text);
// The same, numbers of any kind: those that are no integers read as null.
[[nodiscard]] agent_protocol::Result<JsonTree> parse_foreign_tree(std::string_view text);

[[nodiscard]] std::string write_tree(const JsonTree& tree);

// `patch` laid over `target` (RFC 7396): objects member by member, null takes away.
[[nodiscard]] JsonTree merge_patch(JsonTree target, const JsonTree& patch);

// Of an object only these members: `a,b.c`. A path goes through arrays to each element. A member
// that is not there is left out.
[[nodiscard]] JsonTree select_fields(const JsonTree& tree, std::string_view fields);

}  // namespace fleet

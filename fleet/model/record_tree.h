// A JSON value as a tree, for texts that are not records: requests and answers of people and other
// programs. agent-protocol parses the bytes, and limits them.
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
  // Returns the member of an object, or null if there is none or this is not an object.
  [[nodiscard]] const JsonTree* find(const std::string& name) const;
  // Returns the member if it is a text, or an empty text.
  [[nodiscard]] std::string text_of(const std::string& name) const;
  [[nodiscard]] bool is_true(const std::string& name) const;
};

[[nodiscard]] JsonTree json_text(std::string text);
[[nodiscard]] JsonTree json_number(std::int64_t number);
[[nodiscard]] JsonTree json_truth(bool truth);
[[nodiscard]] JsonTree json_texts(const std::vector<std::string>& texts);

// Parses one object. Returns a Refusal if the text is not JSON, repeats a member, or has a number
// that is not an integer of at most 18 digits.
[[nodiscard]] agent_protocol::Result<JsonTree> parse_tree(std::string_view text);
// Parses one object of another program. Accepts all numbers; those that are not integers become
// null.
[[nodiscard]] agent_protocol::Result<JsonTree> parse_foreign_tree(std::string_view text);

[[nodiscard]] std::string write_tree(const JsonTree& tree);

// Returns `target` with `patch` applied to it (RFC 7396): objects are merged member by member, and
// null removes a member.
[[nodiscard]] JsonTree merge_patch(JsonTree target, const JsonTree& patch);

// Returns an object with only the named members: `a,b.c`. A path goes through arrays to each of
// their elements. An absent member is left out.
[[nodiscard]] JsonTree select_fields(const JsonTree& tree, std::string_view fields);

}  // namespace fleet

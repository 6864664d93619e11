// Makes messages to an agent: one JSON object on one line, member by member.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace conformance {

// Returns the text in quotes, escaped as the upgrader escapes it: only the characters that JSON
// requires to be escaped, each in its shortest form.
[[nodiscard]] std::string quoted(std::string_view text);

class Object {
 public:
  Object() = default;
  explicit Object(std::string_view type) { text("type", type); }

  Object& text(std::string_view name, std::string_view value) { return raw(name, quoted(value)); }
  Object& number(std::string_view name, std::int64_t value) {
    return raw(name, std::to_string(value));
  }
  Object& boolean(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }
  // Adds a member. `value` is JSON text, which is written unchanged.
  Object& raw(std::string_view name, std::string_view value);

  [[nodiscard]] std::string json() const { return "{" + members_ + "}"; }
  [[nodiscard]] std::string line() const { return json() + "\n"; }

 private:
  std::string members_;
};

}  // namespace conformance

// Parses one line of JSON into a value, so that tests can check the lines that the upgrader writes.
// This parser is strict, and shares no code with the upgrader's codec.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace integration {

class Json {
 public:
  enum class Kind { null, boolean, number, text, array, object };

  // Parses one value, which may have white space around it. Refuses fractions, duplicate members,
  // control characters and invalid UTF-8, which the upgrader never writes.
  static std::optional<Json> parse(std::string_view text);

  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }

  // Each of the next five functions returns the member `name`, and is named after the kind of this
  // member's value. It fails the test if there is no such member, or if the value is of another
  // kind.
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::int64_t number(std::string_view name) const;
  [[nodiscard]] bool boolean(std::string_view name) const;
  [[nodiscard]] const Json& object(std::string_view name) const;
  [[nodiscard]] const Json& array(std::string_view name) const;

  // Returns the names of an object's members, sorted, without `type`.
  [[nodiscard]] std::vector<std::string> members() const;
  // Returns the number of values in an array.
  [[nodiscard]] std::size_t size() const { return values_.size(); }

 private:
  friend class JsonReader;
  [[nodiscard]] const Json* find(std::string_view name) const;
  [[nodiscard]] const Json& get(std::string_view name, Kind kind) const;

  Kind kind_ = Kind::null;
  bool boolean_ = false;
  std::int64_t number_ = 0;
  std::string text_;
  std::vector<std::string> names_;
  std::vector<Json> values_;
};

// Returns a text as JSON, with its quotes, in the shortest form.
std::string json_quoted(std::string_view text);

// Returns true if the bytes are well-formed UTF-8.
bool is_utf8(std::string_view bytes);

}  // namespace integration

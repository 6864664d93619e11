// Reads and writes JSON objects. A JsonReader finds the members of an object by name, and checks
// their values. A JsonWriter writes an object, one member after the other. json_line.h parses the
// bytes of an object, and limits the number of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent-releases/result.h"
#include "base/json_line.h"

namespace agent_releases {

// Reads the members of an object. If a member is not valid, the object is refused: refusal()
// returns the first fault that was found.
class JsonReader {
 public:
  // Parses `text`, which must be exactly one JSON object.
  [[nodiscard]] static Result<JsonReader> parse(std::string_view text);

  // Returns true if the member exists and is an object. Unlike object(), this function does not
  // refuse a member of a different kind.
  [[nodiscard]] bool is_object(std::string_view name) const;

  // Returns the object that is the value of a member, or nothing if the member is absent. Any other
  // value is refused.
  [[nodiscard]] std::optional<JsonReader> object(std::string_view name);

  // The next two functions return the value of a member, or nothing if the member is absent or not
  // valid. A string may have at most `bytes_max` bytes of UTF-8, and no U+0000.
  [[nodiscard]] std::optional<std::string> text(std::string_view name, std::size_t bytes_max);
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name);
  // Returns the boolean value of the member, or `otherwise` if the member is absent or not valid.
  [[nodiscard]] bool truth(std::string_view name, bool otherwise);

  // The next two functions return the value of a member that must exist. If the member is absent or
  // not valid, the object is refused.
  [[nodiscard]] std::string required_text(std::string_view name, std::size_t bytes_max);
  [[nodiscard]] std::int64_t required_number(std::string_view name);

  // Refuses the object for the given reason. If the object is refused already, the earlier reason
  // stays.
  void refuse(std::string reason);
  [[nodiscard]] const std::optional<std::string>& refusal() const { return refusal_; }

 private:
  JsonReader(agent_protocol::JsonLine line, std::size_t object)
      : line_(std::move(line)), object_(object) {}
  // Returns the index of the member's value, or JsonLine::root if the member is absent. Refuses the
  // object if the member occurs twice, or if its value is not of the kind `kind`.
  [[nodiscard]] std::size_t find(std::string_view name, agent_protocol::JsonLine::Kind kind,
                                 std::string_view wanted);

  agent_protocol::JsonLine line_;
  std::size_t object_;
  std::optional<std::string> refusal_;
};

// Writes one object, member by member, on one line.
class JsonWriter {
 public:
  JsonWriter& add(std::string_view name, std::string_view text);
  JsonWriter& add(std::string_view name, const char* text);
  JsonWriter& add(std::string_view name, std::int64_t number);
  JsonWriter& add(std::string_view name, bool truth);
  JsonWriter& add_raw(std::string_view name, std::string_view json);

  // Closes the object and returns its text, without a newline.
  [[nodiscard]] std::string line() const { return line_ + "}"; }

 private:
  void begin(std::string_view name);
  std::string line_ = "{";
};

}  // namespace agent_releases

// One object of JSON: its members are read by name and checked, or written one after the other. How
// bytes are taken apart is agent-protocol's, which bounds them.
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

// Reads members. The first that is not as it must be is remembered, and makes all of it refused.
class JsonReader {
 public:
  // The whole of `text` must be one object.
  [[nodiscard]] static Result<JsonReader> parse(std::string_view text);

  // Whether a member is there and an object; if it is not, nothing is refused.
  [[nodiscard]] bool is_object(std::string_view name) const;

  // The object that a member is, if it is there and one.
  [[nodiscard]] std::optional<JsonReader> object(std::string_view name);

  // Without a value: it is absent or wrong. Its bytes of UTF-8 are limited; U+0000 is refused.
  [[nodiscard]] std::optional<std::string> text(std::string_view name, std::size_t bytes_max);
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name);

  // The same, of a member that must be there: without it, all is refused.
  [[nodiscard]] std::string required_text(std::string_view name, std::size_t bytes_max);
  [[nodiscard]] std::int64_t required_number(std::string_view name);

  // Refuses all of it for a reason that only the caller knows. The first reason stays.
  void refuse(std::string reason);
  [[nodiscard]] const std::optional<std::string>& refusal() const { return refusal_; }

 private:
  JsonReader(agent_protocol::JsonLine line, std::size_t object)
      : line_(std::move(line)), object_(object) {}
  [[nodiscard]] const agent_protocol::JsonLine::Node* find(std::string_view name,
                                                           agent_protocol::JsonLine::Kind kind,
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

  // Left out where there is none.
  JsonWriter& add_if(std::string_view name, const std::optional<std::string>& text);

  // With its closing bracket, without a newline.
  [[nodiscard]] std::string line() const { return line_ + "}"; }

 private:
  void begin(std::string_view name);
  std::string line_ = "{";
};

}  // namespace agent_releases

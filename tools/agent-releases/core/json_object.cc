#include "tools/agent-releases/core/json_object.h"

#include <charconv>

#include "base/escape.h"
#include "base/utf8.h"

namespace agent_releases {

using agent_protocol::JsonLine;

Result<JsonReader> JsonReader::parse(std::string_view text) {
  auto line = JsonLine::parse(text);
  if (!line) return Refusal{"it is no JSON object: " + line.reason()};
  return JsonReader(std::move(line.value()), JsonLine::root);
}

void JsonReader::refuse(std::string reason) {
  if (!refusal_) refusal_ = std::move(reason);
}

std::size_t JsonReader::find(std::string_view name, JsonLine::Kind kind, std::string_view wanted) {
  const JsonLine::Found found = line_.find(object_, name);
  if (found.index == JsonLine::root) return JsonLine::root;
  if (found.twice) {
    refuse("`" + std::string(name) + "` is there twice");
  } else if (line_.node(found.index).kind != kind) {
    refuse("`" + std::string(name) + "` is not " + std::string(wanted));
  } else {
    return found.index;
  }
  return JsonLine::root;
}

bool JsonReader::is_object(std::string_view name) const {
  const JsonLine::Found found = line_.find(object_, name);
  return found.index != JsonLine::root && line_.node(found.index).kind == JsonLine::Kind::object;
}

std::optional<JsonReader> JsonReader::object(std::string_view name) {
  const std::size_t index = find(name, JsonLine::Kind::object, "an object");
  if (index == JsonLine::root) return std::nullopt;
  return JsonReader(line_, index);
}

std::optional<std::string> JsonReader::text(std::string_view name, std::size_t bytes_max) {
  const std::size_t index = find(name, JsonLine::Kind::text, "a text");
  if (index == JsonLine::root) return std::nullopt;
  const std::string_view text = line_.text(index);
  if (text.size() > bytes_max) {
    refuse("`" + std::string(name) + "` has more than " + std::to_string(bytes_max) + " bytes");
    return std::nullopt;
  }
  if (text.find('\0') != std::string_view::npos) {
    refuse("`" + std::string(name) + "` has a U+0000 or a lone surrogate");
    return std::nullopt;
  }
  return std::string(text);
}

std::optional<std::int64_t> JsonReader::number(std::string_view name) {
  const std::size_t index = find(name, JsonLine::Kind::number, "a number");
  if (index == JsonLine::root) return std::nullopt;
  const std::string_view digits = line_.text(index);
  std::int64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc{} || rest != end) {
    refuse("`" + std::string(name) + "` is no integer of at most 18 digits");
    return std::nullopt;
  }
  return number;
}

bool JsonReader::truth(std::string_view name, bool otherwise) {
  const std::size_t index = find(name, JsonLine::Kind::boolean, "true or false");
  return index == JsonLine::root ? otherwise : line_.node(index).size == 1;
}

std::string JsonReader::required_text(std::string_view name, std::size_t bytes_max) {
  const std::optional<std::string> value = text(name, bytes_max);
  if (!value) refuse("`" + std::string(name) + "` is missing");
  return value.value_or("");
}

std::int64_t JsonReader::required_number(std::string_view name) {
  const std::optional<std::int64_t> value = number(name);
  if (!value) refuse("`" + std::string(name) + "` is missing");
  return value.value_or(0);
}

void JsonWriter::begin(std::string_view name) {
  if (line_.size() > 1) line_ += ',';
  agent_protocol::append_quoted(line_, name);
  line_ += ':';
}

// Adds a member with a string. If `text` is a file name, or a line that a program has printed, it
// may contain U+0000, or bytes that are not UTF-8. Each of them is replaced by U+FFFD, because
// otherwise JsonReader would refuse the string.
JsonWriter& JsonWriter::add(std::string_view name, std::string_view text) {
  begin(name);
  agent_protocol::append_quoted(line_, agent_protocol::fit_text(text));
  return *this;
}

JsonWriter& JsonWriter::add(std::string_view name, const char* text) {
  return add(name, std::string_view(text));
}

JsonWriter& JsonWriter::add(std::string_view name, std::int64_t number) {
  begin(name);
  line_ += std::to_string(number);
  return *this;
}

JsonWriter& JsonWriter::add(std::string_view name, bool truth) {
  begin(name);
  line_ += truth ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::add_raw(std::string_view name, std::string_view json) {
  begin(name);
  line_ += json;
  return *this;
}

}  // namespace agent_releases

// This file parses one line by recursive descent. See json.h.
#include "tests/together/integration/json.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <charconv>

namespace integration {

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : rest_(text) {}

  bool read_whole(Json& value) { return read(value) && (skip_space(), rest_.empty()); }

 private:
  bool read(Json& value);
  bool read_text(std::string& text);
  bool read_escape(std::string& text);
  bool read_unicode(std::string& text);
  bool read_number(Json& value);
  bool read_array(Json& value);
  bool read_object(Json& value);

  void skip_space() {
    const std::size_t begin = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(begin == std::string_view::npos ? rest_.size() : begin);
  }

  bool take(std::string_view token) {
    skip_space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  std::string_view rest_;
};

bool JsonReader::read(Json& value) {
  skip_space();
  if (rest_.starts_with("{")) return read_object(value);
  if (rest_.starts_with("[")) return read_array(value);
  if (rest_.starts_with("\"")) {
    value.kind_ = Json::Kind::text;
    return read_text(value.text_);
  }
  if (take("null")) return true;
  value.kind_ = Json::Kind::boolean;
  if (take("false")) return true;
  value.boolean_ = true;
  return take("true") || read_number(value);
}

bool JsonReader::read_number(Json& value) {
  value.kind_ = Json::Kind::number;
  const auto [end, error] =
      std::from_chars(rest_.data(), rest_.data() + rest_.size(), value.number_);
  if (error != std::errc()) return false;
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  return !rest_.starts_with(".") && !rest_.starts_with("e") && !rest_.starts_with("E");
}

bool JsonReader::read_array(Json& value) {
  value.kind_ = Json::Kind::array;
  take("[");
  if (take("]")) return true;
  do {
    if (!read(value.values_.emplace_back())) return false;
  } while (take(","));
  return take("]");
}

bool JsonReader::read_object(Json& value) {
  value.kind_ = Json::Kind::object;
  take("{");
  if (take("}")) return true;
  do {
    std::string name;
    skip_space();
    if (!read_text(name) || value.has(name) || !take(":")) return false;
    value.names_.push_back(name);
    if (!read(value.values_.emplace_back())) return false;
  } while (take(","));
  return take("}");
}

bool JsonReader::read_text(std::string& text) {
  if (!take("\"")) return false;
  while (!rest_.empty() && rest_.front() != '"') {
    const char byte = rest_.front();
    rest_.remove_prefix(1);
    if (static_cast<unsigned char>(byte) < 0x20) return false;
    if (byte != '\\') {
      text += byte;
    } else if (!read_escape(text)) {
      return false;
    }
  }
  return take("\"") && is_utf8(text);
}

bool JsonReader::read_escape(std::string& text) {
  static constexpr std::string_view names = "\"\\/bfnrt";
  static constexpr std::string_view bytes = "\"\\/\b\f\n\r\t";
  if (rest_.empty()) return false;
  const char name = rest_.front();
  rest_.remove_prefix(1);
  if (name == 'u') return read_unicode(text);
  const std::size_t at = names.find(name);
  if (at == std::string_view::npos) return false;
  text += bytes[at];
  return true;
}

// Reads the four hexadecimal digits after \u. The digits never encode a surrogate, because the
// upgrader escapes only control characters.
bool JsonReader::read_unicode(std::string& text) {
  if (rest_.size() < 4) return false;
  unsigned code = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + 4, code, 16);
  if (error != std::errc() || end != rest_.data() + 4 || code >= 0x20) return false;
  rest_.remove_prefix(4);
  text += static_cast<char>(code);
  return true;
}

std::optional<Json> Json::parse(std::string_view text) {
  Json value;
  if (!JsonReader(text).read_whole(value)) return std::nullopt;
  return value;
}

const Json* Json::find(std::string_view name) const {
  const auto at = std::find(names_.begin(), names_.end(), name);
  if (at == names_.end()) return nullptr;
  return &values_[static_cast<std::size_t>(at - names_.begin())];
}

const Json& Json::get(std::string_view name, Kind kind) const {
  const Json* value = find(name);
  if (value == nullptr) FAIL("there is no member " << name);
  if (value->kind_ != kind) FAIL("the member " << name << " is of another kind");
  return *value;
}

std::string Json::text(std::string_view name) const {
  return get(name, Kind::text).text_;
}

std::int64_t Json::number(std::string_view name) const {
  return get(name, Kind::number).number_;
}

bool Json::boolean(std::string_view name) const {
  return get(name, Kind::boolean).boolean_;
}

const Json& Json::object(std::string_view name) const {
  return get(name, Kind::object);
}

const Json& Json::array(std::string_view name) const {
  return get(name, Kind::array);
}

std::vector<std::string> Json::members() const {
  std::vector<std::string> names = names_;
  std::erase(names, "type");
  std::sort(names.begin(), names.end());
  return names;
}

std::string json_quoted(std::string_view text) {
  static constexpr std::string_view bytes = "\"\\\b\f\n\r\t";
  static constexpr std::string_view names = "\"\\bfnrt";
  std::string result = "\"";
  for (const char byte : text) {
    const std::size_t at = bytes.find(byte);
    if (at != std::string_view::npos) {
      result.append("\\").push_back(names[at]);
    } else if (static_cast<unsigned char>(byte) < 0x20) {
      static constexpr std::string_view digits = "0123456789abcdef";
      result.append("\\u00").push_back(byte < 0x10 ? '0' : '1');
      result += digits[static_cast<std::size_t>(byte & 15)];
    } else {
      result += byte;
    }
  }
  return result + "\"";
}

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto first = static_cast<unsigned char>(bytes.front());
    const std::size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || bytes.size() < size) return false;
    unsigned code = size == 1 ? first : first & (0x7fU >> size);
    for (std::size_t index = 1; index < size; ++index) {
      const auto next = static_cast<unsigned char>(bytes[index]);
      if ((next & 0xc0) != 0x80) return false;
      code = (code << 6) | (next & 0x3f);
    }
    static constexpr unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
    bytes.remove_prefix(size);
  }
  return true;
}

}  // namespace integration

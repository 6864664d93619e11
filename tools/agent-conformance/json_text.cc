#include "tools/agent-conformance/json_text.h"

#include <array>
#include <cstdio>

namespace conformance {

namespace {

std::string escaped(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  if (static_cast<unsigned char>(c) >= 0x20) return {c};
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "\\u%04x", static_cast<unsigned>(c));
  return text.data();
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text)
    result += escaped(c);
  return result + '"';
}

Object& Object::raw(std::string_view name, std::string_view value) {
  if (!members_.empty()) members_ += ',';
  members_ += quoted(name);
  members_ += ':';
  members_ += value;
  return *this;
}

}  // namespace conformance

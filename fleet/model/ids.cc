#include "fleet/model/ids.h"

#include <algorithm>

namespace fleet {
namespace {

bool is_small(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool is_letter_or_digit(char c) {
  return is_small(c) || (c >= 'A' && c <= 'Z');
}

}  // namespace

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= id_bytes_max && is_small(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_small(c) || c == '.' || c == '-'; });
}

std::string why_no_id(std::string_view text) {
  if (is_id(text)) return "";
  if (text.empty()) return "it is empty";
  if (text.size() > id_bytes_max) return "longer than " + std::to_string(id_bytes_max) + " bytes";
  std::string wrong;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_small(c) || (i > 0 && (c == '.' || c == '-'))) continue;
    const bool is_visible = c > ' ' && c <= '~';
    wrong += (wrong.empty() ? "" : ", ") +
             (is_visible ? std::string{'"', c, '"'} : std::string("a byte that is no letter")) +
             " at " + std::to_string(i + 1);
  }
  return wrong +
         ": only a-z, 0-9, \".\" and \"-\" may be there, and the first is a letter or digit";
}

std::optional<std::string> why_no_driven_name(std::string_view id) {
  if (id == "desired") return "desired is the name of the driver of desired versions";
  if (id == "events") return "events is the name of the driver that writes the history";
  return std::nullopt;
}

bool is_component(std::string_view text) {
  return is_id(text) && text != "v";
}

bool is_version_name(std::string_view text) {
  constexpr std::string_view others = ".+~_-";
  return !text.empty() && text.size() <= id_bytes_max && is_letter_or_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), [others](char c) {
           return is_letter_or_digit(c) || others.find(c) != std::string_view::npos;
         });
}

bool is_command_id(std::string_view text) {
  return !text.empty() && text.size() <= command_id_bytes_max &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-';
         });
}

}  // namespace fleet

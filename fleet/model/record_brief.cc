#include "fleet/model/record_brief.h"

#include <algorithm>

#include "base/escape.h"
#include "base/utf8.h"

namespace fleet {
namespace {

constexpr std::string_view more = "...";

}  // namespace

std::string brief(std::string_view text, std::size_t bytes_max) {
  if (agent_protocol::escaped_bytes(text) <= bytes_max && agent_protocol::is_utf8(text)) {
    return std::string(text);
  }
  std::string kept;
  std::size_t spelled = 0;  // the length of the text read so far, in bytes of its JSON form
  std::size_t fits = 0;     // the length of `kept` up to which "..." still fits
  while (!text.empty()) {
    const std::size_t bytes = agent_protocol::utf8_character_bytes(text);
    const std::string_view character = bytes == 0 ? "?" : text.substr(0, bytes);
    spelled += agent_protocol::escaped_bytes(character);
    if (spelled > bytes_max) return kept.substr(0, fits) + std::string(more);
    kept += character;
    if (spelled + more.size() <= bytes_max) fits = kept.size();
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return kept;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  const std::size_t shown = std::min(names.size(), names_kept);
  for (std::size_t i = 0; i < shown; ++i) {
    text += (text.empty() ? "" : ", ") + brief(names[i], label_bytes_max);
  }
  if (shown < names.size()) text += ", and " + std::to_string(names.size() - shown) + " more";
  return text;
}

void keep_some(std::vector<std::string>& names, std::int64_t& count) {
  count = std::max(count, static_cast<std::int64_t>(names.size()));
  if (names.size() > names_kept) names.resize(names_kept);
  for (std::string& name : names)
    name = brief(name, label_bytes_max);
}

}  // namespace fleet

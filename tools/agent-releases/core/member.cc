#include "tools/agent-releases/core/member.h"

#include <algorithm>

#include "base/utf8.h"
#include "tools/agent-releases/core/names.h"

namespace agent_releases {
namespace {

Outcome check_bytes(std::string_view text) {
  constexpr unsigned char first_printable = 0x20;
  constexpr unsigned char delete_character = 0x7f;
  if (text.size() > member_path_bytes_max) return Refusal{"is too long"};
  const bool control = std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < first_printable || byte == delete_character;
  });
  if (control || !agent_protocol::is_utf8(text)) {
    return Refusal{"is not UTF-8, or has control characters"};
  }
  return std::monostate{};
}

std::string_view cut_component(std::string_view& path) {
  const std::size_t end = path.find('/');
  const std::string_view component = path.substr(0, end);
  path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
  return component;
}

}  // namespace

Result<std::vector<std::string>> member_path(std::string_view path) {
  if (const Outcome sound = check_bytes(path); !sound) return sound.refusal();
  if (path.empty()) return Refusal{"is empty"};
  if (path.starts_with('/')) return Refusal{"is absolute"};
  std::vector<std::string> components;
  while (!path.empty()) {
    const std::string_view component = cut_component(path);
    if (component.empty() || component == ".") continue;
    if (component == "..") return Refusal{"leads out of its directory by `..`"};
    if (component.size() > component_bytes_max) return Refusal{"is too long"};
    components.emplace_back(component);
    if (components.size() > member_depth_max) return Refusal{"is too deep"};
  }
  return components;
}

Outcome check_link_target(std::string_view target, std::size_t depth) {
  if (const Outcome sound = check_bytes(target); !sound) return sound;
  if (target.empty()) return Refusal{"is empty"};
  if (target.starts_with('/')) return Refusal{"is absolute"};
  bool below_a_name = false;
  while (!target.empty()) {
    const std::string_view component = cut_component(target);
    if (component.empty() || component == ".") continue;
    if (component != "..") {
      below_a_name = true;
    } else if (below_a_name) {
      return Refusal{"has a `..` behind a name"};
    } else if (depth-- == 0) {
      return Refusal{"leads out of its directory"};
    }
  }
  return std::monostate{};
}

}  // namespace agent_releases

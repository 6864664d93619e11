#include "tools/agent-releases/core/member.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "agent-releases/manifest.h"
#include "base/utf8.h"
#include "tools/agent-releases/core/cut_off.h"
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

std::optional<Listed> parse_line(std::string_view line) {
  const std::string_view mode = cut_off(line, ' ');
  Listed listed;
  listed.sha256 = cut_off(line, ' ');
  listed.path = line;
  const auto sound = member_path(listed.path);
  if (!sound || sound.value().empty()) return std::nullopt;
  if (mode == "0755" && listed.sha256 == "-") {
    listed.kind = Listed::Kind::directory;
    listed.sha256.clear();
    return listed;
  }
  if (!is_sha256(listed.sha256)) return std::nullopt;
  if (mode == "link") {
    listed.kind = Listed::Kind::link;
  } else if (mode == "0555" || mode == "0444") {
    listed.mode = mode == "0555" ? 0555 : 0444;
  } else {
    return std::nullopt;
  }
  return listed;
}

}  // namespace

Result<std::vector<std::string>> member_path(std::string_view path) {
  if (const Outcome sound = check_bytes(path); !sound) return sound.refusal();
  if (path.empty()) return Refusal{"is empty"};
  if (path.starts_with('/')) return Refusal{"is absolute"};
  std::vector<std::string> components;
  while (!path.empty()) {
    const std::string_view component = cut_off(path, '/');
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
    const std::string_view component = cut_off(target, '/');
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

std::string to_line(const Listed& listed) {
  switch (listed.kind) {
    case Listed::Kind::directory:
      return "0755 - " + listed.path + "\n";
    case Listed::Kind::link:
      return "link " + listed.sha256 + " " + listed.path + "\n";
    case Listed::Kind::file:
      break;
  }
  const std::string mode = listed.mode == 0555 ? "0555 " : "0444 ";
  return mode + listed.sha256 + " " + listed.path + "\n";
}

Result<std::vector<Listed>> parse_list(std::string_view text) {
  std::vector<Listed> list;
  while (!text.empty()) {
    auto listed = parse_line(cut_off(text, '\n'));
    if (!listed) return Refusal{"the list of files is damaged", Trouble::damaged};
    list.push_back(std::move(*listed));
  }
  return list;
}

bool has_program(const std::vector<Listed>& list, std::string_view path) {
  return std::ranges::any_of(list, [&](const Listed& listed) {
    return listed.kind == Listed::Kind::file && listed.mode == 0555 && listed.path == path;
  });
}

}  // namespace agent_releases

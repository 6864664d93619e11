#include "tools/agent-releases/core/file_list.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "agent-releases/manifest.h"
#include "tools/agent-releases/core/cut_off.h"
#include "tools/agent-releases/core/member.h"

namespace agent_releases {
namespace {

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

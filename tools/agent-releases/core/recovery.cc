#include "tools/agent-releases/core/recovery.h"

#include <set>

#include "tools/agent-releases/core/names.h"

namespace agent_releases {

std::vector<std::string> orphans(const std::vector<std::string>& entries, std::string_view name) {
  std::vector<std::string> found;
  std::set<std::string> releases;
  for (const std::string& entry : entries) {
    const auto known = recognise(entry, name);
    if (known && known->kind == Known::Kind::release) releases.insert(known->version.text());
  }
  for (const std::string& entry : entries) {
    const auto known = recognise(entry, name);
    if (!known || known->kind == Known::Kind::release) continue;
    if (!releases.contains(known->version.text())) found.push_back(entry);
  }
  return found;
}

std::vector<std::string> leavings(const std::vector<std::string>& entries,
                                  std::string_view wanted) {
  std::vector<std::string> found;
  for (const std::string& entry : entries) {
    const bool partial = entry.ends_with(partial_ending);
    if (partial && (wanted.empty() || entry == wanted)) continue;
    found.push_back(entry);
  }
  return found;
}

}  // namespace agent_releases

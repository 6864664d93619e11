#include "fleet/model/releases/release_list.h"

#include <algorithm>

#include "agent-releases/version.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_tree.h"

namespace fleet {
namespace {

using agent_protocol::Refusal;
using agent_protocol::Result;
using agent_releases::Version;

constexpr std::string_view github = "github:";
constexpr std::string_view signature = ".minisig";

// Returns `url` as an absolute URL. A relative `url` is relative to the URL of the index.
std::string beside(std::string_view index, const std::string& url) {
  if (url.find("://") != std::string::npos) return url;
  const std::size_t scheme = index.find("://");
  const std::size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  if (url.starts_with('/')) return std::string(index.substr(0, index.find('/', host))) + url;
  const std::size_t slash = index.rfind('/');
  const bool bare = slash == std::string_view::npos || slash < host;
  return std::string(bare ? index : index.substr(0, slash)) + "/" + url;
}

IndexedRelease of_index(std::string_view source, const JsonTree& entry) {
  IndexedRelease one{{entry.text_of("tag"), entry.is_true("prerelease")}};
  const JsonTree* manifests = entry.find("manifests");
  if (manifests == nullptr) return one;
  for (const JsonTree& url : manifests->elements) {
    if (!url.text.empty()) one.manifests.push_back(beside(source, url.text));
  }
  return one;
}

IndexedRelease of_github(const JsonTree& entry) {
  IndexedRelease one{{entry.text_of("tag_name"), entry.is_true("prerelease")}};
  const JsonTree* assets = entry.find("assets");
  if (assets == nullptr || entry.is_true("draft")) return one;
  const auto has = [&](const std::string& name) {
    return std::any_of(assets->elements.begin(), assets->elements.end(),
                       [&](const JsonTree& asset) { return asset.text_of("name") == name; });
  };
  for (const JsonTree& asset : assets->elements) {
    const std::string name = asset.text_of("name");
    if (!name.ends_with(".json") || !has(name + std::string(signature))) continue;
    one.manifests.push_back(asset.text_of("browser_download_url"));
  }
  return one;
}

}  // namespace

std::optional<std::string> version_of_tag(std::string_view tag) {
  const std::size_t hyphen = tag.find('-');
  if (hyphen == std::string_view::npos || hyphen == 0) return std::nullopt;
  const std::string_view version = tag.substr(hyphen + 1);
  if (!is_version_name(version)) return std::nullopt;
  return std::string(version);
}

bool may_be_published(std::string_view version) {
  return Version::parse(version).has_value();
}

std::strong_ordering compare_versions(std::string_view a, std::string_view b) {
  const auto left = Version::parse(a);
  const auto right = Version::parse(b);
  if (left && right) return *left <=> *right;
  if (!left && !right) return a <=> b;
  return left ? std::strong_ordering::greater : std::strong_ordering::less;
}

std::optional<std::string> release_to_take(const std::vector<FoundRelease>& found, Channel channel,
                                           const WatchState& state) {
  if (state.under_way || state.halted) return std::nullopt;
  std::optional<std::string> newest;
  for (const FoundRelease& release : found) {
    if (release.prerelease && channel == Channel::production) continue;
    const std::optional<std::string> version = version_of_tag(release.tag);
    if (!version || !may_be_published(*version)) continue;
    if (!state.current.empty() && compare_versions(*version, state.current) <= 0) continue;
    if (!newest || compare_versions(*version, *newest) > 0) newest = version;
  }
  return newest;
}

std::string url_of_source(std::string_view source) {
  if (!source.starts_with(github)) return std::string(source);
  return "https://api.github.com/repos/" + std::string(source.substr(github.size())) +
         "/releases?per_page=100";
}

Result<std::vector<IndexedRelease>> parse_index(std::string_view source, std::string_view text) {
  const bool is_list = text.substr(0, text.find_first_of("[{") + 1).ends_with('[');
  const std::string whole =
      is_list ? "{\"releases\":" + std::string(text) + "}" : std::string(text);
  const auto tree = parse_foreign_tree(whole);
  if (!tree) return Refusal{"is no JSON: " + tree.reason()};
  const JsonTree* releases = tree.value().find("releases");
  if (releases == nullptr || !releases->is_array()) return Refusal{"lists no releases"};
  std::vector<IndexedRelease> found;
  for (const JsonTree& entry : releases->elements) {
    IndexedRelease one = is_list ? of_github(entry) : of_index(source, entry);
    if (!one.manifests.empty()) found.push_back(std::move(one));
  }
  return found;
}

}  // namespace fleet

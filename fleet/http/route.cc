#include "fleet/http/route.h"

#include "fleet/orders/order.h"

namespace fleet {
namespace {

constexpr std::string_view page_files[] = {
    "/", "/page.css", "/page.js", "/rollout.js", "/steer.js", "/follow.js", "/v1/openapi.json"};

// Returns the rest of `path` after `below` and a slash. Returns no value if `path` does not begin
// with `below`.
std::optional<std::string> rest_below(std::string_view path, std::string_view below) {
  if (!path.starts_with(below)) return std::nullopt;
  path.remove_prefix(below.size());
  if (!path.empty() && !path.starts_with('/')) return std::nullopt;
  while (path.starts_with('/'))
    path.remove_prefix(1);
  while (path.ends_with('/'))
    path.remove_suffix(1);
  return std::string(path);
}

}  // namespace

Route route_of(std::string_view path) {
  for (const std::string_view file : page_files)
    if (path == file) return {Place::page};
  if (path == "/metrics") return {Place::metrics};
  if (path == "/v1/join") return {Place::join};
  if (path == "/v1/changes") return {Place::changes};
  if (path == "/v1/apply") return {Place::apply};
  if (auto rest = rest_below(path, "/v1/state")) {
    const bool below = !rest->empty() && path.ends_with('/');
    return {Place::state, *rest + (below ? "/" : "")};
  }
  if (auto rest = rest_below(path, "/v1/config")) return {Place::config, *rest};
  return {};
}

std::optional<ParsedKey> config_record(std::string_view rest) {
  auto key = parse_key(std::string(key_root) + std::string(rest));
  if (key && is_orderable(key->kind)) return key;
  return std::nullopt;
}

bool is_config_list(std::string_view rest) {
  return rest.empty() || rest == "desired" || rest == "release" || rest == "window" ||
         rest == "node" || rest == "rollout" || rest == "plan";
}

}  // namespace fleet

#include "fleet/http/message.h"

#include <algorithm>

#include "base/escape.h"
#include "base/utf8.h"
#include "fleet/orders/order.h"

namespace fleet {
namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t'))
    text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t'))
    text.remove_suffix(1);
  return text;
}

}  // namespace

Response problem(int status, std::string_view reason) {
  std::string body = "{\"status\":" + std::to_string(status) + ",\"reason\":";
  // fit_text() replaces invalid UTF-8, which the path of a request may contain.
  agent_protocol::append_quoted(body, agent_protocol::fit_text(reason));
  return {.status = status, .body = body + "}"};
}

std::size_t kept_bytes(std::string_view url) {
  std::size_t at = url.find('?');
  if (url.size() > url_bytes_max)
    return std::min(at == url.npos ? url_bytes_max : at + 1, url.size() - 1);
  for (std::size_t count = 0; at != url.npos && count < parameters_max; ++count)
    at = url.find('&', at + 1);
  return std::min(at, url.size());
}

bool names_tag(std::string_view tags, std::string_view tag) {
  while (!tags.empty()) {
    const std::size_t comma = tags.find(',');
    std::string_view one = trimmed(tags.substr(0, comma));
    if (one.starts_with("W/")) one.remove_prefix(2);
    if (one == "*" || one == tag) return true;
    tags.remove_prefix(comma == std::string_view::npos ? tags.size() : comma + 1);
  }
  return false;
}

std::string tag_of(std::int64_t revision) {
  return "\"" + std::to_string(revision) + "\"";
}

// ---- routes

namespace {

constexpr std::string_view page_files[] = {
    "/", "/page.css", "/page.js", "/rollout.js", "/steer.js", "/follow.js", "/v1/openapi.json"};

// Returns the part of `path` after `below` and a slash. Returns no value if `path` is neither
// `below` nor a path below it.
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

#include "fleet/http/shown_record.h"

#include <algorithm>

#include "base/escape.h"
#include "base/utf8.h"
#include "fleet/model/record_tree.h"
#include "fleet/model/settings.h"

namespace fleet {
namespace {

bool has_secret(KeyKind kind) {
  return kind == KeyKind::settings || kind == KeyKind::notified;
}

std::string text_of(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t size = agent_protocol::utf8_character_bytes(bytes);
    text += size == 0 ? "\xef\xbf\xbd" : bytes.substr(0, size);
    bytes.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return text;
}

}  // namespace

std::string shown_record(KeyKind kind, const std::string& value) {
  auto tree = parse_tree(value);
  if (!tree) {
    std::string quoted;
    agent_protocol::append_quoted(quoted, has_secret(kind) ? "damaged" : text_of(value));
    return quoted;
  }
  const std::string url = tree.value().text_of(std::string(secret_setting));
  if (!has_secret(kind) || url.empty()) return value;
  tree.value().members[std::string(secret_setting)] = json_text(shown_url(url));
  return write_tree(tree.value());
}

std::string shown_url(std::string_view url) {
  // The path of the file may be shown, since only the file's content is secret.
  if (url.starts_with("file:")) return std::string(url);
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return "...";
  std::string_view host = url.substr(scheme + 3);
  host = host.substr(0, host.find_first_of("/?#"));
  host.remove_prefix(host.rfind('@') + 1);  // before the last @, there may be a password
  return std::string(url.substr(0, scheme)) + "://" + std::string(host) + "/...";
}

bool may_see(const Request& request, KeyKind kind) {
  return request.visitor.has_value() || !has_secret(kind);
}

}  // namespace fleet

#include "fleet/http/access.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/escape.h"
#include "fleet/model/nodes/node_view.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_kinds.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"
#include "fleet/model/records/settings.h"
#include "fleet/orders/document.h"
#include "fleet/orders/order.h"

namespace fleet {
namespace {

// Parses the value of the header Host, such as `localhost`, `localhost:8080` or `[::1]:8080`.
std::optional<Address> host_header(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.ends_with(']')) return Address{std::string(text), 80};
  return address_of(text);
}

bool is_ours(std::string_view host, const Door& door) {
  const auto named = host_header(host);
  return named && is_loopback(named->host) && named->port == door.port;
}

bool looks(Method method) {
  return method == Method::get || method == Method::head;
}

// Returns the methods that this path allows, for the header Allow.
std::string_view methods_of(const Route& route) {
  if (route.place == Place::apply) return "POST";
  const bool is_record = route.place == Place::config && !is_config_list(route.rest);
  return is_record ? "GET, HEAD, PUT, PATCH, DELETE" : "GET, HEAD";
}

std::string in_small_letters(std::string text) {
  for (char& letter : text)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return text;
}

// Refuses a change that a page of another site requests: a browser adds the person's certificate to
// such a request, too, so the certificate proves nothing. Also refuses a change from this server's
// own page without an ETag (If-Match), which shows whether the record has changed since the person
// saw it.
std::optional<Response> why_not_from_page(const Request& request) {
  // A browser sends Origin or Sec-Fetch-Site with each change that a web page requests. A request
  // with neither header does not come from a page.
  if (request.origin.empty() && request.fetch_site.empty()) return std::nullopt;
  if (!request.fetch_site.empty() && request.fetch_site != "same-origin") {
    return problem(403, "a page of another site may change nothing here (Sec-Fetch-Site)");
  }
  const std::string ours = "https://" + in_small_letters(request.host);
  if (!request.origin.empty() && in_small_letters(request.origin) != ours) {
    return problem(403, "a page of another site may change nothing here (Origin)");
  }
  if (request.if_match.empty() && request.if_none_match.empty()) {
    return problem(428, "a page has to say which record it has shown (If-Match)");
  }
  return std::nullopt;
}

// Refuses a document with a record that the client may not write. Lets a document pass that cannot
// be parsed: decide_apply() refuses it with a better message.
std::optional<Response> why_not_apply(const Request& request, Role role) {
  if (!may_write(role, KeyKind::release) && !may_write(role, KeyKind::window))
    return problem(403, request.visitor->name + " may not apply a document");
  const auto orders = orders_in(request.body);
  if (!orders) return std::nullopt;
  for (const Order& order : orders.value()) {
    const auto key = config_record(order.subject);
    if (key && !may_write(role, key->kind))
      return problem(403, request.visitor->name + " may not write " + order.subject);
  }
  return std::nullopt;
}

std::optional<Response> why_not_write(const Request& request, const Route& route, Role role) {
  if (route.place == Place::apply) return why_not_apply(request, role);
  const auto key = config_record(route.rest);
  if (!key) return problem(404, "there is no " + route.rest + " that could be set");
  if (may_write(role, key->kind)) return std::nullopt;
  return problem(403, request.visitor->name + " may not write " + route.rest);
}

}  // namespace

Role role_of(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos || colon + 1 == name.size()) return Role::none;
  return value_of<Role>(name.substr(0, colon));
}

bool may_write(Role role, KeyKind kind) {
  if (!is_orderable(kind)) return false;
  switch (role) {
    case Role::none:
    case Role::viewer:
    case Role::controller:  // controllers write to the store, not by HTTP
      return false;
    case Role::operates:
      return kind != KeyKind::release && kind != KeyKind::settings;
    case Role::publisher:
      return kind == KeyKind::release;
    case Role::admin:
      return true;
  }
  return false;
}

std::optional<Response> why_not_let_in(const Request& request, const Route& route,
                                       const Door& door) {
  if (!door.certificates && !is_ours(request.host, door)) {
    return problem(403, "Host is not this machine's loopback address");
  }
  if (door.certificates && !request.visitor) {
    return problem(401, request.why_no_visitor.empty()
                            ? "a certificate that the cell's authority has signed is needed"
                            : request.why_no_visitor);
  }
  if (door.certificates && role_of(request.visitor->name) == Role::none) {
    return problem(403, request.visitor->name + " has no role here");
  }
  if (request.url_too_long) {
    return problem(414, "the URL has more than " + std::to_string(parameters_max) +
                            " parameters or " + std::to_string(url_bytes_max) + " bytes");
  }
  if (route.place == Place::nowhere) return problem(404, "there is nothing here");
  const std::string_view methods = methods_of(route);
  if (methods.find(text_of(request.method)) == std::string_view::npos) {
    Response refused = problem(405, "the methods here are " + std::string(methods));
    refused.headers.emplace_back("Allow", methods);
    return refused;
  }
  if (looks(request.method)) return std::nullopt;
  if (!door.certificates) {
    return problem(403, "without client certificates one may only look");
  }
  if (auto refused = why_not_from_page(request)) return refused;
  return why_not_write(request, route, role_of(request.visitor->name));
}

bool is_loopback(std::string_view host) {
  // A name such as `127.example.org` may belong to anybody, so accept only numbers and `localhost`.
  const bool is_number = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || host == "::1" || host == "[::1]" ||
         (is_number && host.starts_with("127."));
}

std::optional<Address> address_of(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  std::string_view host = "127.0.0.1";
  std::string_view digits = text;
  if (colon != std::string_view::npos) {
    host = text.substr(0, colon);
    digits = text.substr(colon + 1);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (host.empty() || error != std::errc{} || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  return Address{std::string(host), port};
}

// ---- enrolled clients

namespace {

// Returns a response with status 401. Its reason begins with the name in the certificate.
Response refuse(const Visitor& visitor, const std::string& why) {
  return problem(401, visitor.name + why);
}

}  // namespace

std::optional<std::string> identity_key(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string key = prefix_of(KeyKind::identity);
  key.append(name.substr(0, colon)).append("/").append(name.substr(colon + 1));
  const auto parsed = parse_key(key);
  if (!parsed || parsed->kind != KeyKind::identity) return std::nullopt;
  return key;
}

std::optional<Response> why_not_enrolled(const Visitor& visitor, const KeyValue* record,
                                         bool were_read) {
  if (record == nullptr) {
    if (!were_read) return problem(503, "the store has not been read yet");
    return refuse(visitor, " is not enrolled: fleetctl enrol gives certificates that are let in");
  }
  const auto identity = read_record<Identity>(record->value);
  if (!identity) return refuse(visitor, ": the record of this name " + identity.reason());
  if (!identity.value().revoked.empty()) return refuse(visitor, " is revoked");
  const auto& all = identity.value().certificates;
  const auto one = std::find_if(all.begin(), all.end(), [&](const IssuedCertificate& listed) {
    return listed.serial == visitor.serial;
  });
  const std::string which = ": the certificate " + visitor.serial;
  if (one == all.end()) return refuse(visitor, which + " is not one that was given to this name");
  if (one->revoked) return refuse(visitor, which + " is revoked");
  return std::nullopt;
}

// ---- records without their secret parts

namespace {

bool has_secret(KeyKind kind) {
  return kind == KeyKind::settings || kind == KeyKind::notified;
}

}  // namespace

std::string shown_record(KeyKind kind, const std::string& value) {
  const auto text = rewritten_record(kind, value);
  if (!text) {
    std::string quoted;
    agent_protocol::append_quoted(
        quoted, "the record " + (has_secret(kind) ? "cannot be read" : text.reason()));
    return quoted;
  }
  const std::string& shown = is_of_node(kind) || !parse_tree(value) ? text.value() : value;
  if (!has_secret(kind)) return shown;
  auto tree = parse_tree(shown);
  const std::string url = tree ? tree.value().text_of(std::string(secret_setting)) : "";
  if (url.empty()) return shown;
  tree.value().members[std::string(secret_setting)] = json_text(shown_url(url));
  return write_tree(tree.value());
}

std::string shown_url(std::string_view url) {
  // The path of a file may be shown: only the file's content is secret.
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

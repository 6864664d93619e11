// Decides whether an HTTP request is allowed, before any other part of this program looks at it.
// Also decides which records, and which parts of a record, a client may see. Does no input or
// output.
//
// Without certificates, the server listens only on a loopback address. Everybody on the machine may
// read, and nobody may change anything. The header Host must name a loopback address, too:
// otherwise a web page of another site could read the cell's state through a browser on this
// machine (DNS rebinding).
//
// With certificates, a client may do what its role allows. The role is the first part of the name
// in the certificate, such as `operator` in `operator:anna`. A browser sends a person's certificate
// even with requests of other sites' pages. So a browser may request a change only for this
// server's own page.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fleet/http/message.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

enum class Role { none, viewer, operates, publisher, controller, admin };
constexpr auto names(Role) {
  return std::to_array<std::string_view>(
      {"none", "viewer", "operator", "publisher", "controller", "admin"});
}

// Returns the role in a certificate's name, `ROLE:WHO`. The store's user `root` has none: nobody
// could revoke its certificate, since the cell has no record of it.
[[nodiscard]] Role role_of(std::string_view name);

// Returns whether a client with this role may write records of this kind.
[[nodiscard]] bool may_write(Role role, KeyKind kind);

struct Door {
  bool certificates = false;  // if true, every client must have a certificate
  std::uint16_t port = 0;
};

// Returns the response that refuses the request, with status 401, 403, 404, 405, 414 or 428, or no
// value if the request is allowed.
[[nodiscard]] std::optional<Response> why_not_let_in(const Request& request, const Route& route,
                                                     const Door& door);

// Returns whether the host is an address of this machine itself: `127.0.0.1`, `::1` or `localhost`.
[[nodiscard]] bool is_loopback(std::string_view host);

struct Address {
  std::string host;
  std::uint16_t port = 0;  // the port to listen on; 0: any free port
};

// Parses an address of the form `HOST:PORT`, `[::1]:PORT` or `PORT`.
[[nodiscard]] std::optional<Address> address_of(std::string_view text);

// ---- clients that are enrolled and not revoked. The record `identity/ROLE/WHO` lists a person's
// certificates, and says whether the person was revoked. The store itself refuses a revoked person,
// but for HTTP requests the controller writes with its own permissions. So the controller must
// check this, too

// Returns the key of the identity record for the name in a certificate. Returns no value if nobody
// can be enrolled under that name.
[[nodiscard]] std::optional<std::string> identity_key(std::string_view name);

// Returns the response that refuses this client, or no value if its certificate is good. `record`
// is the client's identity record, or null if the local copy has none. The status is 401, or 503 as
// long as no records have been read (`were_read` is false).
[[nodiscard]] std::optional<Response> why_not_enrolled(const Visitor& visitor,
                                                       const KeyValue* record, bool were_read);

// ---- records as JSON for clients, without secrets. A node, or somebody with the node's key, can
// write any bytes into the node's records. They must not break the JSON around them, or mislead a
// client that relies on the types of members

// Returns the record as JSON. A node's record has only the members that this program knows. Other
// records may have more, from later versions of this program. An unreadable record becomes a JSON
// string with the reason. Shows only the host of a webhook's URL, since the path contains a secret.
[[nodiscard]] std::string shown_record(KeyKind kind, const std::string& value);

// Returns a webhook's URL in the form that people may see. The path of an http or https URL may
// contain a secret, so it is replaced: `https://hooks.example.org/...`. `file:PATH` does not
// change.
[[nodiscard]] std::string shown_url(std::string_view url);

// Returns whether the client may see records of this kind. Without certificates, everybody on the
// machine may see all records except the settings.
[[nodiscard]] bool may_see(const Request& request, KeyKind kind);

}  // namespace fleet

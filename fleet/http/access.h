// Decides whether an HTTP request is allowed, before any other part of this program looks at the
// request. Also decides which records, and which parts of a record, a client may see. Does no input
// or output.
//
// Without certificates, the server listens only on a loopback address. Everybody on the machine may
// then read, and nobody may change anything. The Host header must name a loopback address, too.
// Otherwise a web page of a foreign site could read the cell's state through a browser on this
// machine (DNS rebinding).
//
// With certificates, a client's role decides what the client may do. The role is the first part of
// the name in the certificate, such as `operator` in `operator:anna`. A browser sends a person's
// certificate even with a request that a foreign site's page makes. So if a browser requests a
// change, the request must come from this server's own page.
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

// Returns the role in a certificate's name, `ROLE:WHO`. etcd's own user `root` gets no role: the
// cell has no record about `root`, so nobody could revoke a certificate with this name.
[[nodiscard]] Role role_of(std::string_view name);

// Returns whether a client with this role may write records of this kind.
[[nodiscard]] bool may_write(Role role, KeyKind kind);

struct Door {
  bool certificates = false;  // if true, every client must have a certificate
  std::uint16_t port = 0;
};

// Returns the response that refuses the request, with status 401, 403, 404, 405 or 428. Returns no
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
// certificates, and says whether the person was revoked. The store itself refuses writes of a
// revoked person. But after a request by HTTP, the controller writes to the store, with its own
// permissions. So the controller has to refuse revoked persons, too

// Returns the key of the identity record for the name in a certificate. Returns no value if nobody
// can be enrolled under that name.
[[nodiscard]] std::optional<std::string> identity_key(std::string_view name);

// Returns the response that refuses this client, or no value if the client's certificate is good.
// `record` is the client's identity record, or null if the local copy does not contain it. The
// status is 401, or 503 if the records have not been read yet (`were_read` is false).
[[nodiscard]] std::optional<Response> why_not_enrolled(const Visitor& visitor,
                                                       const KeyValue* record, bool were_read);

// ---- records as JSON for clients, without secrets. A node can write any bytes as its own records,
// and so can everybody who has the node's key. Such a record must neither break the JSON around it
// nor mislead a client that relies on the types of members

// Returns the record as JSON. A record of a node has only the members that this program knows. Any
// other record is not changed, since a later version of this program may have added members. A
// record that this program cannot read becomes a JSON string with the reason. The path of a
// webhook's URL contains a secret, so only the URL's host is shown.
[[nodiscard]] std::string shown_record(KeyKind kind, const std::string& value);

// Returns a webhook's URL in the form that people may see. The path of an http or https URL may
// contain a secret, so it is replaced: `https://hooks.example.org/...`. A URL of the form
// `file:PATH` is not changed.
[[nodiscard]] std::string shown_url(std::string_view url);

// Returns whether the client may see records of this kind. If the server uses no certificates,
// everybody on the machine may see all records except the settings.
[[nodiscard]] bool may_see(const Request& request, KeyKind kind);

}  // namespace fleet

// Decides whether a request is allowed, before any other part of this program looks at the request,
// and which parts of a record the client may see. Does no input or output.
//
// Without certificates the server listens only on a loopback address. Everybody on the machine may
// then read, and nobody may change anything. The name in the Host header is checked, so that a page
// of another site cannot make a browser on this machine read the cell's state.
//
// With certificates, a client's role decides. The role is the first part of the name in the
// certificate, such as `operator` in `operator:anna`. A browser sends a person's certificate with a
// request of any page. So if a browser requests a change, the request must come from this server's
// own page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fleet/http/message.h"
#include "fleet/model/keys.h"
#include "fleet/model/transaction.h"

namespace fleet {

enum class Role { none, viewer, operates, publisher, controller, admin };

// Returns the role in a certificate's name, `ROLE:WHO`. etcd's own user `root` has no role here: no
// record of the cell names `root`, so nobody could revoke that user.
[[nodiscard]] Role role_of(std::string_view name);

// Returns whether a client with this role may write records of this kind.
[[nodiscard]] bool may_write(Role role, KeyKind kind);

struct Door {
  bool certificates = false;  // if true, every client must have a certificate
  std::uint16_t port = 0;
};

// Returns the refusal of a request, with status 401, 403, 404, 405 or 428. Returns no value if the
// request is allowed.
[[nodiscard]] std::optional<Response> why_not_let_in(const Request& request, const Route& route,
                                                     const Door& door);

// Returns whether the host is an address of this machine itself: `127.0.0.1`, `::1` or `localhost`.
[[nodiscard]] bool is_loopback(std::string_view host);

struct Address {
  std::string host;
  std::uint16_t port = 0;  // the port to listen on; 0: any free port
};

// Parses `HOST:PORT`, `[::1]:PORT` or `PORT`.
[[nodiscard]] std::optional<Address> address_of(std::string_view text);

// ---- clients whose certificate was issued by `fleetctl enrol` and has not been revoked. The
// record `identity/ROLE/WHO` lists the certificates of each person, and says whether the person was
// revoked. The store itself refuses the writes of a revoked person. But a request by HTTP is
// written by the controller, with the controller's permissions. So the controller has to refuse a
// revoked person, too

// Returns the key of the identity record for the name in a certificate. Returns no value if nobody
// can be enrolled under that name.
[[nodiscard]] std::optional<std::string> identity_key(std::string_view name);

// Returns the refusal of a client, or no value if its certificate is good. The status is 401, or
// 503 if the records have not been read yet. `record` is the record with the key identity_key(), or
// null if that record is absent.
[[nodiscard]] std::optional<Response> why_not_enrolled(const Visitor& visitor,
                                                       const KeyValue* record, bool were_read);

// ---- records as JSON for clients. Even a hostile record cannot break the JSON around it. Secrets
// are left out

// Returns the record as JSON. A JSON object stays as it is, and anything else becomes a JSON
// string, in which U+FFFD replaces invalid UTF-8. A webhook's URL contains a secret, so only its
// host is shown.
[[nodiscard]] std::string shown_record(KeyKind kind, const std::string& value);

// Returns a webhook's URL in the form in which people may see it. The path of an https URL may
// contain a secret, so it is replaced: `https://hooks.example.org/...`. A URL `file:PATH` is shown
// unchanged.
[[nodiscard]] std::string shown_url(std::string_view url);

// Returns whether the client may see records of this kind. If the server uses no certificates,
// everybody on the machine may see all records except the settings.
[[nodiscard]] bool may_see(const Request& request, KeyKind kind);

}  // namespace fleet

// Decides whether a request is allowed, before any other part of this program looks at the request.
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
#include <string_view>

#include "fleet/http/message.h"

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

}  // namespace fleet

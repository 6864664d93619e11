// Decides whether a request is let in, before anything else of the request is looked at.
//
// Without certificates the server listens only on a loopback address, and everybody on the machine
// may look, and change nothing. The name in the Host header is checked, so that a foreign page
// cannot make a browser on this machine ask for the cell. With certificates, the role in the
// certificate's name decides: `operator:anna`.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "fleet/http/message.h"
#include "fleet/http/route.h"

namespace fleet {

enum class Role { none, viewer, operates, publisher, controller, admin };

// Returns the role in `ROLE:WHO`. Etcd's own `root` has no role here: it has no record, so nobody
// could revoke it.
[[nodiscard]] Role role_of(std::string_view name);

// Returns whether the role may write records of this kind.
[[nodiscard]] bool may_write(Role role, KeyKind kind);

struct Door {
  bool certificates = false;  // the server asks for certificates and verifies them
  std::uint16_t port = 0;
};

// Returns the refusal, with status 401, 403 or 405, or no value if the request is let in.
[[nodiscard]] std::optional<Response> why_not_let_in(const Request& request, const Route& route,
                                                     const Door& door);

// Returns whether only programs on this machine reach the host: `127.0.0.1`, `::1`, `localhost`.
[[nodiscard]] bool is_loopback(std::string_view host);

struct Address {
  std::string host;
  std::uint16_t port = 0;  // 0 for any port that is free
};

// Parses `HOST:PORT`, `[::1]:PORT` or `PORT`.
[[nodiscard]] std::optional<Address> address_of(std::string_view text);

}  // namespace fleet

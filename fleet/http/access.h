// Whether a request is let in: decided before anything of what it asks is looked at.
//
// Without certificates the server listens on a loopback address alone, and whoever is on the
// machine may look, and change nothing; the name that the browser was told is checked, so that no
// page of somebody else's can have a browser on this machine ask for it. With them, the role in the
// certificate's name decides: `operator:anna`.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "fleet/http/message.h"
#include "fleet/http/route.h"

namespace fleet {

enum class Role { none, viewer, operates, publisher, controller, admin };

// `ROLE:WHO`. Etcd's own `root` has none: it has no record, so that nobody could revoke it.
[[nodiscard]] Role role_of(std::string_view name);

// Whether it may write records of this kind.
[[nodiscard]] bool may_write(Role role, KeyKind kind);

struct Door {
  bool certificates = false;  // are asked for, and were verified
  std::uint16_t port = 0;
};

// The refusal: 401, 403 or 405; none: it is let in.
[[nodiscard]] std::optional<Response> why_not_let_in(const Request& request, const Route& route,
                                                     const Door& door);

// `127.0.0.1`, `::1`, `localhost`: what only programs on this machine reach.
[[nodiscard]] bool is_loopback(std::string_view host);

struct Address {
  std::string host;
  std::uint16_t port = 0;  // 0 for any that is free
};

// `HOST:PORT`, `[::1]:PORT`, `PORT`.
[[nodiscard]] std::optional<Address> address_of(std::string_view text);

}  // namespace fleet

// The names that nodes, components, rollouts, plans and versions may have. Such a name stands in
// keys, in certificates and in files, so it has no character that means anything there.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fleet {

// A label of a host name (RFC 1123) has at most 63; so have all names here.
inline constexpr std::size_t id_bytes_max = 63;
// Room for TRACE.STEP.ATTEMPT; it becomes the id of an upgrade, which has the same limit.
inline constexpr std::size_t command_id_bytes_max = 64;

// `[a-z0-9][a-z0-9.-]{0,62}`: a node, a component, an instance, a rollout, a plan, a group.
[[nodiscard]] bool is_id(std::string_view text);

// Why neither a rollout nor a plan may have this name, though it is an id: it is driven under
// driver/NAME, and a driver of the cell has that key. Returns no value if the name is allowed.
[[nodiscard]] std::optional<std::string> why_no_driven_name(std::string_view id);

// A component is an id, but not `v`, which in every record is the version of the records.
[[nodiscard]] bool is_component(std::string_view text);

// `[A-Za-z0-9][A-Za-z0-9.+~_-]{0,62}`: what a release may be called. Says nothing about its order.
[[nodiscard]] bool is_version_name(std::string_view text);

// 1 to 64 bytes of `[A-Za-z0-9._-]`.
[[nodiscard]] bool is_command_id(std::string_view text);

}  // namespace fleet

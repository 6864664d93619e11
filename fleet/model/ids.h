// Checks the names of nodes, components, rollouts, plans and versions. Such names are used in keys,
// in certificates and in file names, so they must not contain a character that has a special
// meaning there.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fleet {

// The longest name, in bytes. It is the limit for one label of a host name (RFC 1123).
inline constexpr std::size_t id_bytes_max = 63;
// The longest id of a command, in bytes. The id is TRACE.STEP.ATTEMPT. The upgrade that the command
// begins has the same id, so this is also the upgrader's limit for ids.
inline constexpr std::size_t command_id_bytes_max = 64;

// Returns whether the text matches `[a-z0-9][a-z0-9.-]{0,62}`, as the name of a node, a component,
// an instance, a rollout, a plan or a group must.
[[nodiscard]] bool is_id(std::string_view text);
// Returns why the text is not an id: which byte is not allowed and its position, counted from 1,
// such as `"_" at 4: ...`. Returns an empty text if it is an id.
[[nodiscard]] std::string why_no_id(std::string_view text);

// Returns why neither a rollout nor a plan may have this name, or no value if it may. The driver of
// a rollout or plan has the key driver/NAME, and some of these keys belong to other drivers of the
// cell.
[[nodiscard]] std::optional<std::string> why_no_driven_name(std::string_view id);

// Returns whether the text may name a component: an id other than `v`, since each record has a
// member `v` for the version of its format.
[[nodiscard]] bool is_component(std::string_view text);

// Returns whether the text matches `[A-Za-z0-9][A-Za-z0-9.+~_-]{0,62}`, as the name of a version
// must. The name says nothing about the order of versions.
[[nodiscard]] bool is_version_name(std::string_view text);

// Returns whether the text has 1 to 64 bytes of `[A-Za-z0-9._-]`.
[[nodiscard]] bool is_command_id(std::string_view text);

}  // namespace fleet

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
// The longest id of a command, in bytes. The id is TRACE.STEP.ATTEMPT, and the upgrade that the
// command begins has the same id, so the upgrader's limit for ids holds here, too.
inline constexpr std::size_t command_id_bytes_max = 64;

// Returns whether the text matches `[a-z0-9][a-z0-9.-]{0,62}`, as the name of a node, a component,
// an instance, a rollout, a plan or a group must.
[[nodiscard]] bool is_id(std::string_view text);
// Returns why the text is no id: which bytes may not be in it and where, counted from 1, such as
// `"_" at 4: ...`. Returns an empty text if it is one.
[[nodiscard]] std::string why_no_id(std::string_view text);

// Returns why neither a rollout nor a plan may have this name, or no value if it may. The driver of
// a rollout or plan has the key driver/NAME, and some keys of this form belong to other drivers of
// the cell.
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

// The names of the enumerations of message.h on the wire, in the log and on the command line.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "agent-protocol/cpp/wire/message.h"

namespace agent_protocol {

// The names of an enumeration, in the order of its enumerators.
template <class Enum>
inline constexpr std::array<std::string_view, 0> names_of{};

template <>
inline constexpr std::array<std::string_view, 3> names_of<Role>{"first", "candidate", "fallback"};

template <>
inline constexpr std::array<std::string_view, 2> names_of<Mode>{"parallel", "sequential"};

template <>
inline constexpr std::array<std::string_view, 2> names_of<Gate>{"none", "confirm"};

template <>
inline constexpr std::array<std::string_view, 2> names_of<CommitRule>{"survive", "healthy"};

template <>
inline constexpr std::array<std::string_view, 2> names_of<UncleanStop>{"fallback", "continue"};

template <>
inline constexpr std::array<std::string_view, 2> names_of<FallbackMode>{"cold", "warm"};

template <>
inline constexpr std::array<std::string_view, 3> names_of<StopReason>{"upgrade", "rollback",
                                                                      "shutdown"};

template <>
inline constexpr std::array<std::string_view, 10> names_of<Stage>{
    "request", "spawn", "start",  "confirm",  "cancel",
    "stop",    "trial", "commit", "shutdown", "boot"};

// Returns the name of an enumerator.
template <class Enum>
[[nodiscard]] constexpr std::string_view name_of(Enum value) {
  return names_of<Enum>[static_cast<std::size_t>(value)];
}

// Returns the enumerator with this name, if there is one.
template <class Enum>
[[nodiscard]] constexpr std::optional<Enum> named(std::string_view name) {
  for (std::size_t i = 0; i < names_of<Enum>.size(); ++i) {
    if (names_of<Enum>[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace agent_protocol

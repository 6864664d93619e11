// Functions for arguments of the form `--name` or `--name=value`. They are used by command_line.h,
// and by programs that do not use command_line.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace upgrader {

struct Argument {
  std::string_view whole;
  std::string_view name;
  std::optional<std::string_view> value;
};

[[nodiscard]] Argument take_apart(std::string_view whole);

// Returns a message about a wrong argument: `--name=value: WHAT`.
[[nodiscard]] std::string complaint_about(const Argument& argument, std::string_view what);

// Returns true if argv contains an option with this name before the index `end`.
[[nodiscard]] bool is_given(std::string_view name, const char* const* argv, int end);

}  // namespace upgrader

// One `--name` or `--name=value` of a command line, taken apart. Programs that do not use
// command_line.h use this alone.
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

// "--name=value: WHAT"
[[nodiscard]] std::string complaint_about(const Argument& argument, std::string_view what);

// Whether an option of this name stands before the argument at `end`.
[[nodiscard]] bool is_given(std::string_view name, const char* const* argv, int end);

}  // namespace upgrader

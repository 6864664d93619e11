// Checks that no id is used for upgrades to two different executables.
#pragma once

#include <optional>
#include <string>

#include "agent-protocol/cpp/control/status.h"

namespace upgraderctl {

// An executable as it was given, made absolute, and the file that it leads to through links.
struct Executable {
  std::string named;
  std::string resolved;
};

// Returns a clause for an error message if the upgrade `id` is to another executable than `asked`.
// Returns nothing if the status has no upgrade of that id. Also returns nothing if the status has
// U+FFFD in the path, for bytes that are not UTF-8, so that the paths cannot be compared.
[[nodiscard]] std::optional<std::string> other_executable(const Executable& asked,
                                                          const std::string& id,
                                                          const Status& status);

}  // namespace upgraderctl

// Checks that an id is used for only one upgrade, to one executable.
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

// Returns a clause, for the middle of a sentence, that says that the upgrade called `id` is to
// another executable than `asked`, if it is. Returns nothing if the status knows no upgrade of that
// id, or if the path in it cannot be compared, since its bytes that are not UTF-8 are shown there
// as U+FFFD.
[[nodiscard]] std::optional<std::string> other_executable(const Executable& asked,
                                                          const std::string& id,
                                                          const Status& status);

}  // namespace upgraderctl

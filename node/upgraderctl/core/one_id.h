// One id is that of one upgrade, to one executable.
#pragma once

#include <optional>
#include <string>

#include "node/upgraderctl/wire/status.h"

namespace upgraderctl {

// An executable as it was given, made absolute, and what it leads to through links.
struct Executable {
  std::string named;
  std::string resolved;
};

// What is to be said where the upgrade called `id` is one to another executable. Nothing is where
// the status knows none of that id, or spells its path with U+FFFD for bytes that are no UTF-8.
[[nodiscard]] std::optional<std::string> other_executable(const Executable& asked,
                                                          const std::string& id,
                                                          const Status& status);

}  // namespace upgraderctl

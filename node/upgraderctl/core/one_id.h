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

// Where the upgrade called `id` is one to another executable than `asked`, a clause that says so,
// for the middle of a sentence. Nothing where the status knows no upgrade of that id, or where the
// path in it cannot be compared, since bytes of it that are no UTF-8 are shown there as U+FFFD.
[[nodiscard]] std::optional<std::string> other_executable(const Executable& asked,
                                                          const std::string& id,
                                                          const Status& status);

}  // namespace upgraderctl

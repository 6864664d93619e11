// Performs `upgraderctl on`: looks at the control directory whenever it changes, and runs the
// command.
#pragma once

#include <string>

#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/shell/terminal.h"

namespace upgraderctl {

// Runs until a signal comes, lets a running command end, and returns 128 plus the signal's number.
[[nodiscard]] int run_on_occasions(const Options& options, const std::string& path,
                                   Terminal& terminal);

}  // namespace upgraderctl

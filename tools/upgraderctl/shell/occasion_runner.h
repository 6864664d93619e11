// Performs `upgraderctl on`: reads the control directory whenever it has changed, and runs the
// command when an occasion comes.
#pragma once

#include <string>

#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/shell/terminal.h"

namespace upgraderctl {

// Runs until a signal comes. Then waits until a running command has ended, and returns 128 plus the
// signal's number.
[[nodiscard]] int run_on_occasions(const Options& options, const std::string& path,
                                   Terminal& terminal);

}  // namespace upgraderctl

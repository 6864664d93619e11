// upgraderctl on: looks at the control directory whenever it changes, and runs the command.
#pragma once

#include <string>

#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/shell/terminal.h"

namespace upgraderctl {

// Until a signal ends it: 128 and its number. A command that runs then is waited for.
[[nodiscard]] int run_on_occasions(const Options& options, const std::string& path,
                                   Terminal& terminal);

}  // namespace upgraderctl

// status --watch: the page painted anew in place at a terminal, a line a change elsewhere, until a
// signal comes or nobody reads on.
#pragma once

#include <string>

#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/shell/terminal.h"

namespace upgraderctl {

[[nodiscard]] int watch_status(const Options& options, const std::string& path, Terminal& terminal);

}  // namespace upgraderctl

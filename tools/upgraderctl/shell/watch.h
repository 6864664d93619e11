// Performs `status --watch`: on a terminal, paints the page again in place; elsewhere, prints a
// line for each change. Ends at a signal, or when nobody reads its output.
#pragma once

#include <string>

#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/shell/terminal.h"

namespace upgraderctl {

[[nodiscard]] int watch_status(const Options& options, const std::string& path, Terminal& terminal);

}  // namespace upgraderctl

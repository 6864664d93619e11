// The commands that only show something: `list`, `status`, `history` and `why`. The function of
// each command returns the exit status.
#pragma once

#include <string>
#include <system_error>
#include <vector>

#include "agent-protocol/cpp/control/hearing.h"
#include "agent-protocol/cpp/control/status.h"
#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/shell/terminal.h"

namespace upgraderctl {

// Performs `status --watch`. On a terminal, redraws the page at each change. Otherwise prints a
// line at each change. Ends at a signal, or when nobody reads the output any more.
[[nodiscard]] int watch_status(const Options& options, const std::string& path, Terminal& terminal);

// Returns the names of the directories in `base`. Sets `error` if `base` cannot be read. A `base`
// that does not exist is not an error.
[[nodiscard]] std::vector<std::string> names_below(const std::string& base, std::error_code& error);

// Says on standard error that the status of an upgrader may be old, if the upgrader cannot write
// its status now.
void warn_if_behind(const Status& status, Hearing hearing, Terminal& terminal);

[[nodiscard]] int show_list(const Options& options, const std::vector<Base>& bases,
                            Terminal& terminal);
[[nodiscard]] int show_status(const Options& options, const std::string& path, Terminal& terminal);
[[nodiscard]] int show_history(const Options& options, const std::string& path, Terminal& terminal);
[[nodiscard]] int show_why(const std::string& path, Terminal& terminal);

}  // namespace upgraderctl

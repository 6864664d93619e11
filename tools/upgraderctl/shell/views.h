// The commands that only show something: list, status, history, why. Each returns the exit status.
#pragma once

#include <string>
#include <system_error>
#include <vector>

#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/core/place.h"
#include "tools/upgraderctl/shell/terminal.h"

namespace upgraderctl {

// Performs `status --watch`: on a terminal, paints the page again in place; elsewhere, prints a
// line for each change. Ends at a signal, or when nobody reads its output.
[[nodiscard]] int watch_status(const Options& options, const std::string& path, Terminal& terminal);

// Returns the names of the directories below the base. An error is reported in `error`; a missing
// base is not an error.
[[nodiscard]] std::vector<std::string> names_below(const std::string& base, std::error_code& error);

// Returns the exit status for a file that cannot be read: exit_refused if permissions are missing,
// otherwise exit_absent.
[[nodiscard]] int status_of_trouble(int error_number);

[[nodiscard]] int show_list(const Options& options, const std::vector<Base>& bases,
                            Terminal& terminal);
[[nodiscard]] int show_status(const Options& options, const std::string& path, Terminal& terminal);
[[nodiscard]] int show_history(const Options& options, const std::string& path, Terminal& terminal);
[[nodiscard]] int show_why(const std::string& path, Terminal& terminal);

}  // namespace upgraderctl

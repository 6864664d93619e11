// The commands that only look: list, status, history. Each answers the exit status.
#pragma once

#include <string>
#include <system_error>
#include <vector>

#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/core/place.h"
#include "tools/upgraderctl/shell/terminal.h"

namespace upgraderctl {

// The directories below the base, by name. An error is told; that there is no base is none.
[[nodiscard]] std::vector<std::string> names_below(const std::string& base, std::error_code& error);

// Files that may not be read are refused; where there is none, nobody is there.
[[nodiscard]] int status_of_trouble(int error_number);

[[nodiscard]] int show_list(const Options& options, const std::vector<Base>& bases,
                            Terminal& terminal);
[[nodiscard]] int show_status(const Options& options, const std::string& path, Terminal& terminal);
[[nodiscard]] int show_history(const Options& options, const std::string& path, Terminal& terminal);

}  // namespace upgraderctl

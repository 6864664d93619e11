// The commands that ask for something, or wait for it. Answers the exit status.
#pragma once

#include "node/upgraderctl/core/options.h"
#include "node/upgraderctl/core/place.h"
#include "node/upgraderctl/shell/terminal.h"

namespace upgraderctl {

[[nodiscard]] int ask(const Options& options, const Place& place, Terminal& terminal);

}  // namespace upgraderctl

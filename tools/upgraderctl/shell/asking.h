// The commands that send a request to an upgrader, or wait for something. They return the exit
// status.
#pragma once

#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/core/place.h"
#include "tools/upgraderctl/shell/terminal.h"

namespace upgraderctl {

[[nodiscard]] int ask(const Options& options, const Place& place, Terminal& terminal);

}  // namespace upgraderctl

// Runs a Decider (decider.h) for one control directory: passes events to it, carries out its
// orders, and shows the progress. Decides nothing.
#pragma once

#include <optional>
#include <string>

#include "agent-protocol/cpp/control/control_directory.h"
#include "tools/upgraderctl/core/decider.h"
#include "tools/upgraderctl/core/progress.h"
#include "tools/upgraderctl/shell/terminal.h"

namespace upgraderctl {

struct Scene {
  ControlDirectory& directory;
  Terminal& terminal;
  std::optional<Progress> progress;  // shows the followed upgrade, if there is one
  std::optional<Life> life;          // the upgrader that performs this upgrade
};

// Runs until the decider is finished, and returns how the command ends. The FIFO must be open if
// the decider may send a request.
[[nodiscard]] Finish run(Decider& decider, Scene scene);

}  // namespace upgraderctl

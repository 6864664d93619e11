// Runs a decider beside a control directory: passes on events, carries out orders, and shows what
// happens meanwhile. Decides nothing.
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
  std::optional<Progress> progress;  // for the followed upgrade, if there is one
  std::optional<Life> life;          // the upgrader that makes that upgrade
};

// Runs until the decider is finished, and returns how that ended. The FIFO must be open if the
// decider may send anything.
[[nodiscard]] Finish run(Decider& decider, Scene scene);

}  // namespace upgraderctl

// Runs a decider beside a control directory: sees what it is to be told, does what it orders, and
// shows what happens meanwhile. Decides nothing.
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
  std::optional<Progress> progress;  // of the upgrade that is followed, if one is
  std::optional<Life> life;          // whose upgrade that is
};

// Until the decider is finished; answers how. The FIFO must be open if the decider ever sends.
[[nodiscard]] Finish run(Decider& decider, Scene scene);

}  // namespace upgraderctl

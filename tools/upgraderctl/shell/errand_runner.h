// Runs a Decider (decider.h) for one control directory: passes events to it, carries out its
// orders, and shows the progress of an upgrade. Decides nothing itself.
#pragma once

#include <optional>
#include <string>

#include "agent-protocol/cpp/control/control_directory.h"
#include "tools/upgraderctl/core/decider.h"
#include "tools/upgraderctl/core/sentences.h"
#include "tools/upgraderctl/shell/terminal.h"

namespace upgraderctl {

struct Scene {
  ControlDirectory& directory;
  Terminal& terminal;
  std::optional<Progress> progress;  // shows the steps of an upgrade, if one is followed
  std::optional<Life> life;          // the upgrader that performs that upgrade
};

// Runs until the decider orders Finish, and returns that order. If the decider may send a request,
// the FIFO must be open.
[[nodiscard]] Finish run(Decider& decider, Scene scene);

}  // namespace upgraderctl

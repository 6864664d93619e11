// Runs the commands that watch a control directory and wait. Passes each event to a Decider or to
// Occasions in core/, and carries out the orders that they return. Makes no decisions itself.
#pragma once

#include <optional>
#include <string>

#include "agent-protocol/cpp/control/control_directory.h"
#include "tools/upgraderctl/core/decider.h"
#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/core/sentences.h"
#include "tools/upgraderctl/shell/terminal.h"

namespace upgraderctl {

struct Scene {
  ControlDirectory& directory;
  Terminal& terminal;
  std::optional<Progress> progress;  // shows the steps of an upgrade, if one is followed
  std::optional<Life> life;          // the upgrader that performs that upgrade
};

// Runs a Decider (decider.h) until it returns the order Finish (the exit status and the final
// message), and returns this order. Meanwhile shows the steps of an upgrade, if `scene.progress` is
// set. If the decider may send a request, the upgrader's FIFO must be open.
[[nodiscard]] Finish run(Decider& decider, Scene scene);

// Performs `upgraderctl on` (occasions.h): reads the control directory whenever it has changed, and
// runs the command of --exec when an occasion comes, such as a commit. Ends at a signal: waits
// until a running command has exited, and returns 128 plus the number of the signal.
[[nodiscard]] int run_on_occasions(const Options& options, const std::string& path,
                                   Terminal& terminal);

}  // namespace upgraderctl

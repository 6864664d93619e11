// Runs the commands that watch a control directory and wait. Passes events to the part of core/
// that decides, and carries out its orders. Decides nothing itself.
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

// Runs a Decider (decider.h) until it orders Finish, and returns that order. Shows the progress of
// an upgrade. If the decider may send a request, the FIFO must be open.
[[nodiscard]] Finish run(Decider& decider, Scene scene);

// Performs `upgraderctl on` (occasions.h): reads the control directory whenever it has changed, and
// runs the command when an occasion comes. Runs until a signal comes. Then waits until a running
// command has ended, and returns 128 plus the signal's number.
[[nodiscard]] int run_on_occasions(const Options& options, const std::string& path,
                                   Terminal& terminal);

}  // namespace upgraderctl

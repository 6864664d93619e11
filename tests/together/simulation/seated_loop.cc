#include "tests/together/simulation/seated_loop.h"

#include <fcntl.h>

#include "upgrader/shell/loop.h"

namespace upgrader::simulation {
namespace {

// Discards the log. The simulation does not read it: judge.h finds the errors of a run.
Logbook& silent_log() {
  static Logbook logbook(LogLevel::error, nullptr, ::open("/dev/null", O_WRONLY | O_CLOEXEC));
  return logbook;
}

}  // namespace

int run_loop(const Swarm& swarm) {
  Lock lock("", 0);
  InitSystem init_system("/nowhere", swarm.watchdog);
  Loop loop(swarm.options, silent_log(), init_system, swarm.waits_for_lock ? &lock : nullptr);
  return loop.run({});
}

}  // namespace upgrader::simulation

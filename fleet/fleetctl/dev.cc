// fleetctl dev: a cell on this machine, to try it out.
#include <signal.h>

#include "base/process.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/dev_run.h"
#include "fleet/fleetctl/dev_setup.h"
#include "fleet/fleetctl/exit_status.h"

namespace fleetctl {
namespace {

// While an object of this class exists, SIGINT, SIGTERM and SIGHUP are blocked, so that the process
// does not end while it writes files.
class StopsHeld {
 public:
  StopsHeld() {
    sigset_t stops;
    sigemptyset(&stops);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      sigaddset(&stops, number);
    }
    ::sigprocmask(SIG_BLOCK, &stops, &before_);
  }
  StopsHeld(const StopsHeld&) = delete;
  StopsHeld& operator=(const StopsHeld&) = delete;
  ~StopsHeld() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

int run_dev(const Options& options) {
  fleet::DevTerms terms{.programs = find_programs(), .nodes = options.nodes};
  if (const std::string missing = fleet::missing_words(terms.programs); !missing.empty()) {
    complain(missing);
    return exit_refused;
  }
  std::optional<StopsHeld> held(std::in_place);
  // Ignore SIGPIPE: after the terminal was closed, it would kill this process at the next line that
  // it prints, and leave the children behind.
  ::signal(SIGPIPE, SIG_IGN);
  DevDirectory directory;
  if (const std::string why = directory.open(options.directory); !why.empty()) {
    complain(why);
    return exit_refused;
  }
  terms.directory = directory.path();
  if (const std::string why = fill_directory(terms); !why.empty()) {
    complain(why);
    return exit_refused;
  }
  // Orphans become children of this process. If this call fails, they become children of init.
  static_cast<void>(upgrader::become_subreaper());
  DevRun run(terms, directory.is_kept());
  held.reset();
  return run.run();
}

}  // namespace fleetctl

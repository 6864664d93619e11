// The command line of fleetctl dev.
#include "fleet/cell/dev_cell.h"
#include "fleet/fleetctl/option_parts.h"

namespace fleetctl {

void add_cells(CLI::App& app, Options& options) {
  CLI::App& dev = add(app, options, Command::dev, "dev", "a whole cell on this machine, to try");
  dev.add_option("--nodes", options.nodes, "so many machines")
      ->type_name("N")
      ->check(CLI::Range(1, fleet::dev_nodes_max));
  dev.add_option("--dir", options.directory, "keep it there, and go on with it")->type_name("DIR");
}

}  // namespace fleetctl

// The command lines of fleetctl dev and fleetctl cell.
#include "fleet/cell/cell_order.h"
#include "fleet/cell/dev_cell.h"
#include "fleet/common/authority.h"
#include "fleet/fleetctl/option_parts.h"

namespace fleetctl {
namespace {

void add_machines(CLI::App& app, const std::string& name, std::vector<fleet::CellMachine>& machines,
                  const std::string& about) {
  const auto take = [name, &machines](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const auto machine = fleet::machine_in(text);
      if (!machine || !fleet::is_ip_address(machine->address))
        throw CLI::ValidationError(name, text + ": needs NAME=ADDRESS, and an IP address");
      machines.push_back(*machine);
    }
  };
  app.add_option_function<std::vector<std::string>>(name, take, about)
      ->type_name("NAME=ADDRESS")
      ->allow_extra_args(false);
}

void add_directory(CLI::App& app, Options& options) {
  app.add_option("DIR", options.directory, "where the cell's authorities are kept")
      ->type_name("")
      ->required();
}

}  // namespace

void add_cells(CLI::App& app, Options& options) {
  CLI::App& dev = add(app, options, Command::dev, "dev", "a whole cell on this machine, to try");
  dev.add_option("--nodes", options.nodes, "so many machines")
      ->type_name("N")
      ->check(CLI::Range(1, fleet::dev_nodes_max));
  dev.add_option("--dir", options.directory, "keep it there, and go on with it")->type_name("DIR");

  CLI::App& cell = *app.add_subcommand("cell", "set up a cell, and look after it");
  cell.require_subcommand(1);
  cell.fallthrough();
  CLI::App& init = add(cell, options, Command::cell_init, "init",
                       "make the certificates and settings of its machines");
  add_directory(init, options);
  add_machines(init, "--member", options.cell.members, "a machine of the store");
  add_machines(init, "--controller", options.cell.controllers, "a machine with a controller");
  init.add_option("--signer", options.cell.signers, "a machine that signs certificates")
      ->type_name("NAME")
      ->allow_extra_args(false);
  add_directory(add(cell, options, Command::cell_start, "start",
                    "let users, roles and controllers into its store"),
                options);
  add(cell, options, Command::cell_check, "check", "what is well, what is not, and what to do");
}

}  // namespace fleetctl

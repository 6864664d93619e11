// The command line of fleetctl plan.
#include "fleet/fleetctl/option_parts.h"
#include "fleet/model/ids.h"

namespace fleetctl {
namespace {

CLI::App& add_name(CLI::App& app, Options& options) {
  app.add_option("PLAN", options.plan, "its name")
      ->type_name("")
      ->required()
      ->check(form(&fleet::is_id, "the name of a plan"));
  return app;
}

}  // namespace

void add_plans(CLI::App& app, Options& options) {
  CLI::App& plan = *app.add_subcommand("plan", "what must happen everywhere together");
  plan.require_subcommand(1);
  plan.fallthrough();
  CLI::App& run = add(plan, options, Command::plan_run, "run", "begin one");
  run.add_option("FILE", options.file, "its steps, as fleet(7) has them")
      ->type_name("")
      ->required();
  run.add_option("--name", options.plan, "of the plan; otherwise that of the file")
      ->type_name("NAME")
      ->check(form(&fleet::is_id, "the name of a plan"));
  run.add_option("--target", options.target, "only these of the nodes that are enrolled")
      ->type_name("EXPR");
  run.add_flag("--ignore-window", options.ignore_window, "begin at any time");
  run.add_flag("--wait", options.wait, "until it has ended, and say how");
  add(plan, options, Command::plan_list, "list", "every plan, and how far it is");
  add_name(add(plan, options, Command::plan_show, "show", "one plan, member by member"), options);
  add_name(add(plan, options, Command::plan_recover, "recover",
               "remove what a run has left, so that the next begins anew"),
           options);
}

}  // namespace fleetctl

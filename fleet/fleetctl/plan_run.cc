// fleetctl plan run: gives the order to begin a plan, which a person has written into a file.
#include <filesystem>

#include "fleet/common/text_file.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/fleetctl/plan_wait.h"
#include "fleet/model/ids.h"
#include "fleet/model/record_tree.h"
#include "fleet/orders/document.h"

namespace fleetctl {
namespace {

// Reads the plan in the file. A target, or the permission to ignore windows, that is given on the
// command line is added to the plan.
int read_file(const Options& options, std::string& body) {
  const auto text = fleet::beginning_of_file(options.file, fleet::document_bytes_max + 1);
  if (!text) return refuse(options.file + ": cannot be read");
  if (text->size() > fleet::document_bytes_max) return refuse(options.file + ": is too long");
  auto tree = fleet::parse_tree(*text);
  if (!tree) return refuse(options.file + " " + tree.reason());
  if (!options.target.empty()) tree.value().members["target"] = fleet::json_text(options.target);
  if (options.ignore_window) tree.value().members["ignore_window"] = fleet::json_truth(true);
  body = write_tree(tree.value());
  return exit_done;
}

}  // namespace

int run_plan(const Options& options, Asker& asker) {
  const std::string name =
      options.plan.empty() ? std::filesystem::path(options.file).stem().string() : options.plan;
  const auto taken = fleet::why_no_driven_name(name);
  if (!fleet::is_id(name) || taken) {
    complain("no plan is called " + name + ": " + taken.value_or("give it another --name"));
    return exit_usage;
  }
  std::string body;
  if (const int status = read_file(options, body); status != exit_done) return status;
  const Placed placed = place(options, asker, {.subject = "plan/" + name, .body = body});
  if (placed.status != exit_done) return say_refused(placed, options.file);
  say("plan " + name + " " + placed.taken.event.text + " (trace " + placed.trace + ")");
  if (!options.wait) return exit_done;
  return wait_for_plan({.read = [&asker](const fleet::Keys& keys) { return asker.read(keys); },
                        .rest = [&asker] { asker.rest(); },
                        .say = &say},
                       name);
}

}  // namespace fleetctl

// fleetctl plan run: who takes part, and all of it written at once.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fleet/common/identity.h"
#include "fleet/fleetctl/cell_view.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/fleetctl/one_record.h"
#include "fleet/fleetctl/plan_sight.h"
#include "fleet/fleetctl/plan_wait.h"
#include "fleet/fleetctl/release_found.h"
#include "fleet/model/enum_text.h"
#include "fleet/model/ids.h"
#include "fleet/model/keys.h"
#include "fleet/model/plan_agents.h"
#include "fleet/model/plan_creation.h"
#include "fleet/model/record_text.h"
#include "fleet/model/rollout_decision.h"

namespace fleetctl {
namespace {

using fleet::KeyKind;
using fleet::PlanState;

int refuse(const std::string& why) {
  complain(why);
  return exit_refused;
}

// Reads the members that a person writes, and none that a run records.
int read_file(const Options& options, fleet::Plan& plan) {
  std::ifstream file(options.file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) return refuse(options.file + ": cannot be read");
  const auto written = fleet::read_record<fleet::Plan>(text);
  if (!written) return refuse(options.file + " " + written.reason());
  const fleet::Plan& wanted = written.value();
  plan.version = wanted.version;
  plan.component = wanted.component;
  plan.agent = wanted.agent;
  plan.soak_ms = wanted.soak_ms;
  plan.steps = wanted.steps;
  if (const auto why = fleet::why_no_plan(plan)) return refuse(options.file + ": " + *why);
  return exit_done;
}

// Data that was migrated is not migrated back: no member may go to an older version by a plan.
int find_newer(std::vector<fleet::NodeView> nodes, const fleet::Plan& plan,
               const std::vector<std::string>& members) {
  if (plan.component.empty()) return exit_done;
  std::erase_if(nodes, [&members](const fleet::NodeView& node) {
    return !std::binary_search(members.begin(), members.end(), node.id);
  });
  const std::string newer = who_runs_newer(nodes, plan.component, plan.version);
  if (newer.empty()) return exit_done;
  return refuse(plan.component + " " + plan.version + " is older than what runs on " + newer +
                ": no plan goes back");
}

// Everybody who is enrolled, alive or not: who is gone for good is forgotten first.
int find_members(const Options& options, Asker& asker, const fleet::Plan& plan,
                 std::vector<std::string>& members) {
  const auto reply = asker.read({fleet::prefix_of(KeyKind::node_info), true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const auto views = nodes_in(std::get<fleet::Reading>(reply));
  const auto nodes = target_nodes(views);
  const auto target = fleet::parse_target(options.target.empty() ? "*" : options.target);
  if (!target) return refuse("--target: " + target.reason());
  const auto meant = fleet::select_nodes(target.value(), nodes);
  if (!meant) return refuse("--target: " + meant.reason());
  members = meant.value().nodes;
  for (const std::string& silent : meant.value().not_covered) {
    const bool is_enrolled = std::any_of(nodes.begin(), nodes.end(),
                                         [&](const auto& node) { return node.id == silent; });
    if (is_enrolled) members.push_back(silent);
  }
  std::sort(members.begin(), members.end());
  if (members.empty()) return refuse("no node is meant");
  return find_newer(views, plan, members);
}

int find_wish(Asker& asker, const std::string& component, fleet::PlanGround& ground) {
  OneRecord<fleet::Desired> wish;
  const int status = read_one(asker, fleet::key_of(KeyKind::desired, {component}), wish);
  if (status != exit_done || wish.revision == 0) return status;
  if (!wish.record) return refuse("what is desired of " + component + " " + wish.damage);
  ground.desired = *wish.record;
  ground.desired_revision = wish.revision;
  return exit_done;
}

int add_ground(Asker& asker, fleet::Plan& plan, fleet::PlanGround& ground) {
  ReleaseFound published;
  if (!plan.agent.empty()) {
    const int status = find_release(asker, "agent", plan.agent, published);
    if (status != exit_done) return status;
    plan.agent_digest = published.release.digest;
    ground.agent_release = published.revision;
  }
  if (plan.component.empty()) return exit_done;
  const int status = find_release(asker, plan.component, plan.version, published);
  if (status != exit_done) return status;
  plan.digest = published.release.digest;
  ground.release = published.revision;
  return find_wish(asker, plan.component, ground);
}

// One that has ended well makes room for the next of its name.
int make_room(Asker& asker, const std::string& name) {
  const auto seen = look_at_plan(asker, name);
  if (const int* status = std::get_if<int>(&seen)) return *status;
  return commit_parts(asker, name, fleet::make_room(std::get<PlanSight>(seen).view));
}

}  // namespace

int run_plan(const Options& options, Asker& asker) {
  fleet::Plan plan{.ignore_window = options.ignore_window,
                   .who = who_asks(options),
                   .trace = fleet::new_instance_id().substr(0, 8)};
  const std::string name =
      options.plan.empty() ? std::filesystem::path(options.file).stem().string() : options.plan;
  const bool is_short = fleet::agent_rollout_id(name, plan).size() <= fleet::rollout_id_bytes_max;
  const auto taken = fleet::why_no_driven_name(name);
  if (!fleet::is_id(name) || taken || !is_short) {
    complain("no plan is called " + name + ": " + taken.value_or("give it a (shorter) --name"));
    return exit_usage;
  }
  std::vector<std::string> members;
  fleet::PlanGround ground;
  if (const int status = read_file(options, plan); status != exit_done) return status;
  if (const int status = find_members(options, asker, plan, members); status != exit_done)
    return status;
  if (const int status = add_ground(asker, plan, ground); status != exit_done) return status;
  if (const int status = make_room(asker, name); status != exit_done) return status;
  fleet::PlanCreation creation(name, plan, members, ground);
  if (const int status = write_all(asker, creation); status != exit_done) return status;
  say("plan " + name + " begins with " + std::to_string(members.size()) + " members (trace " +
      plan.trace + ")");
  if (!options.wait) return exit_done;
  return wait_for_plan({.read = [&asker](const fleet::Keys& keys) { return asker.read(keys); },
                        .rest = [&asker] { asker.rest(); },
                        .say = &say},
                       name);
}

}  // namespace fleetctl

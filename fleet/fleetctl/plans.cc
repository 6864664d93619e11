#include "fleet/fleetctl/plans.h"

#include <ctime>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fleet/common/text_file.h"
#include "fleet/common/zone_file.h"
#include "fleet/fleetctl/asker.h"
#include "fleet/fleetctl/cell_view.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/held.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/plans/plan_decision.h"
#include "fleet/model/reasons/held.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/record_tree.h"
#include "fleet/orders/document.h"

namespace fleetctl {

using fleet::PlanState;

namespace {

std::string text_of_step(const fleet::Plan& plan, std::int64_t step) {
  const auto all = static_cast<std::int64_t>(plan.steps.size());
  if (step < 1) return "-";
  if (step > all) return "all done";
  return std::to_string(step) + " " + plan.steps[static_cast<std::size_t>(step - 1)].name;
}

upgraderctl::Row row_of(const fleet::Plan& plan, const std::string& id,
                        const fleet::MemberSight& sight) {
  if (sight.revision == 0) return {"  " + id, "", "has recorded nothing", ""};
  const fleet::PlanMember& record = sight.record;
  return {"  " + id, text_of_step(plan, record.step), std::string(text_of(record.phase)),
          record.message};
}

}  // namespace

std::string progress(const fleet::Plan& plan) {
  return text_of_step(plan, plan.step) + " of " + std::to_string(plan.steps.size());
}

std::vector<std::string> plan_page(const fleet::PlanView& view, const fleet::Held& held) {
  const fleet::Plan& plan = view.plan;
  std::vector<std::string> lines{view.name + ": " + std::string(text_of(plan.state)) +
                                 (plan.error.empty() ? "" : ", " + plan.error)};
  std::vector<upgraderctl::Row> rows{{"  brings", plan.version},
                                     {"  step", progress(plan)},
                                     {"  driver", plan.driver},
                                     {"  begun by", plan.who}};
  if (!plan.target.empty()) rows.push_back({"  target", plan.target});
  if (!plan.lock.empty()) rows.push_back({"  its turn", plan.lock});
  const std::string& waits_for = held.words.empty() ? plan.waits_for : held.words;
  if (!waits_for.empty()) rows.push_back({"  waits for", waits_for});
  for (const std::string& line : table(rows)) {
    lines.push_back(line);
  }
  std::vector<upgraderctl::Row> members{{"  MEMBER", "STEP", "PHASE", "LAST WORD"}};
  for (const std::string& id : view.ids) {
    const auto found = view.members.find(id);
    members.push_back(
        row_of(plan, id, found == view.members.end() ? fleet::MemberSight{} : found->second));
  }
  for (const std::string& line : table(members)) {
    lines.push_back(line);
  }
  return lines;
}

int wait_for_plan(const PlanWait& way, const std::string& name) {
  const std::string key = fleet::key_of(fleet::KeyKind::plan, {name});
  for (std::string told;; way.rest()) {
    const auto reply = way.read({key});
    if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
    const fleet::KeyValue* found = std::get<fleet::Reading>(reply).find(key);
    const auto read = fleet::read_record<fleet::Plan>(found == nullptr ? "" : found->value);
    if (!read) return refuse(name + ": " + (found == nullptr ? "no such plan" : read.reason()));
    const fleet::Plan& plan = read.value();
    const std::string now = std::string(text_of(plan.state)) + ", step " + progress(plan);
    if (std::exchange(told, now) != now) {
      way.say(now + (plan.error.empty() ? "" : ": " + plan.error));
    }
    if (plan.state == PlanState::completed) return exit_done;
    if (plan.state == PlanState::halted || plan.state == PlanState::aborted) return exit_failed;
  }
}

// ---- the commands
using fleet::KeyKind;

namespace {

struct PlanSight {
  fleet::Reading reading = {};  // the records of the plan and of its members
  fleet::PlanView view = {};
  fleet::Held held = {};  // what the plan waits for before it may begin
};

// Reads the plan. A plan that does not exist has the revision 0, which is not an error. If the
// store cannot be read, prints the reason, and returns the exit status.
std::variant<PlanSight, int> look_at_plan(Asker& asker, const std::string& name) {
  const auto reply = asker.read({std::string(fleet::key_root), true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  PlanSight sight{std::get<fleet::Reading>(reply), {.name = name}};
  sight.view.take_all(sight.reading);
  fleet::WindowView windows(fleet::zone_of);
  windows.set_wall(std::time(nullptr), 0);
  windows.take_all(sight.reading);
  sight.held = held_plan(sight.view, sight.reading, windows);
  std::erase_if(sight.reading.found, [&name](const fleet::KeyValue& found) {
    const auto key = fleet::parse_key(found.key);
    const bool is_plans = key && (key->kind == KeyKind::plan || key->kind == KeyKind::plan_member);
    const bool is_own = is_plans && key->names[0] == name;
    const bool is_member = key && key->kind == KeyKind::node_plan && key->names[1] == name;
    const bool is_once = key && key->kind == KeyKind::once && key->names[0] == name;
    return !is_own && !is_member && !is_once;
  });
  return sight;
}

// Reads the plan. If the plan does not exist or the store cannot be read, prints an error, and
// returns the exit status.
std::variant<PlanSight, int> see_plan(Asker& asker, const std::string& name) {
  auto seen = look_at_plan(asker, name);
  const auto* sight = std::get_if<PlanSight>(&seen);
  if (sight == nullptr || sight->view.revision != 0) return seen;
  return refuse(name + ": no such plan");
}

// Reads the plan from the file, and adds the values of --target and --ignore-window to it.
int read_file(const Options& options, std::string& body) {
  const auto text = fleet::beginning_of_file(options.file, fleet::document_bytes_max + 1);
  if (!text) return refuse(options.file + ": cannot be read");
  if (text->size() > fleet::document_bytes_max) return refuse(options.file + ": is too long");
  auto tree = fleet::parse_tree(*text);
  if (!tree) return refuse(options.file + ": " + tree.reason());
  if (!options.target.empty()) tree.value().members["target"] = fleet::json_text(options.target);
  if (options.ignore_window) tree.value().members["ignore_window"] = fleet::json_truth(true);
  body = write_tree(tree.value());
  return exit_done;
}

}  // namespace

int list_plans(const Options& options, Asker& asker) {
  const auto reply = asker.read({fleet::prefix_of(KeyKind::plan), true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  fleet::Reading reading = std::get<fleet::Reading>(reply);
  std::erase_if(reading.found, [](const fleet::KeyValue& found) {
    const auto key = fleet::parse_key(found.key);
    return !key || key->kind != KeyKind::plan;
  });
  if (options.json) return say_json(as_json(reading));
  std::vector<upgraderctl::Row> rows{{"PLAN", "BRINGS", "STATE", "STEP", "REASON"}};
  for (const fleet::KeyValue& found : reading.found) {
    const std::string name = fleet::parse_key(found.key)->names.front();
    const auto record = fleet::read_record<fleet::Plan>(found.value);
    if (!record) {
      rows.push_back({name, "", "unreadable", "", record.reason()});
      continue;
    }
    const fleet::Plan& plan = record.value();
    rows.push_back(
        {name, plan.version, std::string(text_of(plan.state)), progress(plan), plan.error});
  }
  return say_all(table(rows));
}

int show_plan(const Options& options, Asker& asker) {
  const auto seen = see_plan(asker, options.plan);
  if (const int* status = std::get_if<int>(&seen)) return *status;
  const auto& sight = std::get<PlanSight>(seen);
  if (options.json) return say_json(as_json(sight.reading));
  if (!sight.view.damage.empty()) return refuse(sight.view.damage);
  return say_all(plan_page(sight.view, sight.held));
}

int recover_plan(const Options& options, Asker& asker) {
  const Placed placed =
      place(options, asker, {.deed = fleet::Deed::erase, .subject = "plan/" + options.plan});
  if (placed.status != exit_done) return say_refused(placed);
  return say(options.plan + " " + placed.taken.event.text);
}

int run_plan(const Options& options, Asker& asker) {
  const std::string name =
      options.plan.empty() ? std::filesystem::path(options.file).stem().string() : options.plan;
  const auto taken = fleet::why_no_driven_name(name);
  if (!fleet::is_id(name) || taken) {
    return fail("no plan is called " + name + ": " + taken.value_or("give it another --name"),
                exit_usage);
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

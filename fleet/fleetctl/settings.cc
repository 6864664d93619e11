// Implements `fleetctl settings`, which shows and changes the settings of the cell.
#include "fleet/model/records/settings.h"

#include <algorithm>

#include "fleet/fleetctl/cell_view.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_tree.h"

namespace fleetctl {
namespace {

using fleet::KeyKind;

// Reads the settings into `set`, and returns the exit status. If the record is absent, no setting
// has a value.
int read_settings(Asker& asker, OneRecord<fleet::Settings>& set) {
  const int status = read_one(asker, fleet::key_of(KeyKind::settings), set);
  if (status != exit_done) return status;
  if (!set.damage.empty()) return refuse("the record of the settings " + set.damage);
  if (!set.record) set.record.emplace();
  return exit_done;
}

// Changes the settings. `body` contains only the members to be changed.
int change(const Options& options, Asker& asker, const OneRecord<fleet::Settings>& set,
           const std::string& body, const std::string& words_if_done) {
  const bool is_there = set.revision != 0;
  const fleet::Order order{.deed = is_there ? fleet::Deed::patch : fleet::Deed::put,
                           .subject = "settings",
                           .body = body};
  const Placed placed = place(options, asker, order);
  if (placed.status != exit_done) return say_refused(placed);
  return say(words_if_done);
}

// Prints a warning if no node has the label of a new budget, perhaps because the label is misspelt:
// such a budget limits nothing.
int say_if_unlabelled(Asker& asker, const std::string& label) {
  const auto reply =
      read_keys(asker, {fleet::prefix_of(KeyKind::node_info), fleet::node_identities()});
  const auto* const reading = std::get_if<fleet::Reading>(&reply);
  if (reading == nullptr) return exit_done;
  const auto nodes = fleet::nodes_in(*reading);
  const bool is_used = std::any_of(nodes.begin(), nodes.end(), [&](const fleet::NodeView& node) {
    return node.info.labels.contains(label);
  });
  return is_used ? exit_done : say("no node has the label " + label + ", so this limits nothing");
}

}  // namespace

int list_settings(const Options& options, Asker& asker) {
  OneRecord<fleet::Settings> set;
  if (const int status = read_settings(asker, set); status != exit_done) return status;
  if (options.json) return say_json(fleet::write_record(*set.record));
  std::vector<upgraderctl::Row> rows{{"NAME", "VALUE"}};
  for (const auto& [name, value] : set.record->values) {
    rows.push_back({name, value});
  }
  say_all(table(rows));
  if (!set.record->who.empty()) say("last set by " + set.record->who);
  return exit_done;
}

int set_setting(const Options& options, Asker& asker) {
  if (const auto why = fleet::why_no_settings({{{options.setting, options.value}}})) {
    return fail(*why, exit_usage);
  }
  OneRecord<fleet::Settings> set;
  if (const int status = read_settings(asker, set); status != exit_done) return status;
  const fleet::Settings wanted{{{options.setting, options.value}}};
  const int status = change(options, asker, set, fleet::write_record(wanted),
                            "the setting " + options.setting + " is " + options.value);
  const auto budgets = fleet::cell_settings(wanted).unavailable;
  if (status != exit_done || budgets.empty()) return status;
  return say_if_unlabelled(asker, budgets.begin()->first);
}

int unset_setting(const Options& options, Asker& asker) {
  OneRecord<fleet::Settings> set;
  if (const int status = read_settings(asker, set); status != exit_done) return status;
  if (!set.record->values.contains(options.setting)) {
    if (!fleet::is_setting(options.setting)) {
      return fail(options.setting + ": there is no such setting", exit_usage);
    }
    return say("the setting " + options.setting + " is not set, as before");
  }
  fleet::JsonTree taken_away = fleet::json_object();
  taken_away.members[options.setting] = {};
  return change(options, asker, set, write_tree(taken_away),
                "the setting " + options.setting + " is not set any longer");
}

}  // namespace fleetctl

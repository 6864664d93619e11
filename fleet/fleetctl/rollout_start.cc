// Implements `fleetctl rollout start` and `fleetctl rollout plan`. Both put nodes into batches, and
// print the result. Only `start` writes the rollout.
#include <algorithm>
#include <ctime>
#include <iterator>

#include "fleet/common/identity.h"
#include "fleet/common/zone_file.h"
#include "fleet/fleetctl/cell_view.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/drivers/windows.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/nodes/node_view.h"
#include "fleet/model/reasons/held.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/settings.h"
#include "fleet/model/rollouts/rollout_draft.h"

namespace fleetctl {
namespace {

using fleet::KeyKind;

struct Plan {
  std::string id = {};
  fleet::Rollout rollout = {};
  fleet::RolloutDraft draft = {};
  fleet::Revision release = 0;
  std::vector<std::string> held = {};  // lines about the batches that cannot begin
};

struct ReleaseFound {
  fleet::Release release = {};
  fleet::Revision revision = 0;
};

// Reads the record of the release into `found`. Prints the reason for a failure, and returns the
// exit status.
int find_release(Asker& asker, const std::string& component, const std::string& version,
                 ReleaseFound& found) {
  OneRecord<fleet::Release> one;
  const int status =
      read_one(asker, fleet::key_of(fleet::KeyKind::release, {component, version}), one);
  if (status != exit_done) return status;
  if (one.revision == 0) {
    return refuse(component + " " + version +
                  " is not published: fleetctl release publish makes it known");
  }
  if (!one.record) return refuse("the release " + one.damage);
  found = {*one.record, one.revision};
  return exit_done;
}

// Refuses if some nodes run a newer version than `version`, and prints their names. They would
// refuse the older version, and that would count as failures of the release.
int look_for_newer(const std::vector<fleet::NodeView>& nodes, const std::string& component,
                   const std::string& version) {
  const std::string newer = fleet::who_runs_newer(nodes, component, version);
  if (newer.empty()) return exit_done;
  return refuse(component + " " + version + " is older than what runs on " + newer +
                "; if that is meant, say --downgrade");
}

// Refuses a name that an ended rollout had, and prints the reason. Returns the exit status.
int look_for_name(const std::string& id, Asker& asker) {
  const auto reply = read_keys(asker, {fleet::prefix_of(KeyKind::history)});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const auto used = why_name_was_used(id, std::get<fleet::Reading>(reply));
  if (used) complain(*used);
  return used ? exit_refused : exit_done;
}

// Completes the rollout's terms with facts about the release: its version and digest, whether it
// can be undone, and which command set a node must understand to run it.
int add_release(const Options& options, Asker& asker, Plan& plan) {
  ReleaseFound found;
  const int status = find_release(asker, options.component, options.version, found);
  if (status != exit_done) return status;
  plan.release = found.revision;
  fleet::RolloutTerms& terms = plan.rollout.terms;
  terms.component = options.component;
  terms.version = options.version;
  terms.digest = found.release.digest;
  terms.no_undo = !may_be_undone(found.release);
  terms.min_protocol = std::max(terms.min_protocol, found.release.min_protocol);
  return exit_done;
}

int add_nodes(const Options& options, Asker& asker, Plan& plan) {
  const auto reply =
      read_keys(asker, {fleet::prefix_of(KeyKind::node_info), fleet::node_identities(),
                        fleet::key_of(KeyKind::settings), fleet::prefix_of(KeyKind::window)});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const auto nodes = nodes_in(std::get<fleet::Reading>(reply));
  auto& terms = plan.rollout.terms;
  const auto draft = draft_rollout(terms, candidates_in(nodes, terms.component), plan.rollout.trace,
                                   {.many_batches = options.many_batches || options.dry_run,
                                    .budgets = budgets_in(std::get<fleet::Reading>(reply))});
  if (!draft) return refuse(draft.reason());
  plan.draft = draft.value();
  terms = plan.draft.terms;
  fleet::WindowView windows(fleet::zone_of);
  windows.set_wall(std::time(nullptr), 0);
  windows.take_all(std::get<fleet::Reading>(reply));
  plan.held = batches_held_for_ever(plan.draft.batches, terms, windows);
  if (terms.downgrade) return exit_done;
  std::vector<NodeView> taken;
  for (const auto& batch : plan.draft.batches) {
    const auto is_taken = [&batch](const NodeView& node) {
      return std::ranges::find(batch, node.id) != batch.end();
    };
    std::ranges::copy_if(nodes, std::back_inserter(taken), is_taken);
  }
  return look_for_newer(taken, terms.component, terms.version);
}

std::string in_one_line(const std::vector<std::string>& names) {
  std::string line;
  for (const std::string& name : names) {
    line += " " + name;
  }
  return line;
}

// Prints terms that may surprise a person: the seed of a random order, nodes without a label, a
// large number of batches, and the shortest time that the rollout can take.
void show_terms(const Plan& plan) {
  const fleet::RolloutTerms& terms = plan.draft.terms;
  if (terms.order == fleet::NodeOrder::random) say("order: random, --seed=" + terms.seed);
  for (const auto& [label, nodes] : plan.draft.unlabelled)
    say("without label " + label + ", each by itself: " + fleet::listed(nodes));
  if (plan.draft.batches.size() > fleet::batches_unasked_max && !terms.batches.empty()) {
    say("needs --yes: " + std::to_string(plan.draft.batches.size()) + " batches");
  }
  if (terms.no_undo) {
    say("cannot be undone: the manifest of " + terms.version + " says \"undo\": false");
  }
  std::int64_t nodes = 0;
  for (const auto& batch : plan.draft.batches)
    nodes += static_cast<std::int64_t>(batch.size());
  if (const auto words = judging_words(terms, nodes); !words.empty()) say(words);
  const std::int64_t ms = least_ms(terms, plan.draft.batches);
  const std::string bake =
      terms.bake_ms == 0 ? "" : ", then " + fleet::countdown(terms.bake_ms / 1'000) + " of bake";
  const std::size_t count = plan.draft.batches.size();
  say(std::to_string(count) + (count == 1 ? " batch" : " batches") + ", at least " +
      fleet::countdown(ms / 1'000) + bake);
}

void show(const Plan& plan) {
  std::size_t number = 0;
  for (const auto& batch : plan.draft.batches) {
    say("batch " + std::to_string(++number) + ":" + in_one_line(batch));
  }
  if (!plan.draft.excluded.empty()) say("degraded, left out:" + in_one_line(plan.draft.excluded));
  if (!plan.draft.not_covered.empty())
    say("not reporting, left out:" + in_one_line(plan.draft.not_covered));
  say_all(plan.held);
  show_terms(plan);
}

}  // namespace

int start_rollout(const Options& options, Asker& asker) {
  Plan plan;
  plan.rollout.terms = options.terms;
  plan.rollout.who = who_asks(options);
  plan.rollout.trace = fleet::new_instance_id().substr(0, 8);
  plan.rollout.created = fleet::time_text();
  plan.id = options.rollout.empty() ? "r-" + plan.rollout.trace : options.rollout;
  if (!options.rollout.empty()) {
    if (const int status = look_for_name(plan.id, asker); status != exit_done) return status;
  }
  if (const int status = add_release(options, asker, plan); status != exit_done) return status;
  if (const int status = add_nodes(options, asker, plan); status != exit_done) return status;
  if (options.dry_run) {
    show(plan);
    return exit_done;
  }
  fleet::RolloutCreation creation(plan.id, plan.rollout, plan.draft, plan.release);
  if (const int status = write_all(asker, creation); status != exit_done) return status;
  // Write a note, from which a controller makes an event of the history. A failure is harmless: the
  // rollout's record also names the person who has started it.
  fleet::Transaction note;
  fleet::FleetEvent event = note_of(options, "rollout/" + plan.id,
                                    "begins: " + options.component + " " + options.version);
  event.trace = plan.rollout.trace;
  add_note(note, event);
  static_cast<void>(asker.commit(note));
  show(plan);
  return say("rollout " + plan.id + " begins (trace " + plan.rollout.trace + ")");
}

}  // namespace fleetctl

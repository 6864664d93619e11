#include "fleet/http/outlook.h"

#include <algorithm>
#include <utility>

#include "fleet/http/summary.h"
#include "fleet/model/desired/desired_view.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

// The consequences if no fleet-signer runs, that is, if the store has no record with which a
// running fleet-signer shows itself.
struct SilentSigner {
  std::string words = {};   // what does not work without a fleet-signer
  bool is_awaited = false;  // whether a machine or node is waiting for a fleet-signer
};

// Returns whether anybody may need a fleet-signer later: a machine that joins with a token, or a
// node that renews its certificate.
bool may_be_needed(const CellState& cell, UnixSeconds now) {
  const auto& all = cell.expiries();
  const std::string nodes = certificate_name(node_kind, "");
  const bool renews = std::any_of(all.begin(), all.end(), [&](const auto& entry) {
    return entry.first.starts_with(nodes) && entry.second > now;
  });
  return renews || cell.has_usable_token(now);
}

// Returns a text such as `2 machines wait to join (n7, n8)`. Returns an empty string if `names` is
// empty.
std::string waiting(const std::vector<std::string>& names, const std::string& one,
                    const std::string& many) {
  if (names.empty()) return "";
  return std::to_string(names.size()) + " " + (names.size() == 1 ? one : many) + " (" +
         listed(names) + ")";
}

// Returns the consequences if no fleet-signer runs. Returns no value if one runs or nobody can need
// one.
[[nodiscard]] std::optional<SilentSigner> silent_signer(const CellState& cell, UnixSeconds now) {
  if (!cell.signers().empty()) return std::nullopt;
  const auto& renewing = cell.renewing_nodes();
  const std::string joins =
      waiting(cell.joining_machines(), "machine waits to join", "machines wait to join");
  const std::string renewals =
      waiting({renewing.begin(), renewing.end()}, "node waits for its next certificate",
              "nodes wait for their next certificates");
  const bool is_awaited = !joins.empty() || !renewals.empty();
  if (!is_awaited && !may_be_needed(cell, now)) return std::nullopt;
  const std::string between = joins.empty() || renewals.empty() ? "" : ", ";
  const std::string lack = is_awaited ? joins + between + renewals
                                      : "no machine can join, and no node's certificate is renewed";
  return SilentSigner{
      .words = "no fleet-signer is at work: " + lack + "; start the signer on its machine",
      .is_awaited = is_awaited};
}

// ---- lines about rollouts, plans and desired versions

// Returns the reason why this work is held back. If `held` has no reason, returns `places`, from
// the work's own record: the budgets (limits for the number of nodes that may be down at the same
// time) for which the work waits.
Held held_of(const HeldWork& held, const std::string& subject, const std::string& places) {
  const auto found = held.work.find(subject);
  return found == held.work.end() ? Held{places} : found->second;
}

// Adds the line to `lines`, with the reason if the work is held back. If only a person can end this
// wait, adds the line to `outlook.waits` instead. `order` is the command that ends the work; it may
// be empty.
void add_work(OutlookLine line, const Held& held, const std::string& order,
              std::vector<OutlookLine>& lines, Outlook& outlook) {
  if (held.words.empty()) return lines.push_back(std::move(line));
  line.text += "; waits for " + held.words;
  line.not_before.reset();
  if (!held.needs_person) return lines.push_back(std::move(line));
  line.commands = {"fleetctl window list"};
  if (!order.empty()) line.commands.push_back(order);
  outlook.waits.push_back(std::move(line));
}

void add_rollout(const CellState& cell, const std::string& id, const CellState::OneRollout& one,
                 UnixSeconds now, const HeldWork& held, Outlook& outlook) {
  const Rollout& rollout = one.rollout;
  if (is_over(rollout.state)) return;
  const std::string subject = "rollout/" + id;
  const std::string name =
      "rollout " + id + " (" + rollout.terms.component + " " + rollout.terms.version + ") ";
  if (rollout.state == RolloutState::paused) {
    outlook.waits.push_back({subject,
                             with_reason(name + "is paused", rollout.reason),
                             {},
                             {"fleetctl rollout resume " + id, "fleetctl rollout abort " + id}});
    return;
  }
  if (rollout.state == RolloutState::created) {
    outlook.moves.push_back({subject, name + "is being written", {}, {}});
    return;
  }
  if (!cell.drivers().contains(id)) {
    const std::string last = rollout.driver.empty() ? "" : "; " + rollout.driver + " drove it last";
    outlook.waits.push_back(
        {subject, name + "is driven by no controller" + last, {}, {"fleetctl cell check"}});
    return;
  }
  std::string words = "is under way: " + progress_words(cell, one);
  if (rollout.state == RolloutState::aborting)
    words = with_reason("is aborting, and its nodes go back", rollout.reason);
  if (rollout.state == RolloutState::undoing)
    words = with_reason("is undone, and its nodes go back", rollout.reason);
  add_work({subject, name + words, times_of(cell, one, now).not_before},
           held_of(held, subject, rollout.waits_for), "fleetctl rollout abort " + id, outlook.moves,
           outlook);
}

void add_plan(const CellState& cell, const std::string& name, const Plan& plan,
              const HeldWork& held, Outlook& outlook) {
  if (is_over(plan.state)) return;
  const std::string words = "plan " + name + " (" + plan.version + ") ";
  const std::string step =
      "step " + std::to_string(plan.step) + " of " + std::to_string(plan.steps.size());
  if (plan.state == PlanState::halted) {
    outlook.waits.push_back({"plan/" + name,
                             with_reason(words + "is halted at " + step, plan.error),
                             {},
                             {"fleetctl plan recover " + name}});
    return;
  }
  if (plan.state == PlanState::created) {
    outlook.moves.push_back({"plan/" + name, words + "is being written", {}, {}});
    return;
  }
  if (!cell.drivers().contains(name)) {
    outlook.waits.push_back(
        {"plan/" + name,
         with_reason(words + "is driven by no controller, at " + step, plan.error),
         {},
         {"fleetctl cell check"}});
    return;
  }
  const std::string moves =
      plan.state == PlanState::stopping ? "is stopping at " : "is under way: ";
  const std::string subject = "plan/" + name;
  add_work({subject, with_reason(words + moves + step, plan.error)},
           held_of(held, subject, plan.waits_for), "", outlook.moves, outlook);
}

// The nodes that do not run a component's desired version yet.
struct Behind {
  std::size_t all = 0;
  std::size_t begun = 0;                 // how many nodes are on the way to the version
  std::vector<std::string> failed = {};  // the nodes on which the version has failed
  std::string why = {};                  // why the version has failed on the first of `failed`
  // The silent nodes whose upgrade waits at its gate, that is, for a confirmation. The values are
  // the times since which the upgrades wait.
  std::map<std::string, std::string> silent = {};
};

Behind nodes_without(const CellState& cell, const std::string& component,
                     const std::string& version) {
  Behind behind;
  for (const auto& [id, node] : cell.nodes()) {
    const auto runs = node.versions.running.find(component);
    if (runs == node.versions.running.end() || is_same_version(runs->second, version)) continue;
    ++behind.all;
    const auto upgrade = node.upgrades.find(component);
    if (upgrade == node.upgrades.end() || upgrade->second.to != version) continue;
    if (is_under_way(upgrade->second.phase)) ++behind.begun;
    if (const auto since = silent_at_gate_since(node, component, version))
      behind.silent[id] = *since;
    if (upgrade->second.phase != UpgradePhase::failed) continue;
    if (behind.failed.empty()) behind.why = upgrade->second.error;
    behind.failed.push_back(id);
  }
  return behind;
}

void add_desired(const CellState& cell, const std::string& component, const Desired& wish,
                 const HeldWork& held, Outlook& outlook) {
  const std::string subject = "desired/" + component;
  const std::string name = component + " " + wish.version;
  const std::string desire = "fleetctl desire " + name;
  const auto add = [&](std::vector<OutlookLine>& lines, const std::string& text,
                       std::vector<std::string> commands = {}) {
    lines.push_back({subject, name + text, {}, std::move(commands)});
  };
  if (!wish.refused.empty())
    return add(outlook.waits, " is desired, but moves no node: " + wish.refused, {desire});
  if (wish.pending)
    return add(outlook.notes, " moves no node before " + wish.why + " has migrated");
  const Behind behind = nodes_without(cell, component, wish.version);
  if (!behind.failed.empty()) {
    add(outlook.waits,
        with_reason(
            " is desired and has failed on " + listed(behind.failed) + ", so no other node begins",
            behind.why),
        {"fleetctl show " + behind.failed.front(), desire});
  } else if (behind.all > 0 && !cell.drivers().contains("desired")) {
    add(outlook.waits,
        " is desired, but driven by no controller; " + counted(behind.all, "node") + " without it",
        {"fleetctl cell check"});
  } else if (!behind.silent.empty()) {
    const std::string& first = behind.silent.begin()->first;
    add(outlook.waits, " is desired; " + silent_at_gates(behind.silent),
        {"fleetctl show " + first, desire, "fleetctl forget " + first});
  } else if (behind.begun > 0) {
    const std::string words = " is desired: " + counted(behind.begun, "node") + " on the way, " +
                              std::to_string(behind.all) + " still without it";
    add_work({subject, name + words}, held_of(held, subject, ""), "", outlook.moves, outlook);
  } else if (behind.all > 0) {
    const std::string words = " is desired; " + counted(behind.all, "node") + " without it";
    add_work({subject, name + words}, held_of(held, subject, ""), "", outlook.notes, outlook);
  }
}

// Adds a line about pinned nodes (each has a version that a person has chosen for it alone) whose
// upgrades are held back at their gates.
void add_pins(const HeldPins& pins, Outlook& outlook) {
  const std::string subject = "node/" + pins.nodes.front() + "/desired/" + pins.component;
  const std::string words =
      pins.component + " " + pins.version + " is desired of " + listed(pins.nodes);
  add_work({subject, words}, pins.held, "", outlook.moves, outlook);
}

// ---- machines and programs

void add_machines(const CellState& cell, Outlook& outlook) {
  for (const auto& [fingerprint, request] : cell.waiting_machines()) {
    outlook.waits.push_back(
        {"join/" + fingerprint,
         "machine " + request.node + " waits for approval of its key " + fingerprint,
         {},
         {"fleetctl approve " + request.node + " " + fingerprint}});
  }
}

// Adds a line about silent controllers to `notes`, not to `waits`, since the other controllers do
// their work.
void add_controllers(const CellState& cell, Outlook& outlook) {
  const auto silent = cell.controllers().silent();
  if (silent.empty()) return;
  const auto living = cell.controllers().living();
  outlook.notes.push_back({"controller",
                           counted(silent.size(), "controller") +
                               (silent.size() == 1 ? " is" : " are") +
                               " silent: " + listed(silent) + "; at work: " + listed(living),
                           {},
                           {"systemctl restart fleet-controller",
                            "fleetctl forget " + silent.front() + " --controller"}});
}

void add_signer(const CellState& cell, UnixSeconds now, Outlook& outlook) {
  const auto silent = silent_signer(cell, now);
  if (!silent) return;
  (silent->is_awaited ? outlook.waits : outlook.notes)
      .push_back({"signer",
                  silent->words,
                  {},
                  {"systemctl restart fleet-signer", "journalctl -u fleet-signer"}});
}

JsonTree tree_of(const std::vector<OutlookLine>& lines) {
  JsonTree tree{.kind = JsonTree::Kind::array};
  for (const OutlookLine& line : lines) {
    JsonTree one = json_object();
    one.members["subject"] = json_text(line.subject);
    one.members["text"] = json_text(line.text);
    if (line.not_before) one.members["not_before"] = json_number(*line.not_before);
    one.members["commands"] = json_texts(line.commands);
    tree.elements.push_back(std::move(one));
  }
  return tree;
}

}  // namespace

Outlook outlook_of(const CellState& cell, const Health& health, UnixSeconds now,
                   const HeldWork& held) {
  Outlook outlook;
  add_store(cell, health, outlook);
  if (cell.stop()) {
    std::string words = "nothing new begins: stopped by " + cell.stop()->who;
    if (!cell.stop()->since.empty()) words += " since " + cell.stop()->since;
    outlook.waits.push_back(
        {"stop", with_reason(words, cell.stop()->why), {}, {"fleetctl stop off"}});
  }
  for (const auto& [id, one] : cell.rollouts()) {
    add_rollout(cell, id, one, now, held, outlook);
  }
  for (const auto& [name, plan] : cell.plans()) {
    add_plan(cell, name, plan, held, outlook);
  }
  for (const auto& [component, wish] : cell.desired()) {
    add_desired(cell, component, wish, held, outlook);
  }
  for (const HeldPins& pins : held.pins)
    add_pins(pins, outlook);
  add_machines(cell, outlook);
  add_controllers(cell, outlook);
  add_signer(cell, now, outlook);
  add_nodes(cell, outlook);
  add_certificates(cell, health, now, outlook);
  return outlook;
}

JsonTree tree_of(const Outlook& outlook) {
  JsonTree tree = json_object();
  tree.members["moves"] = tree_of(outlook.moves);
  tree.members["waits"] = tree_of(outlook.waits);
  tree.members["notes"] = tree_of(outlook.notes);
  return tree;
}

}  // namespace fleet

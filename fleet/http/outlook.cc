#include "fleet/http/outlook.h"

#include <algorithm>
#include <map>

#include "fleet/http/rollout_shown.h"
#include "fleet/http/silent_signer.h"
#include "fleet/model/identities.h"
#include "fleet/model/record_brief.h"

namespace fleet {
namespace {

constexpr UnixSeconds day_s = 86'400;

std::string counted(std::size_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

std::string with_reason(std::string text, const std::string& reason) {
  if (!reason.empty()) text += ": " + reason;
  return text;
}

// ---- rollouts, plans and desired versions

void add_rollout(const CellState& cell, const std::string& id, const CellState::OneRollout& one,
                 UnixSeconds now, Outlook& outlook) {
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
  if (!cell.drivers().contains(id)) {
    const std::string last = rollout.driver.empty() ? "" : "; " + rollout.driver + " drove it last";
    outlook.waits.push_back(
        {subject, name + "is driven by no controller" + last, {}, {"fleetctl cell check"}});
    return;
  }
  std::string words = "is under way: " + progress_words(cell, one);
  if (rollout.state == RolloutState::created) words = "is being written";
  if (rollout.state == RolloutState::aborting)
    words = with_reason("is aborting, and its nodes go back", rollout.reason);
  if (rollout.state == RolloutState::undoing)
    words = with_reason("is undone, and its nodes go back", rollout.reason);
  outlook.moves.push_back({subject, name + words, times_of(cell, one, now).not_before, {}});
}

void add_plan(const std::string& name, const Plan& plan, Outlook& outlook) {
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
  outlook.moves.push_back(
      {"plan/" + name,
       with_reason(words +
                       (plan.state == PlanState::stopping ? "is stopping at " : "is under way: ") +
                       step,
                   plan.error),
       {},
       {}});
}

void add_desired(const CellState& cell, const std::string& component, const Desired& wish,
                 Outlook& outlook) {
  const std::string subject = "desired/" + component;
  const std::string name = component + " " + wish.version;
  std::vector<std::string> commands{"fleetctl desire " + name};
  if (!wish.refused.empty()) {
    outlook.waits.push_back({subject,
                             name + " is desired, but moves no node: " + wish.refused,
                             {},
                             std::move(commands)});
    return;
  }
  std::size_t behind = 0;
  std::size_t begun = 0;
  std::vector<std::string> failed;
  std::string why;
  for (const auto& [id, node] : cell.nodes()) {
    const auto runs = node.versions.running.find(component);
    if (runs == node.versions.running.end() || runs->second == wish.version) continue;
    ++behind;
    const auto upgrade = node.upgrades.find(component);
    if (upgrade == node.upgrades.end() || upgrade->second.to != wish.version) continue;
    if (is_under_way(upgrade->second.phase)) ++begun;
    const bool is_failed = upgrade->second.phase == UpgradePhase::failed;
    if (is_failed && failed.empty()) why = upgrade->second.error;
    if (is_failed) failed.push_back(id);
  }
  if (!failed.empty()) {
    commands.insert(commands.begin(), "fleetctl show " + failed.front());
    outlook.waits.push_back({subject,
                             with_reason(name + " is desired and has failed on " + listed(failed) +
                                             ", so no other node begins",
                                         why),
                             {},
                             std::move(commands)});
  } else if (begun > 0) {
    outlook.moves.push_back({subject,
                             name + " is desired: " + counted(begun, "node") + " on the way, " +
                                 std::to_string(behind) + " still without it",
                             {},
                             {}});
  } else if (behind > 0) {
    outlook.notes.push_back(
        {subject, name + " is desired; " + counted(behind, "node") + " without it", {}, {}});
  }
}

// ---- nodes

void add_nodes(const CellState& cell, Outlook& outlook) {
  // The names of the degraded nodes, by the reason.
  std::map<std::string, std::vector<std::string>> degraded;
  std::vector<std::string> silent;
  for (const auto& [id, node] : cell.nodes()) {
    if (!node.reports()) silent.push_back(id);
    if (const std::string why = node.degraded(); !why.empty()) degraded[why].push_back(id);
  }
  for (const auto& [why, nodes] : degraded) {
    const bool is_one = nodes.size() == 1;
    outlook.waits.push_back(
        {is_one ? "node/" + nodes.front() : "node",
         (is_one ? "node " + nodes.front() + " is degraded: "
                 : counted(nodes.size(), "node") + " are degraded (" + listed(nodes) + "): ") +
             why,
         {},
         {"fleetctl show " + nodes.front()}});
  }
  if (silent.empty()) return;
  const bool are_many = static_cast<std::int64_t>(silent.size()) * silent_share > cell.count().all;
  (are_many ? outlook.waits : outlook.notes)
      .push_back({"node",
                  counted(silent.size(), "node") + (silent.size() == 1 ? " does" : " do") +
                      " not report: " + listed(silent),
                  {},
                  {"fleetctl show " + silent.front()}});
}

void add_machines(const CellState& cell, Outlook& outlook) {
  for (const auto& [fingerprint, request] : cell.waiting_machines()) {
    outlook.waits.push_back(
        {"join/" + fingerprint,
         "machine " + request.node + " waits for approval of its key " + fingerprint,
         {},
         {"fleetctl approve " + request.node + " " + fingerprint}});
  }
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

// ---- store and certificates

void add_store(const CellState& cell, const Health& health, Outlook& outlook) {
  const auto all = health.members.size();
  std::vector<std::string> lost;
  for (const auto& [endpoint, member] : health.members) {
    if (!member.answers) lost.push_back(with_reason(endpoint, member.trouble));
  }
  const std::string words =
      std::to_string(all - lost.size()) + " of " + counted(all, "member") + " of the store answer";
  if (!health.members.empty() && !health.has_quorum()) {
    outlook.waits.push_back(
        {"store", "the store has no quorum: " + words, {}, {"fleetctl cell check"}});
  } else if (!lost.empty()) {
    outlook.notes.push_back(
        {"store", words + "; not " + listed(lost), {}, {"fleetctl cell check"}});
  }
  if (health.has_no_space()) {
    outlook.waits.push_back({"store",
                             "the store is full and takes no more writes; fleet(7) says how it is "
                             "defragmented",
                             {},
                             {"etcdctl defrag", "etcdctl alarm disarm"}});
  }
  if (cell.epoch() && !cell.epoch()->accepted) {
    outlook.waits.push_back(
        {"epoch",
         with_reason("the store was restored, and nodes do nothing until a person accepts it",
                     cell.epoch()->why),
         {},
         {"fleetctl accept-epoch"}});
  }
  if (cell.damaged() > 0) {
    const auto damaged = static_cast<std::size_t>(cell.damaged());
    outlook.notes.push_back({"", counted(damaged, "record") + " cannot be read", {}, {}});
  }
}

// Adds a line under `waits` if the certificate has ended, or ends within `care_s` seconds.
void add_certificate(const std::string& whose, UnixSeconds until, UnixSeconds now,
                     UnixSeconds care_s, const std::string& command, Outlook& outlook) {
  if (until >= now + care_s) return;
  const std::string words =
      until <= now ? " has ended"
                   : " ends in " + counted(static_cast<std::size_t>((until - now) / day_s), "day");
  std::vector<std::string> commands;
  if (!command.empty()) commands.push_back(command);
  outlook.waits.push_back(
      {"certificate", "the certificate of " + whose + words, {}, std::move(commands)});
}

void add_certificates(const CellState& cell, const Health& health, UnixSeconds now,
                      Outlook& outlook) {
  for (const CertificateHealth& one : health.certificates) {
    if (one.expires == 0) {
      outlook.waits.push_back(
          {"certificate",
           with_reason("the certificate " + one.what + " cannot be read", one.trouble),
           {},
           {}});
      continue;
    }
    const std::string whose = one.what == "authority" ? "the authority"
                              : one.what == "http"    ? "this page"
                                                      : "this controller";
    add_certificate(whose, one.expires, now, certificate_care_s, "", outlook);
  }
  std::size_t ended = 0;
  for (const auto& [name, until] : cell.expiries()) {
    const bool is_node = name.starts_with(std::string(node_kind) + ":");
    // If a certificate has ended, its owner may have left the cell on purpose. So certificates that
    // have ended are only counted, in a note.
    if (until <= now) {
      ++ended;
      continue;
    }
    const std::string command = is_node ? "fleetctl show " + name.substr(node_kind.size() + 1)
                                        : "fleetctl enrol " + name.substr(name.find(':') + 1) +
                                              " --role=" + name.substr(0, name.find(':')) +
                                              " --request=FILE";
    add_certificate(name, until, now, is_node ? node_certificate_care_s : certificate_care_s,
                    command, outlook);
  }
  if (ended > 0) {
    outlook.notes.push_back({"certificate",
                             counted(ended, "enrolled certificate") + " ended without a successor",
                             {},
                             {"fleetctl status"}});
  }
}

JsonTree tree_of(const std::vector<OutlookLine>& lines) {
  JsonTree tree{.kind = JsonTree::Kind::array};
  for (const OutlookLine& line : lines) {
    JsonTree one{.kind = JsonTree::Kind::object};
    one.members["subject"] = json_text(line.subject);
    one.members["text"] = json_text(line.text);
    if (line.not_before) one.members["not_before"] = json_number(*line.not_before);
    one.members["commands"] = json_texts(line.commands);
    tree.elements.push_back(std::move(one));
  }
  return tree;
}

}  // namespace

Outlook outlook_of(const CellState& cell, const Health& health, UnixSeconds now) {
  Outlook outlook;
  add_store(cell, health, outlook);
  if (cell.stop()) {
    std::string words = "nothing new begins: stopped by " + cell.stop()->who;
    if (!cell.stop()->since.empty()) words += " since " + cell.stop()->since;
    outlook.waits.push_back(
        {"stop", with_reason(words, cell.stop()->why), {}, {"fleetctl stop off"}});
  }
  for (const auto& [id, one] : cell.rollouts()) {
    add_rollout(cell, id, one, now, outlook);
  }
  for (const auto& [name, plan] : cell.plans()) {
    add_plan(name, plan, outlook);
  }
  for (const auto& [component, wish] : cell.desired()) {
    add_desired(cell, component, wish, outlook);
  }
  add_machines(cell, outlook);
  add_signer(cell, now, outlook);
  add_nodes(cell, outlook);
  add_certificates(cell, health, now, outlook);
  return outlook;
}

JsonTree tree_of(const Outlook& outlook) {
  JsonTree tree{.kind = JsonTree::Kind::object};
  tree.members["moves"] = tree_of(outlook.moves);
  tree.members["waits"] = tree_of(outlook.waits);
  tree.members["notes"] = tree_of(outlook.notes);
  return tree;
}

}  // namespace fleet

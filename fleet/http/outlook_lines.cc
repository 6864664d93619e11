// Implements the lines of the outlook about nodes, the store and certificates, and phrases that
// several lines contain.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "fleet/http/outlook.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/reasons/failure_causes.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

// A group of degraded nodes, which report similar troubles. `why` is the trouble of the first one.
struct Degraded {
  std::vector<std::string> nodes = {};
  std::string why = {};
};

// Adds a line for each of the largest groups of degraded nodes, and one line for all other groups.
void add_degraded(const std::map<std::string, Degraded>& groups, Outlook& outlook) {
  std::vector<const Degraded*> all;
  for (const auto& [likeness, group] : groups)
    all.push_back(&group);
  std::stable_sort(all.begin(), all.end(), [](const Degraded* one, const Degraded* other) {
    return one->nodes.size() > other->nodes.size();
  });
  std::size_t more = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [nodes, why] = *all[i];
    if (i >= degraded_shown) {
      more += nodes.size();
      continue;
    }
    const bool is_one = nodes.size() == 1;
    outlook.waits.push_back(
        {is_one ? "node/" + nodes.front() : "node",
         (is_one ? "node " + nodes.front() + " is degraded: "
                 : counted(nodes.size(), "node") + " are degraded (" + listed(nodes) + "): ") +
             why,
         {},
         {"fleetctl show " + nodes.front()}});
  }
  if (more == 0) return;
  outlook.waits.push_back({"node",
                           counted(more, "other node") + (more == 1 ? " is" : " are") + " degraded",
                           {},
                           {"fleetctl nodes"}});
}

// Adds a line to `outlook.waits` if the certificate expires within `care_s` seconds or has expired.
void add_certificate(const std::string& whose, UnixSeconds until, UnixSeconds now,
                     UnixSeconds care_s, const std::string& command, Outlook& outlook) {
  if (until >= now + care_s) return;
  const std::string words =
      until <= now ? " has ended" : " ends in " + counted((until - now) / day_seconds, "day");
  std::vector<std::string> commands;
  if (!command.empty()) commands.push_back(command);
  outlook.waits.push_back(
      {"certificate", "the certificate of " + whose + words, {}, std::move(commands)});
}

}  // namespace

std::string with_reason(std::string text, const std::string& reason) {
  if (!reason.empty()) text += ": " + reason;
  return text;
}

void add_nodes(const CellState& cell, Outlook& outlook) {
  // the degraded nodes, in groups with similar reasons
  std::map<std::string, Degraded> degraded;
  std::vector<std::string> silent;
  for (const auto& [id, node] : cell.nodes()) {
    if (!node.reports()) silent.push_back(id);
    const std::string why = node.degraded();
    if (why.empty()) continue;
    Degraded& alike = degraded[likeness(why, id)];
    if (alike.nodes.empty()) alike.why = why;
    alike.nodes.push_back(id);
  }
  add_degraded(degraded, outlook);
  if (silent.empty()) return;
  const bool are_many = static_cast<std::int64_t>(silent.size()) * silent_share > cell.count().all;
  (are_many ? outlook.waits : outlook.notes)
      .push_back({"node",
                  counted(silent.size(), "node") + (silent.size() == 1 ? " does" : " do") +
                      " not report: " + listed(silent),
                  {},
                  {"fleetctl show " + silent.front()}});
}

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
                             {"etcdctl compact " + std::to_string(health.revision),
                              "etcdctl defrag", "etcdctl alarm disarm"}});
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
    outlook.notes.push_back({"", counted(cell.damaged(), "record") + " cannot be read", {}, {}});
  }
}

void add_certificates(const CellState& cell, const Health& health, UnixSeconds now,
                      Outlook& outlook) {
  // The certificates of this controller, by name. They get lines first, and are then left out of
  // the lines about the certificates of nodes and people.
  std::map<std::string, UnixSeconds> told;
  for (const CertificateHealth& one : health.certificates) {
    told[one.name] = one.expires;
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
    if (const auto own = told.find(name); own != told.end() && own->second == until) continue;
    const bool is_node = name.starts_with(std::string(node_kind) + ":");
    // Expired certificates are only counted, since their owners may have left the cell on purpose.
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

}  // namespace fleet

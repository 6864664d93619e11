#include "fleet/cell/cell_check.h"

#include <algorithm>

#include "fleet/model/nodes/node_view.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

// A certificate is reported this long before it expires, so that a person has time to renew it.
// `fleetctl status` does the same.
constexpr UnixSeconds soon_s = 30 * day_seconds;
// The certificate of the authority is reported a year before it expires, since it has to be
// replaced on every machine of the cell.
constexpr UnixSeconds authority_soon_s = 365 * day_seconds;
// Smaller differences of clocks are not reported. Each server's clock is compared with this
// machine's clock, and this machine's clock with the time of the newest event, which cannot be in
// the future.
constexpr UnixSeconds clock_tolerance_s = 60;
// The store's last snapshot is reported if it is older than this. fleet-signer makes a snapshot
// every hour.
constexpr UnixSeconds snapshot_age_max_s = 2 * 3'600;
// The maximum number of waiting machines whose names are printed. Further machines are only
// counted.
constexpr std::size_t named_max = 10;

void check_members(const CellFacts& facts, std::vector<CheckLine>& lines) {
  std::size_t good = 0;
  for (const MemberFact& member : facts.members) {
    if (member.trouble.empty()) {
      ++good;
      continue;
    }
    lines.push_back({false, "member " + member.url + ": " + member.trouble,
                     "on that machine: systemctl status etcd; journalctl -u etcd"});
  }
  const bool is_majority = 2 * good > facts.members.size();
  lines.push_back(
      {is_majority,
       "members: " + std::to_string(good) + " of " + std::to_string(facts.members.size()) +
           " answer and have a leader",
       is_majority ? "" : "without a majority nothing can be written; start the others"});
}

// Adds a line with the commands that make room, if the store is full and refuses writes.
void check_space(const CellFacts& facts, std::vector<CheckLine>& lines) {
  std::string full;
  for (const MemberFact& member : facts.members) {
    if (member.is_full) full += (full.empty() ? "" : ", ") + member.url;
  }
  if (full.empty()) return;
  const std::string revision =
      facts.records ? std::to_string(facts.records->revision) : std::string("REVISION");
  lines.push_back({false, "store: full (NOSPACE), and takes no more writes: " + full,
                   "etcdctl compact " + revision + "; etcdctl defrag; etcdctl alarm disarm"});
}

void check_clocks(const CellFacts& facts, const CellFindings& found,
                  std::vector<CheckLine>& lines) {
  const std::size_t before = lines.size();
  std::size_t compared = 0;
  for (const auto* servers : {&facts.servers, &facts.controllers}) {
    for (const ServerFact& server : *servers) {
      if (!server.clock) continue;
      ++compared;
      const UnixSeconds ahead = *server.clock - server.asked;
      const UnixSeconds difference = std::max(ahead, -ahead);
      if (difference <= clock_tolerance_s) continue;
      lines.push_back({false,
                       "clock: that of " + server.url + " is " + counted(difference, "second") +
                           (ahead > 0 ? " ahead of" : " behind") + " this machine's",
                       "timedatectl, on both machines"});
    }
  }
  const UnixSeconds behind = found.newest - facts.now;
  if (lines.size() == before && behind > clock_tolerance_s) {
    lines.push_back({false,
                     "clock: the newest event is " + counted(behind, "second") +
                         " later than this machine's clock",
                     "timedatectl, on this machine and on those of the controllers"});
  }
  if (lines.size() != before) return;
  lines.push_back({true,
                   compared == 0 ? "clock: no event of the cell is later than this machine's clock"
                                 : "clock: those of " + counted(compared, "server") +
                                       " differ from this machine's by a minute at most",
                   ""});
}

void check_one_certificate(const std::string& whose, UnixSeconds until, UnixSeconds now,
                           const std::string& advice, std::vector<CheckLine>& lines,
                           UnixSeconds soon = soon_s) {
  if (until >= now + soon) return;
  const std::string words =
      until <= now ? " has ended" : " ends in " + counted((until - now) / day_seconds, "day");
  lines.push_back({false, "certificate: that of " + whose + words, advice});
}

void check_certificates(const CellFacts& facts, const CellFindings& found,
                        std::vector<CheckLine>& lines) {
  const std::size_t before = lines.size();
  if (facts.own) {
    check_one_certificate("this command", facts.own->until, facts.now,
                          "fleetctl enrol, with a new request", lines);
  }
  if (facts.authority) {
    check_one_certificate("the authority", facts.authority->until, facts.now,
                          "sign it again, as fleet(7) says", lines, authority_soon_s);
  }
  for (const auto* servers : {&facts.servers, &facts.controllers}) {
    for (const ServerFact& server : *servers) {
      if (server.certificate) {
        check_one_certificate("the server " + server.url, server.certificate->until, facts.now,
                              "in the cell's directory, move it and its key away; then fleetctl "
                              "cell init, and its machine's new archive",
                              lines);
      }
    }
  }
  for (const auto& [name, signer] : found.signers) {
    if (signer.certificate_ends != 0) {
      check_one_certificate("the signer " + name, signer.certificate_ends, facts.now,
                            "in the cell's directory, move root.pem and root.key away; then "
                            "fleetctl cell init, and its machine's new archive",
                            lines);
    }
  }
  for (const auto& [name, until] : found.expiries) {
    check_one_certificate(name, until, facts.now, "fleetctl enrol, with a new request", lines);
  }
  if (!found.late.empty()) {
    lines.push_back({false,
                     "certificates: overdue for renewal: " + counted(found.late.size(), "node") +
                         ", such as " + found.late.front(),
                     "on that machine: journalctl -u fleet-agent"});
  }
  if (found.waiting > 0) {
    lines.push_back({false,
                     "certificates: the next is awaited by " + counted(found.waiting, "node"),
                     found.signers.empty() ? "start fleet-signer"
                                           : "on its machine: journalctl -u fleet-signer"});
  }
  if (lines.size() == before)
    lines.push_back({true, "certificates: none that was looked at ends within 30 days", ""});
}

void check_snapshots(const CellFindings& found, UnixSeconds now, std::vector<CheckLine>& lines) {
  const std::string log = "on the machine of fleet-signer: journalctl -u fleet-signer";
  UnixSeconds last = 0;
  std::string trouble;
  bool takes = false;
  for (const auto& [name, signer] : found.signers) {
    takes = takes || signer.takes_snapshots;
    last = std::max(last, signer.snapshot);
    if (!signer.trouble.empty()) trouble = "; " + name + ": " + signer.trouble;
  }
  if (!takes) {
    lines.push_back({false, "snapshots: no fleet-signer takes any",
                     "add --snapshots=/var/lib/fleet-signer to /etc/default/fleet-signer"});
  } else if (last == 0) {
    lines.push_back({false, "snapshots: none has been taken" + trouble, log});
  } else {
    const UnixSeconds age = std::max<UnixSeconds>(now - last, 0);
    const std::string words = "snapshots: the last is " + counted(age / 60, "minute") + " old";
    const bool is_well = age <= snapshot_age_max_s;
    lines.push_back({is_well, words + (is_well ? "" : trouble), is_well ? "" : log});
  }
}

void check_signers(const CellFindings& found, UnixSeconds now, std::vector<CheckLine>& lines) {
  std::string names;
  for (const auto& [name, signer] : found.signers) {
    names += (names.empty() ? "" : ", ") + name;
  }
  if (names.empty()) {
    lines.push_back({false, "signers: none is at work; no machine joins, and no snapshot is taken",
                     "on its machine: systemctl enable --now fleet-signer; journalctl -u "
                     "fleet-signer"});
    return;
  }
  lines.push_back({true, "signers: " + names + " at work", ""});
  check_snapshots(found, now, lines);
}

void check_joins(const CellFindings& found, std::vector<CheckLine>& lines) {
  std::size_t named = 0;
  for (const auto& [fingerprint, request] : found.joins) {
    if (++named > named_max) {
      lines.push_back(
          {false,
           "joins: " + std::to_string(found.joins.size() - named_max) + " more wait for a person",
           "fleetctl approve"});
      return;
    }
    const bool exists = found.nodes.contains(request.node);
    lines.push_back({false,
                     "joins: " + request.node + " waits for a person" +
                         (exists ? "; the name exists with another key" : ""),
                     "if the machine shows this fingerprint: fleetctl approve " + request.node +
                         " " + fingerprint});
  }
  if (named == 0) lines.push_back({true, "joins: no machine waits for a person", ""});
}

void check_controllers(const CellFacts& facts, const CellFindings& found,
                       std::vector<CheckLine>& lines) {
  for (const ServerFact& one : facts.controllers) {
    if (one.trouble.empty()) continue;
    lines.push_back({false, "controller " + one.url + ": " + one.trouble,
                     "on that machine: systemctl status fleet-controller; fleetctl settings list "
                     "shows the addresses"});
  }
  for (const std::string& name : found.controllers.silent()) {
    lines.push_back({false, "controllers: " + name + " is silent",
                     "on its machine: systemctl restart fleet-controller; journalctl -u "
                     "fleet-controller; if it is gone for good: fleetctl forget " +
                         name + " --controller"});
  }
  const auto driving = found.controllers.driving();
  std::string names;
  for (const std::string& name : found.controllers.living()) {
    names += (names.empty() ? "" : ", ") + name +
             (driving.contains(name) ? " drives the cell" : " waits");
  }
  if (!driving.empty()) {
    lines.push_back({true, "controllers: " + names, ""});
  } else {
    lines.push_back({false, "controllers: none drives the cell",
                     "on their machines: systemctl enable --now fleet-controller; journalctl -u "
                     "fleet-controller"});
  }
}

// Adds a line if the store was restored from a snapshot and nobody has accepted the restored
// records yet: nodes do no work until then. Treats a damaged record `epoch` as not accepted, as
// nodes do.
void check_epoch(const KeyValue& record, std::vector<CheckLine>& lines) {
  const auto read = read_record<Epoch>(record.value);
  const Epoch epoch = read ? read.value() : Epoch{.why = read.reason()};
  if (epoch.accepted) return;
  lines.push_back({false,
                   "epoch: the store was restored, and no node acts" +
                       (epoch.why.empty() ? "" : ": " + epoch.why),
                   "when no rollout is under way any more: fleetctl accept-epoch"});
}

// Adds a line for each record that keeps nodes from moving to another version: the record `epoch`
// if nobody has accepted it, the record `stop`, and each desired version that is refused.
void check_orders(const Reading& records, std::vector<CheckLine>& lines) {
  for (const KeyValue& record : records.found) {
    const auto key = parse_key(record.key);
    if (key && key->kind == KeyKind::epoch) check_epoch(record, lines);
    if (key && key->kind == KeyKind::stop) {
      const auto read = read_record<Stop>(record.value);
      const Stop stop = read ? read.value() : Stop{};
      lines.push_back({false,
                       "stop: nothing may begin; " + stop.who + " ordered the stop at " +
                           stop.since + (stop.why.empty() ? "" : ": " + stop.why),
                       "fleetctl stop off"});
    }
    if (!key || key->kind != KeyKind::desired) continue;
    const auto wish = read_record<Desired>(record.value);
    if (!wish || wish.value().refused.empty()) continue;
    const std::string name = key->names.front() + " " + wish.value().version;
    lines.push_back({false, "desired: " + name + " moves no node: " + wish.value().refused,
                     "to try it again: fleetctl desire " + name});
  }
}

void check_nodes(const Reading& records, std::vector<CheckLine>& lines) {
  const auto nodes = nodes_in(records);
  const auto reporting = static_cast<std::size_t>(std::count_if(
      nodes.begin(), nodes.end(), [](const NodeView& node) { return node.reports(); }));
  const auto degraded = static_cast<std::size_t>(std::count_if(
      nodes.begin(), nodes.end(), [](const NodeView& node) { return !node.degraded().empty(); }));
  const std::string words =
      "nodes: " + std::to_string(reporting) + " of " + std::to_string(nodes.size()) + " report";
  if (nodes.empty()) {
    lines.push_back({false, "nodes: there is none yet",
                     "fleetctl token create; on the machine: fleet-agent join -"});
  } else if (reporting < nodes.size() || degraded > 0) {
    lines.push_back({false,
                     words + (degraded > 0 ? ", " + std::to_string(degraded) + " degraded" : ""),
                     "fleetctl nodes"});
  } else {
    lines.push_back({true, words, ""});
  }
}

}  // namespace

std::vector<CheckLine> judge_cell(const CellFacts& facts) {
  std::vector<CheckLine> lines;
  check_members(facts, lines);
  check_space(facts, lines);
  CellFindings found;
  if (facts.records) {
    found = findings_in(*facts.records, facts.now);
    check_clocks(facts, found, lines);
  }
  check_certificates(facts, found, lines);
  if (!facts.records) {
    lines.push_back({false, "records: " + facts.unread,
                     "fleetctl cell start DIR, if the store was never set up"});
    return lines;
  }
  check_controllers(facts, found, lines);
  check_signers(found, facts.now, lines);
  check_joins(found, lines);
  check_orders(*facts.records, lines);
  check_nodes(*facts.records, lines);
  return lines;
}

}  // namespace fleet

#include "fleet/cell/cell_check.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/moment.h"
#include "fleet/model/keys.h"
#include "fleet/model/node_view.h"
#include "fleet/model/record_text.h"

namespace fleet {
namespace {

constexpr UnixSeconds day_s = 86'400;
// A certificate that expires within this time is reported, so that a person has time to make
// another. `fleetctl status` uses the same time.
constexpr UnixSeconds soon_s = 30 * day_s;
// If this machine's clock is behind the newest event by more than this, that is reported.
constexpr UnixSeconds clock_tolerance_s = 60;

std::string count(std::size_t number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

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

// The facts that a check of the cell collects from the store's records.
struct Found {
  std::set<std::string> controllers = {};            // controllers that drive something now
  std::map<std::string, UnixSeconds> expiries = {};  // when certificates end, by owner
  std::size_t waiting = 0;                           // how many nodes wait for a new certificate
  UnixSeconds newest = 0;                            // the time of the newest event
};

void look_at(const KeyValue& record, Found& found) {
  const auto key = parse_key(record.key);
  if (!key) return;
  if (key->kind == KeyKind::node_csr) ++found.waiting;
  if (key->kind == KeyKind::driver) {
    const auto driver = read_record<DriverRecord>(record.value);
    if (driver) found.controllers.insert(driver.value().controller);
  }
  if (key->kind == KeyKind::event) {
    const auto event = read_record<FleetEvent>(record.value);
    const auto time = event ? upgraderctl::parse_moment(event.value().time) : std::nullopt;
    if (time) {
      found.newest = std::max<UnixSeconds>(
          found.newest,
          std::chrono::duration_cast<std::chrono::seconds>(time->time_since_epoch()).count());
    }
  }
  if (key->kind == KeyKind::identity && key->names[0] != node_kind) {
    const auto identity = read_record<Identity>(record.value);
    if (identity && identity.value().revoked.empty())
      found.expiries[certificate_name(key->names[0], key->names[1])] = expiry_of(identity.value());
  }
}

void check_time(const Found& found, UnixSeconds now, std::vector<CheckLine>& lines) {
  const UnixSeconds behind = found.newest - now;
  if (behind <= clock_tolerance_s) {
    lines.push_back({true, "clock: no event of the cell is later than this machine's clock", ""});
    return;
  }
  lines.push_back({false,
                   "clock: the newest event is " +
                       count(static_cast<std::size_t>(behind), "second") +
                       " later than this machine's clock",
                   "timedatectl, on this machine and on those of the controllers"});
}

void check_one_certificate(const std::string& whose, UnixSeconds until, UnixSeconds now,
                           const std::string& advice, std::vector<CheckLine>& lines) {
  if (until >= now + soon_s) return;
  const std::string words =
      until <= now ? " has ended"
                   : " ends in " + count(static_cast<std::size_t>((until - now) / day_s), "day");
  lines.push_back({false, "certificate: that of " + whose + words, advice});
}

void check_certificates(const CellFacts& facts, const Found& found, std::vector<CheckLine>& lines) {
  const std::size_t before = lines.size();
  if (facts.own) {
    check_one_certificate("this command", facts.own->until, facts.now,
                          "fleetctl enrol, with a new request", lines);
  }
  if (facts.authority) {
    check_one_certificate("the authority", facts.authority->until, facts.now,
                          "a new authority, as fleet(7) says", lines);
  }
  for (const auto& [name, until] : found.expiries) {
    check_one_certificate(name, until, facts.now, "fleetctl enrol, with a new request", lines);
  }
  if (found.waiting > 0) {
    lines.push_back({false, "certificates: " + count(found.waiting, "node") + " wait for the next",
                     "fleetctl renew --signer=ca.pem --signer-key=ca.key"});
  }
  if (lines.size() == before)
    lines.push_back({true, "certificates: none that was looked at ends within 30 days", ""});
}

void check_controllers(const Found& found, std::vector<CheckLine>& lines) {
  std::string names;
  for (const std::string& name : found.controllers) {
    names += (names.empty() ? "" : ", ") + name;
  }
  if (!names.empty()) {
    lines.push_back({true, "controllers: " + names + " drives the cell", ""});
  } else {
    lines.push_back({false, "controllers: none drives the cell",
                     "on their machines: systemctl enable --now fleet-controller; journalctl -u "
                     "fleet-controller"});
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
    lines.push_back(
        {false, "nodes: there is none yet", "fleetctl enrol NAME; see fleet(7), A node"});
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
  Found found;
  if (facts.records) {
    for (const KeyValue& record : facts.records->found) {
      look_at(record, found);
    }
    check_time(found, facts.now, lines);
  }
  check_certificates(facts, found, lines);
  if (!facts.records) {
    lines.push_back({false, "records: " + facts.unread,
                     "fleetctl cell start DIR, if the store was never set up"});
    return lines;
  }
  check_controllers(found, lines);
  check_nodes(*facts.records, lines);
  return lines;
}

}  // namespace fleet

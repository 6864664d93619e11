// This file collects the facts that the check of a cell needs from the store's records.
#include <algorithm>
#include <chrono>

#include "base/moment.h"
#include "fleet/cell/cell_check.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

// Returns whether a node's new certificate is overdue. A node requests it when a third of the old
// certificate's life is left. If half of this third is over, something must be wrong.
bool is_late(const Identity& identity, UnixSeconds now) {
  constexpr UnixSeconds parts = 6;  // half of a third is a sixth of the life
  if (!identity.revoked.empty() || identity.certificates.empty()) return false;
  const IssuedCertificate& last = identity.certificates.back();
  return now >= last.expires - (last.expires - last.issued) / parts;
}

void look_at_identity(const ParsedKey& key, const std::string& value, UnixSeconds now,
                      CellFindings& found) {
  const auto identity = read_record<Identity>(value);
  const bool is_node = key.names[0] == node_kind;
  if (is_node) found.nodes.insert(key.names[1]);
  if (!identity || !identity.value().revoked.empty()) return;
  if (!is_node) {
    found.expiries[certificate_name(key.names[0], key.names[1])] = expiry_of(identity.value());
  } else if (is_late(identity.value(), now)) {
    found.late.push_back(key.names[1]);
  }
}

void look_at_join(const ParsedKey& key, const std::string& value, CellFindings& found) {
  const auto request = read_record<JoinRequest>(value);
  if (request && request.value().waits && request.value().refused.empty())
    found.joins[key.names[0]] = request.value();
}

void look_at(const KeyValue& record, UnixSeconds now, CellFindings& found) {
  const auto key = parse_key(record.key);
  if (!key) return;
  if (key->kind == KeyKind::node_csr) ++found.waiting;
  if (ControllersAtWork::needs(key->kind)) found.controllers.take(record);
  if (key->kind == KeyKind::event) {
    const auto event = read_record<FleetEvent>(record.value);
    const auto time = event ? upgraderctl::parse_moment(event.value().time) : std::nullopt;
    if (time) {
      found.newest = std::max<UnixSeconds>(
          found.newest,
          std::chrono::duration_cast<std::chrono::seconds>(time->time_since_epoch()).count());
    }
  }
  if (key->kind == KeyKind::identity) look_at_identity(*key, record.value, now, found);
  if (key->kind == KeyKind::join) look_at_join(*key, record.value, found);
  if (key->kind == KeyKind::approval) found.approvals.insert(key->names[0]);
  if (key->kind == KeyKind::node_instance) found.reporting.insert(key->names[0]);
  if (key->kind == KeyKind::signer) {
    const auto signer = read_record<SignerAtWork>(record.value);
    if (signer) found.signers[key->names[0]] = signer.value();
  }
}

}  // namespace

CellFindings findings_in(const Reading& records, UnixSeconds now) {
  CellFindings found;
  for (const KeyValue& record : records.found)
    look_at(record, now, found);
  // Drop the requests that a person has approved: they wait only for fleet-signer.
  std::erase_if(found.joins, [&](const auto& one) { return found.approvals.contains(one.first); });
  // Drop nodes that do not report: they may be gone for good, and then need no new certificate.
  std::erase_if(found.late, [&](const auto& node) { return !found.reporting.contains(node); });
  return found;
}

}  // namespace fleet

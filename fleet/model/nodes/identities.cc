#include "fleet/model/nodes/identities.h"

#include <algorithm>
#include <array>

#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

std::optional<std::string> node_that_asks(const std::string& text) {
  const auto key = parse_key(text);
  if (!key || key->kind != KeyKind::node_csr) return std::nullopt;
  return key->names.front();
}

// Returns the node's current certificate. An older version of fleet-agent does not send its
// certificate with the request. In this case, returns the certificate in the record
// node/ID/certificate, which is the answer to the node's last request, or an empty string if there
// is none.
std::string certificate_of(const CertificateRequest& request, const std::string& node,
                           const RecordsByKey& records) {
  if (!request.certificate.empty()) return request.certificate;
  const auto last = records.find(key_of(KeyKind::node_certificate, {node}));
  if (last == records.end()) return "";
  const auto read = read_record<NodeCertificate>(last->second.value);
  return read ? read.value().pem : "";
}

PendingRenewal renewal_of(const std::string& node, const KeyValue& found,
                          const RecordsByKey& records) {
  PendingRenewal one{.node = node, .revision = found.modified};
  const auto request = read_record<CertificateRequest>(found.value);
  if (request) {
    one.pem = request.value().pem;
    one.certificate = certificate_of(request.value(), node, records);
  }
  const auto identity = records.find(key_of(KeyKind::identity, {node_kind, node}));
  if (identity == records.end()) return one;
  one.identity_revision = identity->second.modified;
  const auto read = read_record<Identity>(identity->second.value);
  if (read) one.identity = read.value();
  return one;
}

}  // namespace

bool is_role(std::string_view kind) {
  constexpr auto roles =
      std::to_array<std::string_view>({"viewer", "operator", "publisher", "controller", "admin"});
  return std::find(roles.begin(), roles.end(), kind) != roles.end();
}

std::string node_identities() {
  return prefix_of(KeyKind::identity) + std::string(node_kind) + "/";
}

std::optional<std::string> node_identified_by(const ParsedKey& key) {
  if (key.kind != KeyKind::identity || key.names[0] != node_kind) return std::nullopt;
  return key.names[1];
}

std::map<std::string, std::string> labels_given(const KeyValue& identity) {
  const auto read = read_record<Identity>(identity.value);
  if (!read) return {};
  return read.value().labels;
}

std::string certificate_name(std::string_view kind, std::string_view who) {
  return std::string(kind) + ":" + std::string(who);
}

bool is_renewal_due(const Validity& validity, UnixSeconds now) {
  return now >= validity.until - (validity.until - validity.from) / 3;
}

Identity with_certificate(Identity identity, const IssuedCertificate& certificate,
                          UnixSeconds now) {
  for (IssuedCertificate& one : identity.certificates)
    one.revoked = one.revoked || !identity.revoked.empty();
  const IssuedCertificate newest =
      identity.certificates.empty() ? IssuedCertificate{} : identity.certificates.back();
  std::erase_if(identity.certificates, [&](const IssuedCertificate& one) {
    return one.expires <= now && (one.revoked || one != newest);
  });
  identity.certificates.push_back(certificate);
  identity.revoked.clear();
  identity.shut_out.clear();
  return identity;
}

std::string why_no_more_certificates(const Identity& identity, const std::string& name,
                                     UnixSeconds now, std::size_t most) {
  const auto& all = identity.certificates;
  const auto is_valid = [now](const IssuedCertificate& one) { return one.expires > now; };
  const auto count = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_valid));
  if (count < most) return "";
  return name + " has " + std::to_string(count) +
         " certificates that have not expired, and gets no other until one has";
}

Identity revoked(Identity identity, const std::string& time) {
  for (IssuedCertificate& one : identity.certificates)
    one.revoked = true;
  if (identity.revoked.empty()) identity.revoked = time;
  return identity;
}

bool may_have_streams(const Identity& identity) {
  return !identity.revoked.empty() && identity.shut_out.empty();
}

UnixSeconds expiry_of(const Identity& identity) {
  UnixSeconds last = 0;
  for (const IssuedCertificate& one : identity.certificates) {
    last = std::max(last, one.expires);
  }
  return last;
}

// ---- renewal

std::vector<PendingRenewal> pending_renewals(const RecordsByKey& records) {
  std::vector<PendingRenewal> pending;
  const std::string below = prefix_of(KeyKind::node_csr);
  for (auto at = records.lower_bound(below); at != records.end() && at->first.starts_with(below);
       ++at) {
    const auto node = node_that_asks(at->first);
    if (node) pending.push_back(renewal_of(*node, at->second, records));
  }
  return pending;
}

void RenewalRequests::take(const std::string& key) {
  if (auto node = node_that_asks(key)) nodes_.insert(std::move(*node));
}

void RenewalRequests::take_absent(const std::string& key) {
  if (const auto node = node_that_asks(key)) nodes_.erase(*node);
}

std::optional<PendingRenewal> RenewalRequests::first(
    const RecordsByKey& records, const std::set<std::string, std::less<>>& put_off) const {
  for (const std::string& node : nodes_) {
    const auto found = records.find(key_of(KeyKind::node_csr, {node}));
    if (found != records.end() && !put_off.contains(found->first))
      return renewal_of(node, found->second, records);
  }
  return std::nullopt;
}

// A node gets a new certificate only after half of the lifetime of its newest one. Otherwise the
// node could fill its identity record, which lists all valid certificates. A certificate that is
// not valid yet is ignored, since the node cannot use it. (Certificates are valid from one day
// before their signing, so it was signed while the signer's clock was fast.)
std::string why_not_renewed(const PendingRenewal& pending, UnixSeconds now) {
  if (pending.pem.empty()) return "the request is damaged";
  if (!pending.identity) return pending.node + " is not enrolled";
  if (!pending.identity->revoked.empty()) return pending.node + " is revoked";
  for (const IssuedCertificate& one : pending.identity->certificates) {
    const bool is_valid = one.issued - day_seconds <= now;
    if (is_valid && now < one.issued + (one.expires - one.issued) / 2) {
      return "the certificate " + one.serial + " is good for more than half its life still";
    }
  }
  return "";
}

std::string why_not_held(const PendingRenewal& pending, const std::string& serial) {
  const std::string which = "the certificate " + serial;
  if (!pending.identity) return pending.node + " is not enrolled";
  for (const IssuedCertificate& one : pending.identity->certificates) {
    if (one.serial == serial) return one.revoked ? which + " is revoked" : "";
  }
  return which + " is not one that was given to " + pending.node;
}

Transaction answer_renewal(const PendingRenewal& pending, const RenewalAnswer& answer,
                           UnixSeconds now) {
  const std::string request = key_of(KeyKind::node_csr, {pending.node});
  const std::string identity = key_of(KeyKind::identity, {node_kind, pending.node});
  Transaction transaction{
      .compares = {{.key = request, .revision = pending.revision},
                   {.key = identity, .revision = pending.identity_revision}},
      .puts = {{key_of(KeyKind::node_certificate, {pending.node}),
                write_record(NodeCertificate{.pem = answer.pem, .error = answer.error})}},
      .erases = {{request}}};
  if (answer.error.empty() && pending.identity) {
    transaction.puts.push_back(
        {identity, write_record(with_certificate(*pending.identity, answer.issued, now))});
  }
  return transaction;
}

}  // namespace fleet

// The nodes and people that may come in, by the names in their certificates: `node:n1`,
// `operator:anna`. A certificate is renewed when two thirds of its life are over: its node writes a
// request into the store. It is renewed for the same name only, and for nobody who was revoked.
// Pure: other files read and sign certificates.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/cell_records.h"
#include "fleet/model/keys.h"
#include "fleet/model/time_zone.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The kind of a node's identity. The other kinds are the roles of people.
inline constexpr std::string_view node_kind = "node";
[[nodiscard]] bool is_role(std::string_view kind);

// Returns the beginning of the keys of all nodes' identities.
[[nodiscard]] std::string node_identities();
// Returns the node's name if this is the key of a node's identity.
[[nodiscard]] std::optional<std::string> node_identified_by(const ParsedKey& key);
// Returns the labels in a node's identity; none if the record is damaged.
[[nodiscard]] std::map<std::string, std::string> labels_given(const KeyValue& identity);

// Returns KIND:WHO.
[[nodiscard]] std::string certificate_name(std::string_view kind, std::string_view who);

// The time from which and until which a certificate is valid.
struct Validity {
  UnixSeconds from = 0;
  UnixSeconds until = 0;
};

// Returns whether two thirds of the certificate's life are over.
[[nodiscard]] bool is_renewal_due(const Validity& validity, UnixSeconds now);

// Returns the identity with one certificate more, and without those that have expired. An identity
// that was revoked is let in again, by this certificate alone: somebody else may have the earlier
// certificates.
[[nodiscard]] Identity with_certificate(Identity identity, const IssuedCertificate& certificate,
                                        UnixSeconds now);
// Returns the identity as revoked at that time, with all its certificates. An identity that was
// revoked before keeps its time.
[[nodiscard]] Identity revoked(Identity identity, const std::string& time);
// Returns when the last of the certificates expires, or 0 if there is none.
[[nodiscard]] UnixSeconds expiry_of(const Identity& identity);

// ---- renewal

// A request for a new certificate, as it stands in the store.
struct PendingRenewal {
  std::string node = {};
  std::string pem = {};          // empty if the request cannot be read
  std::string certificate = {};  // the certificate that the node has now; empty if it is not known
  Revision revision = 0;
  std::optional<Identity> identity = {};
  Revision identity_revision = 0;
};

using RecordsByKey = std::map<std::string, KeyValue, std::less<>>;
// Returns all requests. Looks at every key of every node, so this is only for a person's question.
[[nodiscard]] std::vector<PendingRenewal> pending_renewals(const RecordsByKey& records);

// The nodes whose requests stand in the store, kept up to date key by key: a controller looks at
// each change, and must not look at all nodes for it.
class RenewalRequests {
 public:
  void take(const std::string& key);
  void take_absent(const std::string& key);
  // Returns one of the requests, or nothing if there is none.
  [[nodiscard]] std::optional<PendingRenewal> first(const RecordsByKey& records) const;

 private:
  std::set<std::string> nodes_;
};

// Returns why the node gets no new certificate, whatever its request holds: it was never enrolled,
// was revoked, or has a certificate that is valid for long. Returns an empty text if it may get
// one.
[[nodiscard]] std::string why_not_renewed(const PendingRenewal& pending, UnixSeconds now);

// Returns why a request that was made with the key of the certificate `serial` is not the node's
// own. Other people may write the record of a request, among them operators, but they do not have
// the node's key. Returns an empty text if the request is the node's own.
[[nodiscard]] std::string why_not_held(const PendingRenewal& pending, const std::string& serial);

// The answer to a request: the new certificate, or the reason why there is none.
struct RenewalAnswer {
  std::string pem = {};
  IssuedCertificate issued = {};
  std::string error = {};
};
[[nodiscard]] Transaction answer_renewal(const PendingRenewal& pending, const RenewalAnswer& answer,
                                         UnixSeconds now);

}  // namespace fleet

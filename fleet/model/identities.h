// Those who may come in, by the names of their certificates: `node:n1`, `operator:anna`. A
// certificate is renewed when two thirds of its life are over, by a request that its node writes
// into the store, for the same name and for nobody who was revoked. Pure: what a certificate says
// is read, and signed, elsewhere.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/cell_records.h"
#include "fleet/model/time_zone.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The kinds of people, beside `node`.
inline constexpr std::string_view node_kind = "node";
[[nodiscard]] bool is_role(std::string_view kind);

// KIND:WHO, and the key of its record.
[[nodiscard]] std::string certificate_name(std::string_view kind, std::string_view who);

// From when until when a certificate is good.
struct Validity {
  UnixSeconds from = 0;
  UnixSeconds until = 0;
};

// Two thirds of its life are over.
[[nodiscard]] bool is_renewal_due(const Validity& validity, UnixSeconds now);

// With one certificate more, and without those that have expired. Lets him in again who was
// revoked, by this certificate alone: those before may be in the hands of somebody else.
[[nodiscard]] Identity with_certificate(Identity identity, const IssuedCertificate& certificate,
                                        UnixSeconds now);
// Revoked at that time, with all certificates; one that was revoked before keeps its time.
[[nodiscard]] Identity revoked(Identity identity, const std::string& time);
// When the last of his certificates ends; 0: he has none.
[[nodiscard]] UnixSeconds expiry_of(const Identity& identity);

// ---- renewal

// A request that stands in the store.
struct PendingRenewal {
  std::string node = {};
  std::string pem = {};          // empty: it cannot be read
  std::string certificate = {};  // that the node has now; empty: nobody says
  Revision revision = 0;
  std::optional<Identity> identity = {};
  Revision identity_revision = 0;
};

using RecordsByKey = std::map<std::string, KeyValue, std::less<>>;
// All that there are. Looks at every key of every node: for a person's question.
[[nodiscard]] std::vector<PendingRenewal> pending_renewals(const RecordsByKey& records);

// The nodes whose requests stand in the store, kept up to date key by key: a controller looks at
// each change, and must not look at all nodes for it.
class RenewalRequests {
 public:
  void take(const std::string& key);
  void take_absent(const std::string& key);
  // One of the requests; none: there is none.
  [[nodiscard]] std::optional<PendingRenewal> first(const RecordsByKey& records) const;

 private:
  std::set<std::string> nodes_;
};

// Why the node gets none, whatever its request holds: it was never enrolled, was revoked, or has
// one that is good for long. An empty text if it may.
[[nodiscard]] std::string why_not_renewed(const PendingRenewal& pending, UnixSeconds now);

// Why a request that was made with the key of this certificate is not the node's own. Others may
// write the record of the request, those who order what nodes do among them, but have no such key.
// An empty text if it is.
[[nodiscard]] std::string why_not_held(const PendingRenewal& pending, const std::string& serial);

// The answer to the request: the certificate that was made, or the reason why there is none.
struct RenewalAnswer {
  std::string pem = {};
  IssuedCertificate issued = {};
  std::string error = {};
};
[[nodiscard]] Transaction answer_renewal(const PendingRenewal& pending, const RenewalAnswer& answer,
                                         UnixSeconds now);

}  // namespace fleet

// This file handles identities. An identity is a node or person that may use the cell. The
// certificates of an identity have its name, such as `node:n1` or `operator:anna`. When two thirds
// of the lifetime of a node's certificate are over, the node writes a request for a new
// certificate, with the same name, into the store. A revoked node gets no new certificate. This
// file does no input or output; other files read and sign certificates.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/time.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// The kind of a node's identity. For a person, the kind is the person's role.
inline constexpr std::string_view node_kind = "node";
[[nodiscard]] bool is_role(std::string_view kind);

// Returns the prefix of the keys of all nodes' identities.
[[nodiscard]] std::string node_identities();
// Returns the node's name if `key` is the key of a node's identity, or no value otherwise.
[[nodiscard]] std::optional<std::string> node_identified_by(const ParsedKey& key);
// Returns the labels in a node's identity, or an empty map if the record is damaged.
[[nodiscard]] std::map<std::string, std::string> labels_given(const KeyValue& identity);

// Returns the name for a certificate of this owner: `KIND:WHO`.
[[nodiscard]] std::string certificate_name(std::string_view kind, std::string_view who);

// The beginning and the end of the time in which a certificate is valid, in seconds since 1970.
struct Validity {
  UnixSeconds from = 0;
  UnixSeconds until = 0;
};

// Returns whether two thirds of the certificate's lifetime are over, so that the certificate must
// be renewed.
[[nodiscard]] bool is_renewal_due(const Validity& validity, UnixSeconds now);

// Returns the identity with `certificate` added, and without expired certificates. The newest of
// the earlier certificates stays even if it seems to have expired, unless it is revoked: this
// machine's clock may be fast, and the node may still use it. If the identity was revoked, it
// becomes valid again, but all its earlier certificates are marked as revoked, since somebody else
// may have them.
[[nodiscard]] Identity with_certificate(Identity identity, const IssuedCertificate& certificate,
                                        UnixSeconds now);
// Returns an empty string if the identity has fewer than `most` certificates that have not expired.
// Otherwise returns a text for people that says why it gets no further certificate. `name` is the
// name of the node or person in this text.
[[nodiscard]] std::string why_no_more_certificates(const Identity& identity,
                                                   const std::string& name, UnixSeconds now,
                                                   std::size_t most);
// Returns the identity, marked as revoked at `time`, with all its certificates revoked. If the
// identity was already revoked, the earlier time stays.
[[nodiscard]] Identity revoked(Identity identity, const std::string& time);
// Returns whether the identity is revoked, and may still have an open connection to the store. Such
// connections are closed only when all members of the store have been restarted.
[[nodiscard]] bool may_have_streams(const Identity& identity);
// Returns the time at which the last of the identity's certificates expires, or 0 if it has none.
[[nodiscard]] UnixSeconds expiry_of(const Identity& identity);

// ---- renewal

// The request of a node for a new certificate, with the records that the answer depends on.
struct PendingRenewal {
  std::string node = {};
  std::string pem = {};          // the request, in PEM; empty if it cannot be read
  std::string certificate = {};  // the node's current certificate; empty if unknown
  Revision revision = 0;
  std::optional<Identity> identity = {};
  Revision identity_revision = 0;
};

using RecordsByKey = std::map<std::string, KeyValue, std::less<>>;
// Returns all requests of nodes for a new certificate. Examines every key of every node, so it is
// called only if a person asks for the list.
[[nodiscard]] std::vector<PendingRenewal> pending_renewals(const RecordsByKey& records);

// The list of the nodes that have a request for a new certificate in the store. The list is updated
// whenever a key of the store changes, so that fleet-signer need not look at all nodes after each
// change.
class RenewalRequests {
 public:
  void take(const std::string& key);
  void take_absent(const std::string& key);
  // Returns one of the requests for a certificate, or no value if there is none. Leaves out the
  // requests whose keys are in `put_off`.
  [[nodiscard]] std::optional<PendingRenewal> first(
      const RecordsByKey& records, const std::set<std::string, std::less<>>& put_off = {}) const;

 private:
  std::set<std::string> nodes_;
};

// Returns why the node gets no new certificate, or an empty string if it may get one. A node gets
// no certificate if it was never enrolled, if it was revoked, or if less than half of the lifetime
// of its newest certificate is over. This function does not examine the contents of the request.
[[nodiscard]] std::string why_not_renewed(const PendingRenewal& pending, UnixSeconds now);

// Returns why it is not certain that the node itself has made the request, or an empty string if
// this is certain. `serial` is the number of the certificate whose key has signed the request. This
// must be one of the node's certificates, and must not be revoked. A request in the store proves
// nothing by itself: operators may write such a record, too, but they do not have the node's key.
[[nodiscard]] std::string why_not_held(const PendingRenewal& pending, const std::string& serial);

// The answer to a node's request: the new certificate, or the reason why there is none.
struct RenewalAnswer {
  std::string pem = {};
  IssuedCertificate issued = {};
  std::string error = {};
};
[[nodiscard]] Transaction answer_renewal(const PendingRenewal& pending, const RenewalAnswer& answer,
                                         UnixSeconds now);

}  // namespace fleet

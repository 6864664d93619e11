// Makes and reads certificates and certificate requests, as texts in PEM. The store identifies a
// client by the name in its certificate, so a client must not choose that name: the signer decides
// it, and uses only the public key of a request. Private keys never leave their machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model/nodes/identities.h"
#include "fleet/model/records/cell_records.h"

namespace fleet {

// An authority: its certificate and its key, in PEM.
struct Signer {
  std::string certificate = {};
  std::string key = {};
};

struct Signing {
  std::string request = {};
  Signer signer = {};
  std::string name = {};     // the name that the certificate gets, such as `node:n1`
  bool only_renews = false;  // if true, a request for another name is refused
  int days = 0;
  // IP addresses of the owner's servers. Empty if the owner is only a client.
  std::vector<std::string> addresses = {};
  // If true, the certificate is for an authority and signed with its own key, `signer.key`;
  // `signer.certificate` is empty.
  bool is_authority = false;
};

struct Signed {
  std::string certificate = {};  // the signed certificate in PEM; empty if signing has failed
  IssuedCertificate issued = {};
  std::string error = {};
};

// Returns why this authority cannot sign certificates, or an empty string if it can.
[[nodiscard]] std::string why_cannot_sign(const Signer& signer);

// Signs a request. The validity begins a day ago, so that a machine whose clock is slow accepts the
// certificate.
[[nodiscard]] Signed sign(const Signing& signing);

// Returns a certificate request for the name, signed with this key. Returns an empty string if the
// key cannot be read.
[[nodiscard]] std::string request_for(const std::string& name, const std::string& key);

// Returns the name in a certificate, such as `node:n1`, or no value if the text is not a
// certificate.
[[nodiscard]] std::optional<std::string> name_in(const std::string& certificate);

// Returns the beginning and the end of the certificate's validity, or no value if the text is not a
// certificate.
[[nodiscard]] std::optional<Validity> validity_of(const std::string& certificate);

// Returns whether this authority has signed the certificate, even if the certificate has expired.
// If `authority` contains several certificates, only the first one is used.
[[nodiscard]] bool is_signed_by(const std::string& certificate, const std::string& authority);

// Returns the serial number and the validity of the certificate, or no value if the text is not a
// certificate.
[[nodiscard]] std::optional<IssuedCertificate> issued_of(const std::string& certificate);

// Returns why the certificate cannot be used with this private key under this name, or an empty
// string if it can.
[[nodiscard]] std::string why_not_usable(const std::string& certificate, const std::string& name,
                                         const std::string& key);

struct RevocationList {
  std::string list = {};   // the list in PEM; empty if there was an error
  std::string error = {};  // why the list could not be made
};
// Adds the serial numbers `serials` to the list `before`, which may be empty, and signs the result.
// It is valid for `days` days.
[[nodiscard]] RevocationList with_revoked(const std::string& before,
                                          const std::vector<std::string>& serials,
                                          const Signer& signer, int days);

// Returns the answer to a node's request for a new certificate: the certificate, or an error.
[[nodiscard]] RenewalAnswer answer_of(const PendingRenewal& pending, const Signer& signer, int days,
                                      UnixSeconds now);

}  // namespace fleet

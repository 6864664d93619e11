// Makes keys and authorities for a new cell, and checks existing certificates. Keys and
// certificates are texts in PEM; see certificate.h.
#pragma once

#include <string>
#include <vector>

#include "fleet/common/certificate.h"

namespace fleet {

// Returns a new private key on the curve P-256, or an empty text if OpenSSL cannot make one.
[[nodiscard]] std::string new_private_key();

// Makes a certificate for the private key `key`, and signs it. Since the caller has the private
// key, no certificate request is needed.
[[nodiscard]] Signed sign_for_key(Signing signing, const std::string& key);

// The conditions that a certificate must meet for its use, such as its name and its authority.
struct CertificateNeed {
  std::string name = {};
  // The certificate, in PEM, of the authority that must have signed the checked certificate.
  std::string authority = {};
  // If true, the checked certificate must belong to an authority, and be signed by itself.
  bool is_authority = false;
  std::vector<std::string> addresses = {};  // the addresses for which the certificate must be valid
};
// Returns why the certificate does not meet the conditions at this time, or an empty text if it
// does. Checks that the text is a certificate with the right name, key, authority, role and
// addresses, and that it is valid now. If `key` is empty, since the key is kept elsewhere, the key
// is not checked.
[[nodiscard]] std::string why_unfit(const std::string& certificate, const std::string& key,
                                    const CertificateNeed& need, UnixSeconds now);

// Returns whether the text is an IPv4 or IPv6 address in digits.
[[nodiscard]] bool is_ip_address(const std::string& text);
// Returns whether the text is an IP address or a host name that may stand in a certificate or a
// URL.
[[nodiscard]] bool is_address(const std::string& text);
// Returns the addresses in OpenSSL's notation for the subject alternative names of a certificate.
[[nodiscard]] std::string subject_addresses(const std::vector<std::string>& addresses);

}  // namespace fleet

// Makes keys and authorities for a new cell, and checks existing certificates. Keys and
// certificates are texts in PEM; see certificate.h.
#pragma once

#include <string>
#include <vector>

#include "fleet/common/certificate.h"

namespace fleet {

// Returns a new private key on the curve P-256, or an empty text if OpenSSL cannot make one.
[[nodiscard]] std::string new_private_key();

// Signs a certificate for the private key `key`. Since the caller has the key, no certificate
// request is needed.
[[nodiscard]] Signed sign_for_key(Signing signing, const std::string& key);

// The conditions that a certificate must meet for its use, such as its name and its authority.
struct CertificateNeed {
  std::string name = {};
  // The authority that must have signed the certificate, in PEM.
  std::string authority = {};
  // The certificate must be an authority's own, signed by itself.
  bool is_authority = false;
  std::vector<std::string> addresses = {};  // the addresses for which the certificate must be valid
};
// Returns why the certificate does not meet the need at this time, or an empty text if it does.
// Checks that it is a certificate, has the right name, key, authority, role and addresses, and is
// valid now. If the key is kept elsewhere, `key` is empty, and the key is not checked.
[[nodiscard]] std::string why_unfit(const std::string& certificate, const std::string& key,
                                    const CertificateNeed& need, UnixSeconds now);

// Returns whether the text is an IPv4 or IPv6 address in digits.
[[nodiscard]] bool is_ip_address(const std::string& text);
// Returns whether the text is an IP address or a host name, as certificates and URLs have it.
[[nodiscard]] bool is_address(const std::string& text);
// Returns the addresses in the form in which OpenSSL wants a certificate's subject alternative
// names.
[[nodiscard]] std::string subject_addresses(const std::vector<std::string>& addresses);

}  // namespace fleet

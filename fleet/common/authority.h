// Makes keys and authorities for a new cell, and checks existing certificates. All are texts in
// PEM; see certificate.h.
#pragma once

#include <string>
#include <vector>

#include "fleet/common/certificate.h"

namespace fleet {

// Returns a new private key on the curve P-256, or an empty text if OpenSSL cannot make one.
[[nodiscard]] std::string new_private_key();

// Signs a certificate for this key. The request for it is made and thrown away.
[[nodiscard]] Signed sign_for_key(Signing signing, const std::string& key);

// The conditions that a certificate must meet, to be used for its purpose.
struct CertificateNeed {
  std::string name = {};
  std::string authority = {};               // the certificate of the authority that has signed it
  bool is_authority = false;                // it must be an authority's, signed by itself
  std::vector<std::string> addresses = {};  // the addresses at which its owner serves
};
// Returns why the certificate does not meet the need at this time: it is not a certificate, has
// another name, key, authority, role or address, begins later or has ended. Returns an empty text
// if it meets the need. `key` is empty if the key is kept elsewhere.
[[nodiscard]] std::string why_unfit(const std::string& certificate, const std::string& key,
                                    const CertificateNeed& need, UnixSeconds now);

// Returns whether the text is an IPv4 or IPv6 address in digits.
[[nodiscard]] bool is_ip_address(const std::string& text);
// Returns whether the text is an IP address or a host name, which may be in a certificate and in a
// URL.
[[nodiscard]] bool is_address(const std::string& text);
// Returns the addresses as a subject's alternative names, in OpenSSL's notation.
[[nodiscard]] std::string subject_addresses(const std::vector<std::string>& addresses);

}  // namespace fleet

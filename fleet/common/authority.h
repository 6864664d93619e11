// A new cell needs keys and authorities beside the signing of requests, and certificates that are
// there already are judged. All are texts in PEM; see certificate.h.
#pragma once

#include <string>
#include <vector>

#include "fleet/common/certificate.h"

namespace fleet {

// A new private key on the curve P-256. Returns an empty text if OpenSSL cannot make one.
[[nodiscard]] std::string new_private_key();

// Signs a certificate for this key, by a request that is made and thrown away.
[[nodiscard]] Signed sign_for_key(Signing signing, const std::string& key);

// The conditions that a certificate must meet, to be used for its purpose.
struct CertificateNeed {
  std::string name = {};
  std::string authority = {};               // whose certificate has signed it
  bool is_authority = false;                // it has signed itself
  std::vector<std::string> addresses = {};  // at which its owner serves
};
// Returns why the certificate does not meet the need at this time: it is not a certificate, has
// another name, key, authority, role or address, begins later or has ended. Returns an empty text
// if it meets the need. `key` is empty if the key is kept elsewhere.
[[nodiscard]] std::string why_unfit(const std::string& certificate, const std::string& key,
                                    const CertificateNeed& need, UnixSeconds now);

// An IPv4 or IPv6 address in digits.
[[nodiscard]] bool is_ip_address(const std::string& text);
// An IP address or a host name: a text that may stand in a certificate and in a URL.
[[nodiscard]] bool is_address(const std::string& text);
// The addresses as a subject's alternative names, in OpenSSL's notation.
[[nodiscard]] std::string subject_addresses(const std::vector<std::string>& addresses);

}  // namespace fleet

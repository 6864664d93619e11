// Makes the keys and certificates of a new cell, and checks existing certificates. Keys and
// certificates are texts in PEM; see certificate.h.
#pragma once

#include <string>
#include <vector>

#include "fleet/common/certificate.h"
#include "fleet/store/http2.h"

namespace fleet {

// Returns a new private key on the curve P-256, or an empty string if OpenSSL cannot make one.
[[nodiscard]] std::string new_private_key();

// Makes and signs a certificate for the private key `key`. `signing.request` is ignored.
[[nodiscard]] Signed sign_for_key(Signing signing, const std::string& key);

// The conditions that a certificate must meet.
struct CertificateNeed {
  std::string name = {};
  // The certificate, in PEM, of the authority that must have signed the checked certificate.
  std::string authority = {};
  // If true, the checked certificate must be an authority's, and signed with its own key.
  bool is_authority = false;
  std::vector<std::string> addresses = {};  // the IP addresses that the certificate must have
};
// Returns why the certificate does not meet the conditions `need`, or an empty string. Checks its
// name, role, authority and addresses and, unless `key` is empty, its private key, but not its
// validity.
[[nodiscard]] std::string why_mismatched(const std::string& certificate, const std::string& key,
                                         const CertificateNeed& need);
// Returns why the certificate is not valid at the time `now` of this machine's clock, or an empty
// string.
[[nodiscard]] std::string why_wrong_time(const std::string& certificate, UnixSeconds now);
// Returns the first reason of why_mismatched() and why_wrong_time(), or an empty string.
[[nodiscard]] std::string why_unfit(const std::string& certificate, const std::string& key,
                                    const CertificateNeed& need, UnixSeconds now);

// Returns why the store would not trust the authority in the file `signer`, or an empty string. The
// store trusts the authority of this program's own certificate, and most likely every authority in
// the file of --ca. These files show no more about the store.
[[nodiscard]] std::string why_other_authority(const Certificates& files, const std::string& signer);

// Returns whether the text is an IPv4 or IPv6 address in digits.
[[nodiscard]] bool is_ip_address(const std::string& text);

}  // namespace fleet

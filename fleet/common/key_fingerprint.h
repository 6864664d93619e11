// Computes digests of public keys, and makes random secrets. A machine that joins a cell recognises
// the cell's authority by the digest of the authority's public key. People recognise the machine by
// the fingerprint of the machine's own key. Certificates and keys are texts in PEM; see
// certificate.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fleet {

// Returns the SHA-256 of the text, in hexadecimal.
[[nodiscard]] std::string digest_of(std::string_view text);

// Returns the SHA-256 of the certificate's public key, in hexadecimal, or an empty text if the text
// is not a certificate. The key is hashed as DER in the form SubjectPublicKeyInfo, as for a TLS
// pin.
[[nodiscard]] std::string key_digest_of_certificate(const std::string& certificate);

// The public key of a request for a certificate.
struct RequestedKey {
  // The first digits of the key's digest; empty if the key is refused.
  std::string fingerprint = {};
  std::string error = {};
};
// Reads the public key in a request. Refuses a weak key, and a request that is not signed with its
// own key.
[[nodiscard]] RequestedKey key_of_request(const std::string& request);

// Returns the fingerprint of a private key, or an empty text if the text is not a private key.
[[nodiscard]] std::string fingerprint_of_key(const std::string& key);
// Returns the fingerprint of a certificate's key, or an empty text if the text is not a
// certificate.
[[nodiscard]] std::string fingerprint_of_certificate(const std::string& certificate);

// Returns `bytes` random bytes, in hexadecimal. Returns an empty text if the system has no random
// bytes.
[[nodiscard]] std::string random_hexadecimal(std::size_t bytes);

}  // namespace fleet

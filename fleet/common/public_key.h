// Decides which public keys certificates may contain: strong ones that etcd, curl and GnuTLS all
// support. Also makes random secrets, and digests of keys. By these digests, a new machine
// recognizes the cell's authority, and people recognize the machine. Certificates and keys are
// texts in PEM.
#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace fleet {

inline constexpr int rsa_bits_min = 2'048;

// Returns why the key is refused, or an empty string. RSA keys of at least 2048 bits and the curves
// P-256, P-384, P-521, Ed25519 and Ed448 are accepted.
[[nodiscard]] std::string why_weak_key(const EVP_PKEY* key);

// Returns the SHA-256 of the text, in hexadecimal.
[[nodiscard]] std::string digest_of(std::string_view text);

// Returns the SHA-256 of the certificate's public key (the SubjectPublicKeyInfo in DER, as for a
// TLS pin), in hexadecimal. Returns an empty string if the text is not a certificate.
[[nodiscard]] std::string key_digest_of_certificate(const std::string& certificate);

struct RequestedKey {
  // The first digits of the key's SHA-256; empty if the key is refused.
  std::string fingerprint = {};
  std::string error = {};  // why the key is refused
};
// Returns the fingerprint of the public key in a certificate request. Refuses a weak key, and a
// request that was not signed with the matching private key.
[[nodiscard]] RequestedKey key_of_request(const std::string& request);

// Returns the fingerprint of a private key, or an empty string if the text is not a private key.
[[nodiscard]] std::string fingerprint_of_key(const std::string& key);
// Returns the fingerprint of a certificate's key, or an empty string if the text is not a
// certificate.
[[nodiscard]] std::string fingerprint_of_certificate(const std::string& certificate);

// Returns `bytes` random bytes, in hexadecimal. Returns an empty string if the system has no random
// bytes.
[[nodiscard]] std::string random_hexadecimal(std::size_t bytes);

}  // namespace fleet

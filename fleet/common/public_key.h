// Decides which public keys may be in certificates: only strong keys that etcd, curl and GnuTLS all
// support. This file also makes the digests by which machines and people recognize a key: a machine
// that joins a cell recognizes the cell's authority by the digest of the authority's key, and
// people recognize the machine by the fingerprint of the machine's key. Certificates and keys are
// texts in PEM; see certificate.h. Random secrets are made here, too.
#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace fleet {

inline constexpr int rsa_bits_min = 2'048;

// Returns why the key is refused, or an empty string if the key is accepted. Accepted are RSA keys
// of at least 2048 bits, and keys on the curves P-256, P-384, P-521, Ed25519 and Ed448.
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

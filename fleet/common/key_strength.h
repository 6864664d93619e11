// Decides which public keys an authority accepts for certificates: strong keys that etcd, curl and
// GnuTLS all support.
#pragma once

#include <openssl/evp.h>

#include <string>

namespace fleet {

inline constexpr int rsa_bits_min = 2'048;

// Returns why the key is refused, or an empty text if the key is accepted. Accepted keys are RSA of
// at least 2048 bits, the curves P-256, P-384 and P-521, Ed25519 and Ed448.
[[nodiscard]] std::string why_weak_key(const EVP_PKEY* key);

}  // namespace fleet

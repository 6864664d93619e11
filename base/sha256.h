// The SHA-256 of bytes that come piece by piece, computed with libsodium.
#pragma once

#include <sodium.h>

#include <string>
#include <string_view>

namespace agent_releases {

class Hash {
 public:
  Hash() { crypto_hash_sha256_init(&state_); }

  void add(std::string_view bytes) {
    crypto_hash_sha256_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()),
                              bytes.size());
  }

  // Returns the sum as 64 hexadecimal digits in lower case. The object must not be used after this
  // call.
  [[nodiscard]] std::string digits() {
    unsigned char bytes[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_final(&state_, bytes);
    char text[2 * crypto_hash_sha256_BYTES + 1];
    sodium_bin2hex(text, sizeof text, bytes, sizeof bytes);
    return text;
  }

 private:
  crypto_hash_sha256_state state_;
};

}  // namespace agent_releases

// Verifies signatures in minisign's format: accepts what `minisign -S` writes, and refuses what
// `minisign -V` refuses. Reads no files.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "agent-releases/result.h"

namespace agent_releases {

// The most bytes of a file with a signature or a key, far more than minisign itself writes.
inline constexpr std::size_t signature_bytes_max = 16'384;
inline constexpr std::size_t key_bytes_max = 4'096;

struct PublicKey {
  std::array<unsigned char, 8> number{};
  std::array<unsigned char, 32> bytes{};
};

// Parses a file of `minisign -G`: a comment, and on the second line the key in base64.
[[nodiscard]] Result<PublicKey> parse_public_key(std::string_view text);

// Verifies that one of the keys has made both signatures: the one of the message, and the one of
// the trusted comment. Returns the trusted comment.
[[nodiscard]] Result<std::string> verify_signature(std::string_view message,
                                                   std::string_view signature,
                                                   const std::vector<PublicKey>& keys);

}  // namespace agent_releases

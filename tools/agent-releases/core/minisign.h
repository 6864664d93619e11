// Signatures in minisign's format: what `minisign -S` writes is accepted, and what `minisign -V`
// refuses is refused. Bytes in, answers out: files are elsewhere.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "agent-releases/result.h"

namespace agent_releases {

// Of the files of signatures and keys; minisign's own comments end far below.
inline constexpr std::size_t signature_bytes_max = 16'384;
inline constexpr std::size_t key_bytes_max = 4'096;

struct PublicKey {
  std::array<unsigned char, 8> number{};
  std::array<unsigned char, 32> bytes{};
};

// A file of `minisign -G`: a comment, and the key in base64 on the second line.
[[nodiscard]] Result<PublicKey> parse_public_key(std::string_view text);

// Both that of the message and that of the trusted comment are made by one of the keys. Gives the
// trusted comment.
[[nodiscard]] Result<std::string> verify_signature(std::string_view message,
                                                   std::string_view signature,
                                                   const std::vector<PublicKey>& keys);

}  // namespace agent_releases

// Encodes and decodes base64, in which minisign writes keys and signatures, by libsodium.
#pragma once

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace agent_releases {

// Returns true for the characters of base64. Must be called before libsodium decodes a text, since
// libsodium also accepts some bytes above 127.
[[nodiscard]] inline bool is_base64(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '/' || c == '=';
}

// Returns the bytes of the text as `unsigned char`, the type that libsodium takes.
[[nodiscard]] inline const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// Decodes base64. Returns false unless it is valid and has exactly `Size` bytes.
template <std::size_t Size>
[[nodiscard]] bool decode_base64(std::string_view base64, std::array<unsigned char, Size>& bytes) {
  if (!std::ranges::all_of(base64, is_base64)) return false;
  std::size_t size = 0;
  const char* end = nullptr;
  const int failed = sodium_base642bin(bytes.data(), Size, base64.data(), base64.size(), nullptr,
                                       &size, &end, sodium_base64_VARIANT_ORIGINAL);
  return failed == 0 && size == Size && end == base64.data() + base64.size();
}

[[nodiscard]] inline std::string encode_base64(std::string_view bytes) {
  std::string text(sodium_base64_ENCODED_LEN(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                    bytes.size(), sodium_base64_VARIANT_ORIGINAL);
  text.pop_back();  // libsodium ends the text with a NUL, which is removed
  return text;
}

}  // namespace agent_releases

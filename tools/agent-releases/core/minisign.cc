#include "tools/agent-releases/core/minisign.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace agent_releases {
namespace {

// Returns true for the characters of base64. All characters of a text must be checked before
// libsodium decodes it, since libsodium also accepts some bytes above 127.
bool is_base64(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '/' || c == '=';
}

constexpr std::string_view untrusted_prefix = "untrusted comment: ";
constexpr std::string_view trusted_prefix = "trusted comment: ";
constexpr std::size_t untrusted_bytes_max = 1'024;
constexpr std::size_t trusted_bytes_max = 8'192;
constexpr std::size_t algorithm_bytes = 2;
constexpr std::size_t prehash_bytes = 64;

struct Signature {
  bool prehashed = false;
  std::array<unsigned char, 8> key_number{};
  std::array<unsigned char, crypto_sign_BYTES> of_message{};
  std::array<unsigned char, crypto_sign_BYTES> of_comment{};
  std::string trusted_comment;
};

// Removes the next line from the text. Returns the line without its newline, or nothing if no line
// is left.
std::optional<std::string_view> take_line(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  while (line.ends_with('\r'))
    line.remove_suffix(1);
  return line;
}

Refusal no_signature(std::string_view what) {
  return Refusal{"it is no signature of minisign: " + std::string(what)};
}

Result<Signature> parse_signature(std::string_view text) {
  if (text.size() > signature_bytes_max) return no_signature("it is too long");
  if (text.find('\0') != std::string_view::npos) return no_signature("it has a zero byte");
  const auto comment = take_line(text);
  const auto of_message = take_line(text);
  const auto trusted = take_line(text);
  const auto of_comment = take_line(text);
  if (!of_comment) return no_signature("it has fewer than four lines");
  if (!comment->starts_with(untrusted_prefix) || comment->size() >= untrusted_bytes_max) {
    return no_signature("its first line is no untrusted comment");
  }
  if (!trusted->starts_with(trusted_prefix) || trusted->size() >= trusted_bytes_max) {
    return no_signature("its third line is no trusted comment");
  }
  std::array<unsigned char, algorithm_bytes + 8 + crypto_sign_BYTES> bytes{};
  Signature signature;
  if (!decode_base64(*of_message, bytes))
    return no_signature("its second line is no base64 of 74 bytes");
  if (!decode_base64(*of_comment, signature.of_comment)) {
    return no_signature("its fourth line is no base64 of 64 bytes");
  }
  signature.prehashed = std::memcmp(bytes.data(), "ED", algorithm_bytes) == 0;
  if (!signature.prehashed && std::memcmp(bytes.data(), "Ed", algorithm_bytes) != 0) {
    return no_signature("its algorithm is neither Ed nor ED");
  }
  std::memcpy(signature.key_number.data(), bytes.data() + algorithm_bytes, 8);
  std::memcpy(signature.of_message.data(), bytes.data() + algorithm_bytes + 8, crypto_sign_BYTES);
  signature.trusted_comment = trusted->substr(trusted_prefix.size());
  return signature;
}

bool signs_message(const Signature& signature, std::string_view message, const PublicKey& key) {
  std::array<unsigned char, prehash_bytes> hash{};
  const unsigned char* signed_bytes = bytes_of(message);
  unsigned long long size = message.size();
  if (signature.prehashed) {
    crypto_generichash(hash.data(), hash.size(), signed_bytes, size, nullptr, 0);
    signed_bytes = hash.data();
    size = hash.size();
  }
  return crypto_sign_verify_detached(signature.of_message.data(), signed_bytes, size,
                                     key.bytes.data()) == 0;
}

bool signs_comment(const Signature& signature, const PublicKey& key) {
  const std::string signed_bytes(
      std::string(signature.of_message.begin(), signature.of_message.end()) +
      signature.trusted_comment);
  return crypto_sign_verify_detached(signature.of_comment.data(), bytes_of(signed_bytes),
                                     signed_bytes.size(), key.bytes.data()) == 0;
}

}  // namespace

Result<PublicKey> parse_public_key(std::string_view text) {
  if (text.size() > key_bytes_max) return Refusal{"it is too long for a public key of minisign"};
  const auto comment = take_line(text);
  const auto base64 = take_line(text);
  std::array<unsigned char, algorithm_bytes + 8 + crypto_sign_PUBLICKEYBYTES> bytes{};
  if (!comment || !base64 || !comment->starts_with(untrusted_prefix) ||
      !decode_base64(*base64, bytes) || std::memcmp(bytes.data(), "Ed", algorithm_bytes) != 0) {
    return Refusal{"it is no public key of minisign"};
  }
  PublicKey key;
  std::memcpy(key.number.data(), bytes.data() + algorithm_bytes, key.number.size());
  std::memcpy(key.bytes.data(), bytes.data() + algorithm_bytes + 8, key.bytes.size());
  return key;
}

Result<std::string> verify_signature(std::string_view message, std::string_view text,
                                     const std::vector<PublicKey>& keys) {
  if (sodium_init() < 0) return Refusal{"libsodium cannot be used", Trouble::system};
  const Result<Signature> parsed = parse_signature(text);
  if (!parsed) return parsed.refusal();
  const Signature& signature = parsed.value();
  // A signature contains a number that identifies the signer's key. But anybody can make a key with
  // the number of an existing key, so try all keys with this number.
  bool known = false;
  for (const PublicKey& key : keys) {
    if (key.number != signature.key_number) continue;
    known = true;
    if (!signs_message(signature, message, key)) continue;
    if (signs_comment(signature, key)) return signature.trusted_comment;
    return Refusal{"the signature of its trusted comment is wrong"};
  }
  return known ? Refusal{"the signature is wrong: it was made for other bytes"}
               : Refusal{"it was signed with a key that is not among the trusted ones"};
}

bool decode_base64(std::string_view base64, std::span<unsigned char> bytes) {
  if (!std::ranges::all_of(base64, is_base64)) return false;
  std::size_t size = 0;
  const char* end = nullptr;
  const int failed = sodium_base642bin(bytes.data(), bytes.size(), base64.data(), base64.size(),
                                       nullptr, &size, &end, sodium_base64_VARIANT_ORIGINAL);
  return failed == 0 && size == bytes.size() && end == base64.data() + base64.size();
}

std::string encode_base64(std::string_view bytes) {
  std::string text(sodium_base64_ENCODED_LEN(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(text.data(), text.size(), bytes_of(bytes), bytes.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  text.pop_back();  // libsodium ends the text with a NUL, which is removed
  return text;
}

}  // namespace agent_releases

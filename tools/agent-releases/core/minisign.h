// Keys and signatures in minisign's format. Verifies signatures: accepts what `minisign -S` writes,
// and refuses what `minisign -V` refuses. Makes keys and signatures that `minisign -V` accepts, and
// reads the secret keys of `minisign -G`, with and without a password. Reads no files and asks
// nobody: the caller passes the texts, the passwords and the random bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/moment.h"

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

inline constexpr std::size_t seed_bytes = 32;
inline constexpr std::size_t salt_bytes = 32;
inline constexpr std::size_t secret_bytes = 64;
inline constexpr std::size_t password_bytes_max = 1'024;

struct SecretKey {
  std::array<unsigned char, 8> number{};
  std::array<unsigned char, secret_bytes> bytes{};
};

// The content of a secret key's file. If the file has a password, the key in it is encrypted.
struct SecretKeyFile {
  bool has_password = false;
  std::array<unsigned char, salt_bytes> salt{};
  std::uint64_t operations = 0;                                // scrypt's limit of operations
  std::uint64_t memory = 0;                                    // scrypt's limit of memory, in bytes
  std::array<unsigned char, 8 + secret_bytes + 32> content{};  // number, key and checksum
};

// Parses the file of a secret key, which `minisign -G` or secret_key_text() has made.
[[nodiscard]] Result<SecretKeyFile> parse_secret_key(std::string_view text);

// Decrypts the key. Refuses a wrong password or a damaged file. A key with a password needs as much
// memory and processor time as its file says: up to a GiB, and some seconds.
[[nodiscard]] Result<SecretKey> open_secret_key(const SecretKeyFile& file,
                                                std::string_view password);

// The random bytes for a new key.
struct Randomness {
  std::array<unsigned char, 8> number{};
  std::array<unsigned char, seed_bytes> seed{};
  std::array<unsigned char, salt_bytes> salt{};
};

[[nodiscard]] SecretKey make_key(const Randomness& randomness);

// Returns the text of a key's file. If the password is empty, the key is not encrypted. Encryption
// needs a GiB of memory. With less memory the encryption is weaker, as it is in minisign.
[[nodiscard]] Result<std::string> secret_key_text(const SecretKey& key, std::string_view password,
                                                  const Randomness& randomness);

[[nodiscard]] PublicKey public_key_of(const SecretKey& key);
[[nodiscard]] std::string public_key_text(const PublicKey& key);

// Returns the number of a key in the form in which minisign prints it: "1A2B3C4D5E6F7081".
[[nodiscard]] std::string shown_key_number(const std::array<unsigned char, 8>& number);

// Returns the text of a signature's file. The trusted comment has the time and the name of the
// file.
[[nodiscard]] std::string sign(const SecretKey& key, std::string_view message,
                               std::string_view file_name, Moment now);

// Decodes base64, in which minisign writes keys and signatures. Returns false unless it is valid
// and has exactly as many bytes as `bytes`.
[[nodiscard]] bool decode_base64(std::string_view base64, std::span<unsigned char> bytes);
[[nodiscard]] std::string encode_base64(std::string_view bytes);

// Returns the bytes of the text as `unsigned char`, the type that libsodium takes.
[[nodiscard]] inline const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace agent_releases

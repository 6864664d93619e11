// Functions for keys and signatures in minisign's format. verify_signature() accepts the signatures
// that `minisign -S` writes, and refuses signatures that `minisign -V` refuses. The other functions
// make keys and signatures that `minisign -V` accepts, and read the secret keys that `minisign -G`
// writes, with and without a password. This file does no input or output: the caller passes the
// content of files, the passwords and the random bytes.
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

// The most bytes of a signature file and of a key file, far more than minisign itself writes.
inline constexpr std::size_t signature_bytes_max = 16'384;
inline constexpr std::size_t key_bytes_max = 4'096;

struct PublicKey {
  std::array<unsigned char, 8> number{};
  std::array<unsigned char, 32> bytes{};
};

// Parses a public key file that `minisign -G` has written: a comment, and on the second line the
// key in base64.
[[nodiscard]] Result<PublicKey> parse_public_key(std::string_view text);

// Verifies that one of the keys has made both signatures in `signature`: the signature of the
// message, and the signature of the trusted comment. Returns the trusted comment.
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

// The content of a secret key file. If the file has a password, its key is encrypted.
struct SecretKeyFile {
  bool has_password = false;
  std::array<unsigned char, salt_bytes> salt{};
  std::uint64_t operations = 0;  // scrypt's limit of operations
  std::uint64_t memory = 0;      // scrypt's limit of memory, in bytes
  // the key's number, the key and its checksum
  std::array<unsigned char, 8 + secret_bytes + 32> content{};
};

// Parses a secret key file that `minisign -G` or secret_key_text() has made.
[[nodiscard]] Result<SecretKeyFile> parse_secret_key(std::string_view text);

// Decrypts the key. Refuses a wrong password or a damaged file. If the key has a password, the file
// states how much memory and processor time the decryption takes: up to a GiB, and some seconds.
[[nodiscard]] Result<SecretKey> open_secret_key(const SecretKeyFile& file,
                                                std::string_view password);

// The random bytes for a new key.
struct Randomness {
  std::array<unsigned char, 8> number{};
  std::array<unsigned char, seed_bytes> seed{};
  std::array<unsigned char, salt_bytes> salt{};
};

[[nodiscard]] SecretKey make_key(const Randomness& randomness);

// Returns the content of a secret key file. Encrypts the key, unless the password is empty. The
// encryption uses a GiB of memory or, if that is not available, less memory for a weaker
// encryption, as minisign does. Refuses if even the smaller amount is not available.
[[nodiscard]] Result<std::string> secret_key_text(const SecretKey& key, std::string_view password,
                                                  const Randomness& randomness);

[[nodiscard]] PublicKey public_key_of(const SecretKey& key);
[[nodiscard]] std::string public_key_text(const PublicKey& key);

// Returns the number by which a key is identified, in the form that minisign prints:
// "1A2B3C4D5E6F7081".
[[nodiscard]] std::string shown_key_number(const std::array<unsigned char, 8>& number);

// Returns the content of a signature file. The trusted comment in the file states the time `now`
// and the name of the signed file.
[[nodiscard]] std::string sign(const SecretKey& key, std::string_view message,
                               std::string_view file_name, Moment now);

// Decodes `base64`, the encoding of keys and signatures in minisign's files, into `bytes`. Returns
// false unless `base64` is valid and yields exactly as many bytes as `bytes` has.
[[nodiscard]] bool decode_base64(std::string_view base64, std::span<unsigned char> bytes);
[[nodiscard]] std::string encode_base64(std::string_view bytes);

// Returns the bytes of the text as `unsigned char`, the type that libsodium takes.
[[nodiscard]] inline const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace agent_releases

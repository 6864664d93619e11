// Makes keys and signatures in minisign's format, and reads secret keys.
#include "tools/agent-releases/core/minisign.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "tools/agent-releases/core/cut_off.h"

namespace agent_releases {
namespace {

constexpr std::string_view comment_prefix = "untrusted comment: ";
constexpr std::string_view signature_algorithm = "Ed";
constexpr std::string_view scrypt_algorithm = "Sc";
constexpr std::string_view no_algorithm{"\0\0", 2};
constexpr std::string_view checksum_algorithm = "B2";
constexpr std::size_t mark_bytes = 2;
constexpr std::size_t count_bytes = 8;
constexpr std::size_t checksum_bytes = 32;
constexpr std::size_t content_bytes = 8 + secret_bytes + checksum_bytes;
constexpr std::size_t file_bytes = 3 * mark_bytes + salt_bytes + 2 * count_bytes + content_bytes;

// The most work and memory that a key file may demand for its decryption. minisign itself uses
// these values (crypto_pwhash_scryptsalsa208sha256_*_SENSITIVE). A key file that demands more was
// not made by minisign, and could exhaust the machine.
constexpr std::uint64_t operations_max = 33'554'432;
constexpr std::uint64_t memory_max = 1'073'741'824;
constexpr std::uint64_t memory_least = 16'777'216;

using Content = std::array<unsigned char, content_bytes>;

void append(std::string& text, const unsigned char* bytes, std::size_t size) {
  text.append(reinterpret_cast<const char*>(bytes), size);
}

void append_count(std::string& text, std::uint64_t count) {
  for (unsigned i = 0; i < count_bytes; ++i)
    text += static_cast<char>(count >> (8U * i) & 0xffU);
}

std::uint64_t count_at(const unsigned char* bytes) {
  std::uint64_t count = 0;
  for (std::size_t i = count_bytes; i-- > 0;)
    count = count << 8U | bytes[i];
  return count;
}

bool is(const unsigned char* bytes, std::string_view algorithm) {
  return std::memcmp(bytes, algorithm.data(), mark_bytes) == 0;
}

// Encrypts or decrypts the content: XORs it with a stream of bytes that is derived from the
// password. Returns false if there is not enough memory.
bool apply_password(Content& content, std::string_view password, const SecretKeyFile& file) {
  Content stream{};
  if (crypto_pwhash_scryptsalsa208sha256(stream.data(), stream.size(), password.data(),
                                         password.size(), file.salt.data(), file.operations,
                                         static_cast<std::size_t>(file.memory)) != 0) {
    return false;
  }
  for (std::size_t i = 0; i < content.size(); ++i)
    content[i] ^= stream[i];
  sodium_memzero(stream.data(), stream.size());
  return true;
}

std::array<unsigned char, checksum_bytes> checksum_of(const SecretKey& key) {
  std::string summed(signature_algorithm);
  append(summed, key.number.data(), key.number.size());
  append(summed, key.bytes.data(), key.bytes.size());
  std::array<unsigned char, checksum_bytes> checksum{};
  crypto_generichash(checksum.data(), checksum.size(), bytes_of(summed), summed.size(), nullptr, 0);
  sodium_memzero(summed.data(), summed.size());
  return checksum;
}

std::string_view next_line(std::string_view& text) {
  std::string_view line = cut_off(text, '\n');
  while (line.ends_with('\r'))
    line.remove_suffix(1);
  return line;
}

}  // namespace

Result<SecretKeyFile> parse_secret_key(std::string_view text) {
  const Refusal no_key{"it is no secret key of minisign"};
  if (text.size() > key_bytes_max) return no_key;
  const std::string_view comment = next_line(text);
  std::array<unsigned char, file_bytes> bytes{};
  if (!comment.starts_with(comment_prefix) || !decode_base64(next_line(text), bytes)) return no_key;
  const unsigned char* at = bytes.data();
  if (!is(at, signature_algorithm) || !is(at + 2 * mark_bytes, checksum_algorithm)) {
    return no_key;
  }
  SecretKeyFile file;
  file.has_password = is(at + mark_bytes, scrypt_algorithm);
  if (!file.has_password && !is(at + mark_bytes, no_algorithm)) {
    return Refusal{"it is encrypted in a way that is not known here"};
  }
  at += 3 * mark_bytes;
  std::copy_n(at, salt_bytes, file.salt.begin());
  file.operations = count_at(at + salt_bytes);
  file.memory = count_at(at + salt_bytes + count_bytes);
  std::copy_n(at + salt_bytes + 2 * count_bytes, content_bytes, file.content.begin());
  sodium_memzero(bytes.data(), bytes.size());
  if (file.has_password && (file.operations > operations_max || file.memory > memory_max)) {
    return Refusal{
        "its password would need more than 1 GiB of memory, or more time, than any that "
        "minisign makes"};
  }
  return file;
}

Result<SecretKey> open_secret_key(const SecretKeyFile& file, std::string_view password) {
  Content content = file.content;
  if (file.has_password && !apply_password(content, password, file)) {
    return Refusal{"there is not enough memory for its password: it takes " +
                       std::to_string(file.memory >> 20U) + " MiB",
                   Trouble::system};
  }
  SecretKey key;
  std::copy_n(content.begin(), key.number.size(), key.number.begin());
  std::copy_n(content.begin() + 8, secret_bytes, key.bytes.begin());
  // minisign sets the checksum only in encrypted keys. An unencrypted key has no checksum to
  // compare, so check that its public half fits its secret half.
  const auto checksum = checksum_of(key);
  const bool same = std::equal(checksum.begin(), checksum.end(),
                               content.end() - static_cast<std::ptrdiff_t>(checksum_bytes));
  sodium_memzero(content.data(), content.size());
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> half{};
  std::array<unsigned char, crypto_sign_SECRETKEYBYTES> whole{};
  crypto_sign_seed_keypair(half.data(), whole.data(), key.bytes.data());
  const bool agrees = whole == key.bytes;
  sodium_memzero(whole.data(), whole.size());
  if (agrees && (same || !file.has_password)) return key;
  return Refusal{file.has_password ? "the password is wrong" : "it is damaged"};
}

SecretKey make_key(const Randomness& randomness) {
  SecretKey key{.number = randomness.number};
  std::array<unsigned char, crypto_sign_PUBLICKEYBYTES> half{};
  crypto_sign_seed_keypair(half.data(), key.bytes.data(), randomness.seed.data());
  return key;
}

Result<std::string> secret_key_text(const SecretKey& key, std::string_view password,
                                    const Randomness& randomness) {
  SecretKeyFile file{.has_password = !password.empty(),
                     .salt = randomness.salt,
                     .operations = operations_max,
                     .memory = memory_max};
  const auto checksum = checksum_of(key);
  std::copy(key.number.begin(), key.number.end(), file.content.begin());
  std::copy(key.bytes.begin(), key.bytes.end(), file.content.begin() + 8);
  std::copy(checksum.begin(), checksum.end(), file.content.begin() + 8 + secret_bytes);
  while (file.has_password && !apply_password(file.content, password, file)) {
    file.operations /= 2;
    file.memory /= 2;
    if (file.memory < memory_least) {
      return Refusal{"there is not enough memory to encrypt the key", Trouble::system};
    }
  }
  std::string bytes(signature_algorithm);
  bytes += file.has_password ? scrypt_algorithm : no_algorithm;
  bytes += checksum_algorithm;
  const std::size_t zeros = file.has_password ? 0 : salt_bytes + 2 * count_bytes;
  bytes.append(zeros, '\0');
  if (file.has_password) {
    append(bytes, file.salt.data(), file.salt.size());
    append_count(bytes, file.operations);
    append_count(bytes, file.memory);
  }
  append(bytes, file.content.data(), file.content.size());
  const std::string_view how = file.has_password ? "encrypted secret key" : "secret key";
  return std::string(comment_prefix) + "minisign " + std::string(how) + "\n" +
         encode_base64(bytes) + "\n";
}

PublicKey public_key_of(const SecretKey& key) {
  PublicKey half{.number = key.number};
  std::copy_n(key.bytes.begin() + seed_bytes, half.bytes.size(), half.bytes.begin());
  return half;
}

std::string public_key_text(const PublicKey& key) {
  std::string bytes(signature_algorithm);
  append(bytes, key.number.data(), key.number.size());
  append(bytes, key.bytes.data(), key.bytes.size());
  return std::string(comment_prefix) + "minisign public key " + shown_key_number(key.number) +
         "\n" + encode_base64(bytes) + "\n";
}

std::string shown_key_number(const std::array<unsigned char, 8>& number) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string shown;
  for (std::size_t i = number.size(); i-- > 0;) {
    shown += digits[number[i] >> 4U];
    shown += digits[number[i] & 0xfU];
  }
  return shown;
}

std::string sign(const SecretKey& key, std::string_view message, std::string_view file_name,
                 Moment now) {
  std::array<unsigned char, crypto_generichash_BYTES_MAX> hash{};
  crypto_generichash(hash.data(), hash.size(), bytes_of(message), message.size(), nullptr, 0);
  std::array<unsigned char, crypto_sign_BYTES> of_message{};
  crypto_sign_detached(of_message.data(), nullptr, hash.data(), hash.size(), key.bytes.data());
  const std::string comment =
      "timestamp:" + std::to_string(now) + "\tfile:" + std::string(file_name) + "\thashed";
  std::string commented;
  append(commented, of_message.data(), of_message.size());
  commented += comment;
  std::array<unsigned char, crypto_sign_BYTES> of_comment{};
  crypto_sign_detached(of_comment.data(), nullptr, bytes_of(commented), commented.size(),
                       key.bytes.data());
  std::string bytes = "ED";
  append(bytes, key.number.data(), key.number.size());
  append(bytes, of_message.data(), of_message.size());
  return std::string(comment_prefix) + "signature from minisign secret key\n" +
         encode_base64(bytes) + "\ntrusted comment: " + comment + "\n" +
         encode_base64({reinterpret_cast<const char*>(of_comment.data()), of_comment.size()}) +
         "\n";
}

}  // namespace agent_releases

#include "fleet/common/public_key.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/sha256.h"
#include "fleet/common/openssl_owners.h"
#include "fleet/model/signer/joining.h"

namespace fleet {
namespace {

constexpr std::string_view strong_keys =
    "needed is RSA of 2048 bits or more, P-256, P-384, P-521, Ed25519 or Ed448";
constexpr auto strong_curves =
    std::to_array<std::string_view>({"prime256v1", "secp384r1", "secp521r1"});

// Returns the name of the key's curve, or an empty string if the key has explicit parameters
// instead, which may describe a weak curve.
std::string curve_of(const EVP_PKEY* key) {
  std::array<char, 64> name{};
  std::size_t size = 0;
  int is_explicit = 0;
  EVP_PKEY_get_int_param(key, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &is_explicit);
  const bool named =
      is_explicit == 0 && EVP_PKEY_get_group_name(key, name.data(), name.size(), &size) == 1;
  ERR_clear_error();
  return named ? std::string(name.data(), size) : "";
}

std::string weak(const std::string& what) {
  return "its key is " + what + "; " + std::string(strong_keys);
}

}  // namespace

std::string why_weak_key(const EVP_PKEY* key) {
  const int kind = EVP_PKEY_get_base_id(key);
  if (kind == EVP_PKEY_ED25519 || kind == EVP_PKEY_ED448) return "";
  if (kind == EVP_PKEY_RSA || kind == EVP_PKEY_RSA_PSS) {
    const int bits = EVP_PKEY_get_bits(key);
    return bits >= rsa_bits_min ? "" : weak("RSA of " + std::to_string(bits) + " bits");
  }
  if (kind == EVP_PKEY_EC) {
    const std::string curve = curve_of(key);
    if (std::find(strong_curves.begin(), strong_curves.end(), curve) != strong_curves.end())
      return "";
    return weak(curve.empty() ? "on a curve of its own" : "on the curve " + curve);
  }
  const char* name = EVP_PKEY_get0_type_name(key);
  return weak(std::string("of kind ") + (name == nullptr ? "unknown" : name));
}

// ---- digests of keys

namespace {

std::string digest_of_key(EVP_PKEY* key) {
  unsigned char* bytes = nullptr;
  const int size = key == nullptr ? -1 : i2d_PUBKEY(key, &bytes);
  ERR_clear_error();
  if (size <= 0) return "";
  const std::string encoded(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  return digest_of(encoded);
}

}  // namespace

std::string digest_of(std::string_view text) {
  agent_releases::Hash hash;
  hash.add(text);
  return hash.digits();
}

std::string key_digest_of_certificate(const std::string& text) {
  const Certificate certificate = certificate_in(text);
  ERR_clear_error();
  if (certificate == nullptr) return "";
  return digest_of_key(X509_get0_pubkey(certificate.get()));
}

RequestedKey key_of_request(const std::string& text) {
  const Request request(PEM_read_bio_X509_REQ(reading(text).get(), nullptr, nullptr, nullptr));
  EVP_PKEY* key = request == nullptr ? nullptr : X509_REQ_get0_pubkey(request.get());
  const bool is_own = key != nullptr && X509_REQ_verify(request.get(), key) == 1;
  ERR_clear_error();
  if (request == nullptr) return {.error = "the request is none in PEM"};
  if (!is_own) return {.error = "the request is not signed by its own key"};
  if (const std::string why = why_weak_key(key); !why.empty())
    return {.error = "the request: " + why};
  return {.fingerprint = digest_of_key(key).substr(0, fingerprint_digits)};
}

std::string fingerprint_of_key(const std::string& text) {
  const Key key = key_in(text);
  return digest_of_key(key.get()).substr(0, fingerprint_digits);
}

std::string fingerprint_of_certificate(const std::string& certificate) {
  return key_digest_of_certificate(certificate).substr(0, fingerprint_digits);
}

std::string random_hexadecimal(std::size_t bytes) {
  std::vector<unsigned char> random(bytes);
  if (RAND_bytes(random.data(), static_cast<int>(bytes)) != 1) return "";
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : random) {
    text += digits[byte >> 4U];
    text += digits[byte & 0xfU];
  }
  return text;
}

}  // namespace fleet

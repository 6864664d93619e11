#include "fleet/common/key_fingerprint.h"

#include <openssl/err.h>
#include <openssl/rand.h>

#include <vector>

#include "base/sha256.h"
#include "fleet/common/key_strength.h"
#include "fleet/common/openssl_owners.h"
#include "fleet/model/joining.h"

namespace fleet {
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

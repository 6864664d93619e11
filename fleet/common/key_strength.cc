#include "fleet/common/key_strength.h"

#include <openssl/core_names.h>
#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace fleet {
namespace {

constexpr std::string_view strong_keys =
    "needed is RSA of 2048 bits or more, P-256, P-384, P-521, Ed25519 or Ed448";
constexpr auto strong_curves =
    std::to_array<std::string_view>({"prime256v1", "secp384r1", "secp521r1"});

// Returns the name of the key's curve. Returns an empty text if the key describes its curve by
// parameters and not by a name, since somebody may have chosen the parameters of a weak curve.
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

}  // namespace fleet

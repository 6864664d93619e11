#include "fleet/fleetctl/certificate.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

namespace fleetctl {
namespace {

constexpr long day_s = 24L * 60 * 60;

template <auto Free>
struct Freed {
  template <class Thing>
  void operator()(Thing* thing) const {
    Free(thing);
  }
};
using Bio = std::unique_ptr<BIO, Freed<&BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<&X509_free>>;
using Request = std::unique_ptr<X509_REQ, Freed<&X509_REQ_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<&EVP_PKEY_free>>;

Bio reading(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Signed refused(const std::string& why) {
  ERR_clear_error();
  return {.certificate = "", .error = why};
}

bool add_serial(X509* certificate) {
  unsigned char bytes[16];
  if (RAND_bytes(bytes, sizeof bytes) != 1) return false;
  bytes[0] &= 0x7f;
  const std::unique_ptr<BIGNUM, Freed<&BN_free>> number(BN_bin2bn(bytes, sizeof bytes, nullptr));
  return number != nullptr &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool add_extension(X509* certificate, int kind, const char* value) {
  const std::unique_ptr<X509_EXTENSION, Freed<&X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, nullptr, kind, value));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool fill(X509* certificate, X509* signer, EVP_PKEY* key, const Signing& signing) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  const auto* name = reinterpret_cast<const unsigned char*>(signing.name.c_str());
  return X509_set_version(certificate, X509_VERSION_3) == 1 && add_serial(certificate) &&
         X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, name, -1, -1, 0) == 1 &&
         X509_set_issuer_name(certificate, X509_get_subject_name(signer)) == 1 &&
         X509_gmtime_adj(X509_getm_notBefore(certificate), -day_s) != nullptr &&
         X509_gmtime_adj(X509_getm_notAfter(certificate), signing.days * day_s) != nullptr &&
         X509_set_pubkey(certificate, key) == 1 &&
         add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
         add_extension(certificate, NID_key_usage, "critical,digitalSignature") &&
         add_extension(certificate, NID_ext_key_usage, "clientAuth");
}

std::string text_of(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  char* bytes = nullptr;
  if (bio == nullptr || PEM_write_bio_X509(bio.get(), certificate) != 1) return "";
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

}  // namespace

Signed sign(const Signing& signing) {
  const Request request(
      PEM_read_bio_X509_REQ(reading(signing.request).get(), nullptr, nullptr, nullptr));
  if (request == nullptr) return refused("the request is none in PEM");
  EVP_PKEY* key = X509_REQ_get0_pubkey(request.get());
  if (key == nullptr || X509_REQ_verify(request.get(), key) != 1)
    return refused("the request is not signed by its own key");
  const Certificate signer(
      PEM_read_bio_X509(reading(signing.signer).get(), nullptr, nullptr, nullptr));
  const Key signer_key(
      PEM_read_bio_PrivateKey(reading(signing.signer_key).get(), nullptr, nullptr, nullptr));
  if (signer == nullptr) return refused("the signer's certificate is none in PEM");
  if (signer_key == nullptr || X509_check_private_key(signer.get(), signer_key.get()) != 1)
    return refused("the signer's key is not that of its certificate");
  const Certificate certificate(X509_new());
  if (certificate == nullptr || !fill(certificate.get(), signer.get(), key, signing) ||
      X509_sign(certificate.get(), signer_key.get(), EVP_sha256()) == 0)
    return refused("the certificate cannot be made");
  return {.certificate = text_of(certificate.get()), .error = ""};
}

}  // namespace fleetctl

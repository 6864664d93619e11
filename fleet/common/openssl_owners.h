// Defines types that own OpenSSL's objects, and functions that convert between these objects and
// texts in PEM. Only the files of fleet/common about certificates and keys include this file.
#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace fleet {

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
using Number = std::unique_ptr<BIGNUM, Freed<&BN_free>>;
using List = std::unique_ptr<X509_CRL, Freed<&X509_CRL_free>>;
using Time = std::unique_ptr<ASN1_TIME, Freed<&ASN1_TIME_free>>;

inline Bio reading(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Parses a certificate in PEM. Returns null if the text is not a certificate.
inline Certificate certificate_in(const std::string& text) {
  return Certificate(PEM_read_bio_X509(reading(text).get(), nullptr, nullptr, nullptr));
}

// Parses a key in PEM. Returns null if the text is not a key.
inline Key key_in(const std::string& text) {
  return Key(PEM_read_bio_PrivateKey(reading(text).get(), nullptr, nullptr, nullptr));
}

// Returns what a function such as PEM_write_bio_X509 writes to a memory BIO, or an empty string if
// the function fails.
template <class Write>
std::string written(const Write& write) {
  const Bio bio(BIO_new(BIO_s_mem()));
  char* bytes = nullptr;
  if (bio == nullptr || write(bio.get()) != 1) return "";
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

}  // namespace fleet

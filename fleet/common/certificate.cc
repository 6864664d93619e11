#include "fleet/common/certificate.h"

#include <openssl/err.h>
#include <openssl/rand.h>

#include <ctime>

#include "fleet/common/openssl_owners.h"
#include "fleet/common/public_key.h"

namespace fleet {
namespace {

constexpr long day_s = 24L * 60 * 60;

Signed not_signed(const std::string& why) {
  ERR_clear_error();
  return {.error = why};
}

std::string common_name(X509_NAME* subject) {
  char name[256];
  const int size = X509_NAME_get_text_by_NID(subject, NID_commonName, name, sizeof name);
  return size < 0 ? "" : std::string(name, static_cast<std::size_t>(size));
}

// Sets the common name, with the type V_ASN1_UTF8STRING. With MBSTRING_UTF8, OpenSSL would refuse
// more than 64 bytes, which the name in a node's certificate (`node:NAME`) may have.
bool set_common_name(X509_NAME* subject, const std::string& name) {
  const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
  return X509_NAME_add_entry_by_txt(subject, "CN", V_ASN1_UTF8STRING, text, -1, -1, 0) == 1;
}

UnixSeconds seconds(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return 0;
  return timegm(&parts);
}

std::string hexadecimal(X509* certificate) {
  const Number number(ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr));
  char* text = number == nullptr ? nullptr : BN_bn2hex(number.get());
  const std::string hex = text == nullptr ? "" : text;
  OPENSSL_free(text);
  return hex;
}

// Returns the facts that a record contains about a certificate. The validity begins a day before
// the time of signing, so that time is computed from it.
IssuedCertificate issued(X509* certificate) {
  return {.serial = hexadecimal(certificate),
          .issued = seconds(X509_get0_notBefore(certificate)) + day_s,
          .expires = seconds(X509_get0_notAfter(certificate)),
          .key = fingerprint_of_certificate(
              written([&](BIO* out) { return PEM_write_bio_X509(out, certificate); }))};
}

bool add_serial(X509* certificate) {
  unsigned char bytes[16];
  if (RAND_bytes(bytes, sizeof bytes) != 1) return false;
  bytes[0] &= 0x7f;
  const Number number(BN_bin2bn(bytes, sizeof bytes, nullptr));
  return number != nullptr &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool add_extension(X509* certificate, int kind, const std::string& value) {
  const std::unique_ptr<X509_EXTENSION, Freed<&X509_EXTENSION_free>> extension(
      X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// Adds the extensions that say how the certificate may be used. A server may also be a client, as
// each member of the store is a client of the other members.
bool add_usage(X509* certificate, const Signing& signing) {
  if (signing.is_authority) {
    return add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE") &&
           add_extension(certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
  }
  std::string addresses;  // in OpenSSL's notation
  for (const std::string& address : signing.addresses)
    addresses += (addresses.empty() ? "IP:" : ",IP:") + address;
  return add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
         add_extension(certificate, NID_key_usage, "critical,digitalSignature") &&
         add_extension(certificate, NID_ext_key_usage,
                       addresses.empty() ? "clientAuth" : "serverAuth,clientAuth") &&
         (addresses.empty() || add_extension(certificate, NID_subject_alt_name, addresses));
}

bool fill(X509* certificate, X509* signer, EVP_PKEY* key, const Signing& signing) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  return X509_set_version(certificate, X509_VERSION_3) == 1 && add_serial(certificate) &&
         set_common_name(subject, signing.name) &&
         X509_set_issuer_name(
             certificate, X509_get_subject_name(signer == nullptr ? certificate : signer)) == 1 &&
         X509_gmtime_adj(X509_getm_notBefore(certificate), -day_s) != nullptr &&
         X509_gmtime_adj(X509_getm_notAfter(certificate), signing.days * day_s) != nullptr &&
         X509_set_pubkey(certificate, key) == 1 && add_usage(certificate, signing);
}

std::string why_no_signer(X509* certificate, EVP_PKEY* key) {
  if (certificate == nullptr) return "the signer's certificate is none in PEM";
  if (key == nullptr || X509_check_private_key(certificate, key) != 1)
    return "the signer's key is not that of its certificate";
  if (X509_check_ca(certificate) == 0) return "the signer's certificate is not an authority's";
  return "";
}

// Adds a serial number to the revocation list, unless the list contains it already.
bool add_revoked(X509_CRL* list, const std::string& serial, ASN1_TIME* now) {
  BIGNUM* raw = nullptr;
  if (BN_hex2bn(&raw, serial.c_str()) == 0) return false;
  const Number number(raw);
  const std::unique_ptr<ASN1_INTEGER, Freed<&ASN1_INTEGER_free>> integer(
      BN_to_ASN1_INTEGER(number.get(), nullptr));
  X509_REVOKED* there = nullptr;
  if (integer != nullptr && X509_CRL_get0_by_serial(list, &there, integer.get()) != 0) return true;
  std::unique_ptr<X509_REVOKED, Freed<&X509_REVOKED_free>> revoked(X509_REVOKED_new());
  if (integer == nullptr || revoked == nullptr ||
      X509_REVOKED_set_serialNumber(revoked.get(), integer.get()) != 1 ||
      X509_REVOKED_set_revocationDate(revoked.get(), now) != 1 ||
      X509_CRL_add0_revoked(list, revoked.get()) != 1)
    return false;
  (void)revoked.release();  // the list owns the entry now
  return true;
}

struct KeyProof {
  std::string serial = {};  // the serial number of the certificate
  std::string error = {};   // why the request or the certificate is refused; empty if both are good
};

// Checks whether the owner of the certificate `text` has made the request: both must have the same
// key, and the authority must have signed the certificate for `name`.
KeyProof proof_of_key(const std::string& request_text, const std::string& text,
                      const std::string& authority_text, const std::string& name) {
  const Request request(
      PEM_read_bio_X509_REQ(reading(request_text).get(), nullptr, nullptr, nullptr));
  const Certificate certificate = certificate_in(text);
  const Certificate authority = certificate_in(authority_text);
  EVP_PKEY* asks = request == nullptr ? nullptr : X509_REQ_get0_pubkey(request.get());
  EVP_PKEY* signs = authority == nullptr ? nullptr : X509_get0_pubkey(authority.get());
  KeyProof proof;
  if (certificate == nullptr) {
    proof.error = "the request does not hold the certificate that is to be renewed";
  } else if (signs == nullptr || X509_verify(certificate.get(), signs) != 1 ||
             common_name(X509_get_subject_name(certificate.get())) != name) {
    proof.error = "the certificate in the request was not given to " + name;
  } else if (asks == nullptr || X509_REQ_verify(request.get(), asks) != 1 ||
             EVP_PKEY_eq(asks, X509_get0_pubkey(certificate.get())) != 1) {
    proof.error = "the request is not made with the key of the certificate that is to be renewed";
  } else {
    proof.serial = hexadecimal(certificate.get());
  }
  ERR_clear_error();
  return proof;
}

}  // namespace

std::string why_cannot_sign(const Signer& signer) {
  const std::string why =
      why_no_signer(certificate_in(signer.certificate).get(), key_in(signer.key).get());
  ERR_clear_error();
  return why;
}

Signed sign(const Signing& signing) {
  const Request request(
      PEM_read_bio_X509_REQ(reading(signing.request).get(), nullptr, nullptr, nullptr));
  if (request == nullptr) return not_signed("the request is none in PEM");
  EVP_PKEY* key = X509_REQ_get0_pubkey(request.get());
  if (key == nullptr || X509_REQ_verify(request.get(), key) != 1)
    return not_signed("the request is not signed by its own key");
  if (const std::string why = why_weak_key(key); !why.empty())
    return not_signed("the request: " + why);
  if (signing.only_renews && common_name(X509_REQ_get_subject_name(request.get())) != signing.name)
    return not_signed("the request is not for " + signing.name);
  const Certificate signer = certificate_in(signing.signer.certificate);
  const Key signer_key = key_in(signing.signer.key);
  if (signing.is_authority) {
    if (EVP_PKEY_eq(key, signer_key.get()) != 1)
      return not_signed("an authority signs its certificate with its own key");
  } else if (const std::string why = why_no_signer(signer.get(), signer_key.get()); !why.empty()) {
    return not_signed(why);
  }
  const Certificate certificate(X509_new());
  if (certificate == nullptr || !fill(certificate.get(), signer.get(), key, signing) ||
      X509_sign(certificate.get(), signer_key.get(), EVP_sha256()) == 0)
    return not_signed("the certificate cannot be made");
  return {
      .certificate = written([&](BIO* out) { return PEM_write_bio_X509(out, certificate.get()); }),
      .issued = issued(certificate.get())};
}

std::string request_for(const std::string& name, const std::string& key_text) {
  const Key key = key_in(key_text);
  const Request request(X509_REQ_new());
  const bool made = key != nullptr && request != nullptr &&
                    X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) == 1 &&
                    set_common_name(X509_REQ_get_subject_name(request.get()), name) &&
                    X509_REQ_set_pubkey(request.get(), key.get()) == 1 &&
                    X509_REQ_sign(request.get(), key.get(), EVP_sha256()) != 0;
  ERR_clear_error();
  if (!made) return "";
  return written([&](BIO* out) { return PEM_write_bio_X509_REQ(out, request.get()); });
}

std::optional<std::string> name_in(const std::string& text) {
  const Certificate certificate = certificate_in(text);
  ERR_clear_error();
  if (certificate == nullptr) return std::nullopt;
  return common_name(X509_get_subject_name(certificate.get()));
}

std::optional<Validity> validity_of(const std::string& text) {
  const Certificate certificate = certificate_in(text);
  ERR_clear_error();
  if (certificate == nullptr) return std::nullopt;
  return Validity{seconds(X509_get0_notBefore(certificate.get())),
                  seconds(X509_get0_notAfter(certificate.get()))};
}

std::optional<IssuedCertificate> issued_of(const std::string& text) {
  const Certificate certificate = certificate_in(text);
  ERR_clear_error();
  if (certificate == nullptr) return std::nullopt;
  return issued(certificate.get());
}

bool is_signed_by(const std::string& text, const std::string& authority) {
  const Certificate certificate = certificate_in(text);
  const Certificate signer = certificate_in(authority);
  const bool is_so = certificate != nullptr && signer != nullptr &&
                     X509_verify(certificate.get(), X509_get0_pubkey(signer.get())) == 1;
  ERR_clear_error();
  return is_so;
}

std::string why_not_usable(const std::string& text, const std::string& name,
                           const std::string& key_text) {
  const Certificate certificate = certificate_in(text);
  const Key key = key_in(key_text);
  const bool fits = certificate != nullptr && key != nullptr &&
                    X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (certificate == nullptr) return "it is none in PEM";
  if (!fits) return "it is not for our key";
  if (common_name(X509_get_subject_name(certificate.get())) != name) return "it is not for " + name;
  return "";
}

RevocationList with_revoked(const std::string& before, const std::vector<std::string>& serials,
                            const Signer& signer, int days) {
  const Certificate certificate = certificate_in(signer.certificate);
  const Key key = key_in(signer.key);
  if (const std::string why = why_no_signer(certificate.get(), key.get()); !why.empty())
    return {.error = not_signed(why).error};
  const List list(before.empty()
                      ? X509_CRL_new()
                      : PEM_read_bio_X509_CRL(reading(before).get(), nullptr, nullptr, nullptr));
  if (list == nullptr) return {.error = not_signed("the list is none in PEM").error};
  const Time now(X509_gmtime_adj(nullptr, 0));
  const Time next(X509_gmtime_adj(nullptr, days * day_s));
  bool good = X509_CRL_set_version(list.get(), X509_CRL_VERSION_2) == 1 &&
              X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(certificate.get())) == 1 &&
              X509_CRL_set1_lastUpdate(list.get(), now.get()) == 1 &&
              X509_CRL_set1_nextUpdate(list.get(), next.get()) == 1;
  for (const std::string& serial : serials) {
    good = good && add_revoked(list.get(), serial, now.get());
  }
  good = good && X509_CRL_sort(list.get()) == 1 &&
         X509_CRL_sign(list.get(), key.get(), EVP_sha256()) != 0;
  if (!good) return {.error = not_signed("the list cannot be made").error};
  return {.list = written([&](BIO* out) { return PEM_write_bio_X509_CRL(out, list.get()); })};
}

RenewalAnswer answer_of(const PendingRenewal& pending, const Signer& signer, int days,
                        UnixSeconds now) {
  if (const std::string why = why_not_renewed(pending, now); !why.empty()) return {.error = why};
  const std::string name = certificate_name(node_kind, pending.node);
  const KeyProof proof = proof_of_key(pending.pem, pending.certificate, signer.certificate, name);
  if (!proof.error.empty()) return {.error = proof.error};
  if (const std::string why = why_not_held(pending, proof.serial); !why.empty())
    return {.error = why};
  const Signed made = sign(
      {.request = pending.pem, .signer = signer, .name = name, .only_renews = true, .days = days});
  return {.pem = made.certificate, .issued = made.issued, .error = made.error};
}

}  // namespace fleet

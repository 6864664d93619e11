#include "fleet/http/peer.h"

#include <gnutls/x509.h>

#include <array>
#include <ctime>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace fleet {
namespace {

struct FreeList {
  void operator()(gnutls_x509_trust_list_t list) const { gnutls_x509_trust_list_deinit(list, 1); }
};
struct FreeCertificate {
  void operator()(gnutls_x509_crt_t certificate) const { gnutls_x509_crt_deinit(certificate); }
};
using TrustList = std::unique_ptr<gnutls_x509_trust_list_st, FreeList>;
using Certificate = std::unique_ptr<gnutls_x509_crt_int, FreeCertificate>;

gnutls_datum_t datum(const std::string& text) {
  // The cast is harmless: GnuTLS only reads these bytes, although its parameter is not const.
  auto* bytes = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
  return {bytes, static_cast<unsigned int>(text.size())};
}

TrustList trust_list(const std::string& authority, const std::string& revocations) {
  gnutls_x509_trust_list_t raw = nullptr;
  if (gnutls_x509_trust_list_init(&raw, 0) < 0) return nullptr;
  TrustList list(raw);
  const gnutls_datum_t signers = datum(authority);
  const gnutls_datum_t revoked = datum(revocations);
  const int added = gnutls_x509_trust_list_add_trust_mem(
      raw, &signers, revocations.empty() ? nullptr : &revoked, GNUTLS_X509_FMT_PEM, 0, 0);
  if (added < (revocations.empty() ? 1 : 2)) return nullptr;
  return list;
}

std::optional<std::string> common_name(gnutls_x509_crt_t certificate) {
  std::vector<char> name(256);
  std::size_t size = name.size();
  if (gnutls_x509_crt_get_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name.data(),
                                    &size) < 0) {
    return std::nullopt;
  }
  return std::string(name.data(), size);
}

// Returns the certificate's serial number in the notation of records: hexadecimal, in upper case,
// without leading zeros.
std::string serial_number(gnutls_x509_crt_t certificate) {
  std::array<unsigned char, 64> bytes{};
  std::size_t size = bytes.size();
  if (gnutls_x509_crt_get_serial(certificate, bytes.data(), &size) < 0) return "";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    if (text.empty() && bytes[i] == 0) continue;
    constexpr std::string_view digits = "0123456789ABCDEF";
    text += digits[bytes[i] >> 4U];
    text += digits[bytes[i] & 0xfU];
  }
  return text;
}

// Returns why a certificate is refused about which GnuTLS says `wrong`. Returns an empty string if
// the authority has not signed it.
std::string why_refused(gnutls_x509_crt_t certificate, unsigned int wrong) {
  constexpr unsigned int of_time = GNUTLS_CERT_EXPIRED | GNUTLS_CERT_NOT_ACTIVATED;
  constexpr unsigned int of_list =
      GNUTLS_CERT_REVOCATION_DATA_SUPERSEDED | GNUTLS_CERT_REVOCATION_DATA_ISSUED_IN_FUTURE;
  if ((wrong & ~(GNUTLS_CERT_INVALID | GNUTLS_CERT_REVOKED | of_time | of_list)) != 0) return "";
  if ((wrong & GNUTLS_CERT_REVOKED) != 0) return "the certificate is revoked";
  const std::time_t now = std::time(nullptr);
  if (gnutls_x509_crt_get_expiration_time(certificate) < now) return "the certificate has expired";
  if (gnutls_x509_crt_get_activation_time(certificate) > now) {
    return "the certificate is not valid yet";
  }
  if ((wrong & of_time) != 0) return "the certificate of the cell's authority is not valid now";
  return (wrong & of_list) != 0 ? "the list of revoked certificates is not valid now" : "";
}

}  // namespace

upgrader::Result<Visitor> visitor_of(gnutls_session_t session, const std::string& authority,
                                     const std::string& revocations) {
  unsigned int count = 0;
  const gnutls_datum_t* chain = gnutls_certificate_get_peers(session, &count);
  gnutls_x509_crt_t raw = nullptr;
  const upgrader::Refusal unknown{""};
  if (chain == nullptr || count == 0 || gnutls_x509_crt_init(&raw) < 0) return unknown;
  const Certificate certificate(raw);
  if (gnutls_x509_crt_import(raw, &chain[0], GNUTLS_X509_FMT_DER) < 0) return unknown;
  const TrustList list = trust_list(authority, revocations);
  unsigned int wrong = GNUTLS_CERT_INVALID;
  if (list == nullptr ||
      gnutls_x509_trust_list_verify_crt(list.get(), &raw, 1, 0, &wrong, nullptr) < 0) {
    return unknown;
  }
  if (wrong != 0) return upgrader::Refusal{why_refused(raw, wrong)};
  const auto name = common_name(raw);
  if (!name) return unknown;
  return Visitor{*name, serial_number(raw), gnutls_x509_crt_get_expiration_time(raw)};
}

std::string why_no_certificate(const std::string& pem) {
  gnutls_x509_crt_t* list = nullptr;
  unsigned int count = 0;
  const gnutls_datum_t text = datum(pem);
  if (gnutls_x509_crt_list_import2(&list, &count, &text, GNUTLS_X509_FMT_PEM, 0) < 0) {
    return "not a certificate in PEM";
  }
  for (unsigned int i = 0; i < count; ++i)
    gnutls_x509_crt_deinit(list[i]);
  gnutls_free(list);
  return "";
}

std::string why_not_key_of(const std::string& certificate, const std::string& key) {
  gnutls_certificate_credentials_t both = nullptr;
  if (gnutls_certificate_allocate_credentials(&both) < 0) return "no memory is left";
  const gnutls_datum_t first = datum(certificate);
  const gnutls_datum_t second = datum(key);
  const int done = gnutls_certificate_set_x509_key_mem(both, &first, &second, GNUTLS_X509_FMT_PEM);
  gnutls_certificate_free_credentials(both);
  if (done >= 0) return "";
  return done == GNUTLS_E_CERTIFICATE_KEY_MISMATCH ? "not the key of the certificate"
                                                   : "not a private key in PEM";
}

bool is_revocation_list(const std::string& pem) {
  gnutls_x509_crl_t raw = nullptr;
  if (gnutls_x509_crl_init(&raw) < 0) return false;
  const gnutls_datum_t text = datum(pem);
  const bool is_list = gnutls_x509_crl_import(raw, &text, GNUTLS_X509_FMT_PEM) >= 0;
  gnutls_x509_crl_deinit(raw);
  return is_list;
}

}  // namespace fleet

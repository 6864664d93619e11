#include "fleet/common/authority.h"

#include <arpa/inet.h>
#include <openssl/err.h>

#include <array>

#include "fleet/common/identity.h"
#include "fleet/common/openssl_owners.h"
#include "fleet/common/text_file.h"

namespace fleet {
namespace {

// Returns why the certificate does not have the needed role (authority, client or server), such as
// `is not a client's`, or an empty string.
std::string missing_role(X509* certificate, const CertificateNeed& need) {
  const bool is_authority = X509_check_ca(certificate) == 1;
  if (need.is_authority) return is_authority ? "" : "is not an authority's";
  if (is_authority) return "is an authority's";
  if (X509_check_purpose(certificate, X509_PURPOSE_SSL_CLIENT, 0) != 1) return "is not a client's";
  const bool serves = X509_check_purpose(certificate, X509_PURPOSE_SSL_SERVER, 0) == 1;
  return need.addresses.empty() || serves ? "" : "is not a server's";
}

}  // namespace

std::string new_private_key() {
  const Key key(EVP_EC_gen("P-256"));
  ERR_clear_error();
  if (key == nullptr) return "";
  return written([&](BIO* out) {
    return PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

Signed sign_for_key(Signing signing, const std::string& key) {
  signing.request = request_for(signing.name, key);
  if (signing.is_authority) signing.signer.key = key;
  return sign(signing);
}

std::string why_mismatched(const std::string& text, const std::string& key,
                           const CertificateNeed& need) {
  const Certificate certificate = certificate_in(text);
  ERR_clear_error();
  if (certificate == nullptr) return "is not a certificate in PEM";
  const std::string name = name_in(text).value_or("");
  if (name != need.name) return "is made out to `" + name + "`, not to `" + need.name + "`";
  if (!key.empty() && !why_not_usable(text, need.name, key).empty())
    return "is not for the key beside it";
  if (std::string role = missing_role(certificate.get(), need); !role.empty()) return role;
  if (!is_signed_by(text, need.is_authority ? text : need.authority))
    return "is signed by another authority";
  for (const std::string& address : need.addresses) {
    if (X509_check_ip_asc(certificate.get(), address.c_str(), 0) != 1)
      return "does not have the address " + address;
  }
  return "";
}

std::string why_wrong_time(const std::string& certificate, UnixSeconds now) {
  const auto validity = validity_of(certificate);
  if (!validity) return "is not a certificate in PEM";
  const std::string clock = "; this machine's clock shows " + time_text_of(now);
  if (now < validity->from) return "begins at " + time_text_of(validity->from) + clock;
  if (now >= validity->until) return "ended at " + time_text_of(validity->until) + clock;
  return "";
}

std::string why_unfit(const std::string& certificate, const std::string& key,
                      const CertificateNeed& need, UnixSeconds now) {
  const std::string why = why_mismatched(certificate, key, need);
  return why.empty() ? why_wrong_time(certificate, now) : why;
}

std::string why_other_authority(const Certificates& files, const std::string& signer) {
  const std::string trusted = content_of_file(files.authority);
  const std::string certificate = content_of_file(signer);
  if (trusted.empty() || is_signed_by(content_of_file(files.own), certificate)) return "";
  constexpr std::string_view begin = "-----BEGIN CERTIFICATE-----";
  for (std::size_t at = trusted.find(begin); at != trusted.npos; at = trusted.find(begin, at + 1))
    if (is_signed_by(certificate, trusted.substr(at))) return "";
  return signer + " is another authority than that of --ca, " + files.authority +
         ", so the store would refuse what it signs";
}

bool is_ip_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(AF_INET, text.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), address.data()) == 1;
}

}  // namespace fleet

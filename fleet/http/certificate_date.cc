#include "fleet/http/certificate_date.h"

#include <gnutls/x509.h>

#include <fstream>
#include <iterator>
#include <memory>

namespace fleet {

std::string content_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

CertificateHealth certificate_health(const std::string& what, const std::string& path) {
  CertificateHealth health{.what = what};
  std::string pem = content_of_file(path);
  gnutls_datum_t bytes{reinterpret_cast<unsigned char*>(pem.data()),
                       static_cast<unsigned int>(pem.size())};
  gnutls_x509_crt_t raw = nullptr;
  if (gnutls_x509_crt_init(&raw) < 0) return health;
  const std::unique_ptr<gnutls_x509_crt_int, void (*)(gnutls_x509_crt_t)> certificate(
      raw, gnutls_x509_crt_deinit);
  if (gnutls_x509_crt_import(raw, &bytes, GNUTLS_X509_FMT_PEM) < 0) {
    health.trouble = path + " holds no certificate";
  } else {
    health.expires = gnutls_x509_crt_get_expiration_time(raw);
  }
  return health;
}

}  // namespace fleet

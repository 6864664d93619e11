#include "fleet/http/certificate_date.h"

#include "fleet/agent/certificate.h"
#include "fleet/agent/text_file.h"

namespace fleet {

CertificateHealth certificate_health(const std::string& what, const std::string& path) {
  const auto validity = validity_of(content_of_file(path));
  if (!validity) return {.what = what, .trouble = path + " holds no certificate"};
  return {.what = what, .expires = validity->until};
}

}  // namespace fleet

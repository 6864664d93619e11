#include "fleet/http/certificate_date.h"

#include "fleet/common/certificate.h"
#include "fleet/common/text_file.h"

namespace fleet {

CertificateHealth certificate_health(const std::string& what, const std::string& path) {
  const auto validity = validity_of(content_of_file(path));
  if (!validity) return {.what = what, .trouble = path + " holds no certificate"};
  return {.what = what, .expires = validity->until};
}

}  // namespace fleet

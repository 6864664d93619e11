#include "fleet/http/certificate_date.h"

#include "fleet/common/certificate.h"
#include "fleet/common/text_file.h"

namespace fleet {

CertificateHealth certificate_health(const std::string& what, const std::string& path) {
  const std::string text = content_of_file(path);
  const auto validity = validity_of(text);
  if (!validity) return {.what = what, .trouble = path + " holds no certificate"};
  return {.what = what, .name = name_in(text).value_or(""), .expires = validity->until};
}

}  // namespace fleet

#include "fleet/fleetctl/own_certificate.h"

#include "fleet/common/certificate.h"
#include "fleet/common/identity.h"
#include "fleet/common/text_file.h"

namespace fleetctl {

using fleet::time_text_of;

std::string why_not_let_in(const fleet::Certificates& files, fleet::UnixSeconds now) {
  if (files.own.empty()) return "";
  const std::string own = fleet::content_of_file(files.own);
  const std::string whose = "your certificate " + files.own;
  const auto validity = fleet::validity_of(own);
  if (!validity) return whose + " cannot be read, or is none in PEM";
  const std::string clock = "; this machine's clock shows " + time_text_of(now);
  if (now < validity->from) return whose + " begins at " + time_text_of(validity->from) + clock;
  if (now >= validity->until) return whose + " ended at " + time_text_of(validity->until) + clock;
  const std::string authority = fleet::content_of_file(files.authority);
  if (authority.empty() || fleet::is_signed_by(own, authority)) return "";
  return whose + " is not signed by the authority of " + files.authority;
}

}  // namespace fleetctl
